// The site of a publisher. `localhost` is another site than 127.0.0.1, where Offerdeck is.
import { createServer, type RequestListener } from 'node:http'
import { after } from 'node:test'
import { freePort } from './ports.ts'

/** Its origin. It is closed after the test or the file that opens it. */
export async function openSite(answer: RequestListener): Promise<string> {
  const port = await freePort()
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  after(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))))
  return `http://localhost:${port}`
}

/** One that has this page only. */
export const openSiteWith = (html: string, headers: Record<string, string> = {}): Promise<string> =>
  openSite((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...headers }).end(html)
  })
