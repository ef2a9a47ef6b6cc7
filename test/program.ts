// The real program as a child process, with a data folder of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from './ports.ts'

export type Serving = { url: string; child: ChildProcess; exited: Promise<unknown> }

const environment = (dataDir: string, more: NodeJS.ProcessEnv) => ({
  ...process.env,
  DATA_DIR: dataDir,
  DEMO: 'off',
  LOG_LEVEL: 'warn',
  ...more,
})

/** Starts `offerdeck serve` and waits until it says that it runs. */
export async function startServer(dataDir: string, more: NodeJS.ProcessEnv = {}): Promise<Serving> {
  const port = await freePort()
  const child = spawn(process.execPath, ['bin/offerdeck.js', 'serve', '--json'], {
    env: environment(dataDir, { PORT: String(port), ...more }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => (errors += String(chunk)))
  const ready = once(child.stdout!, 'data')
  await Promise.race([ready, exited.then(() => Promise.reject(new Error(`serve ended: ${errors}`)))])
  return { url: `http://127.0.0.1:${port}`, child, exited }
}

/** Runs a command to its end and returns what it printed as JSON. */
export function runCommand<T>(dataDir: string, ...args: string[]): T {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['bin/offerdeck.js', ...args, '--json'], {
    env: environment(dataDir, {}),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`offerdeck ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout) as T
}
