// For working on it: the dashboard by Vite, which shows a change at once, and the server behind it, which starts again when
// a file of it changes. The browser sees one address, PORT; what is not the dashboard's is passed on to the server.
import { spawn } from 'node:child_process'
import { createServer } from 'vite'
import { loadConfig } from '../src/config.ts'
import { PAGES } from '../src/http/dashboard.ts'
import { freePort } from '../test/ports.ts'

/** Everything but Vite's own files and the pages of the dashboard. */
const SERVED = `^/(?!$|\\?|@|(src|node_modules)/|(${PAGES.join('|')})(/|\\?|$))`

const { host, port, publicUrl } = loadConfig(process.env)
const behind = await freePort()
const server = spawn(process.execPath, ['--watch', '--watch-preserve-output', 'src/cli/main.ts', 'serve'], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, HOST: '127.0.0.1', PORT: String(behind), PUBLIC_URL: publicUrl },
  stdio: 'inherit',
})
const vite = await createServer({
  configFile: new URL('../web/vite.config.ts', import.meta.url).pathname,
  server: { host, port, strictPort: true, proxy: { [SERVED]: { target: `http://127.0.0.1:${behind}` } } },
})
await vite.listen()

// Ctrl-C reaches the server by itself; a kill does not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill('SIGTERM'))
server.once('exit', (status) => void vite.close().finally(() => process.exit(status ?? 0)))
