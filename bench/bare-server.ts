// The least a Node server can do: for every request the same prepared bytes. What Offerdeck adds to this is its cost.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Sample } from './servers.ts'

const { status, headers, body } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Sample
const port = Number(process.env['PORT'])

// The same timeout as Offerdeck's, because Node sends it in a header.
const server = createServer({ keepAliveTimeout: 72_000 }, (_request, response) => {
  response.writeHead(status, headers)
  response.end(body, 'latin1')
})
server.listen(port, '127.0.0.1', () => console.log(JSON.stringify({ address: `http://127.0.0.1:${port}` })))
process.once('SIGTERM', () => process.exit(0))
