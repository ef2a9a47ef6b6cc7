// Starting and stopping what is measured: each contender is one process, ready when it prints its URL, or when a path
// answers for those that print none.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { get, type OutgoingHttpHeaders } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainEnv } from './data.ts'
import { cpuSeconds, residentMb } from './programs.ts'

const START_DEADLINE_MS = 600_000
const STOP_PATIENCE_MS = 15_000

/** Headers as names and values in turn, the form that Node writes fastest. */
export type Sample = { status: number; headers: string[]; body: string }

export type Running = {
  name: string
  pid: number
  port: number
  /** From the start of the process until it was ready. */
  startMs: number
  /** What it logged, warnings and errors only. */
  log: string[]
  cpuSeconds(): number
  residentMb(): number
  stop(): Promise<void>
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const CHECKOUT = join(import.meta.dirname, '..')

export const startOfferdeck = (dataDir: string, demo: 'on' | 'off' = 'off') => startServe(dataDir, [], { DEMO: demo })

export const startServe = (dataDir: string, args: string[], env: Record<string, string>) =>
  start('Offerdeck', [join(CHECKOUT, 'bin/offerdeck.js'), 'serve', '--json', ...args], {
    DEMO: 'off',
    ...env,
    DATA_DIR: dataDir,
  })

export const startSql = (dataDir: string) =>
  start('Fastify + SQL', [join(CHECKOUT, 'bench/sql-server.ts')], { DATA_DIR: dataDir })

export function startBare(sample: Sample, file: string): Promise<Running> {
  writeFileSync(file, JSON.stringify(sample))
  return start('bare node:http', [join(CHECKOUT, 'bench/bare-server.ts'), file], {})
}

type StartOptions = { folder?: string; readyPath?: string }

export async function start(
  name: string,
  args: string[],
  env: Record<string, string>,
  { folder, readyPath }: StartOptions = {},
): Promise<Running> {
  const port = await freePort()
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    env: plainEnv({ ...env, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn' }),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(folder === undefined ? {} : { cwd: folder }),
  })
  children.add(child)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void exited.then(() => children.delete(child))
  const log: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line))
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(reject, START_DEADLINE_MS, new Error(`${name} did not start in time.`))
    if (readyPath !== undefined) void untilAnswered(child, port, readyPath).then(resolve)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{"address"')) resolve()
      else log.push(line)
    })
    void exited.then(() => {
      clearTimeout(timer)
      reject(new Error(`${name} stopped while starting:\n${log.join('\n')}`))
    })
  })
  return {
    name,
    pid: child.pid ?? 0,
    port,
    startMs: performance.now() - startedAt,
    log,
    cpuSeconds: () => cpuSeconds(child.pid ?? 0),
    residentMb: () => residentMb(child.pid ?? 0),
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

/** Ends when the path answers, or when there is no process any more that could. */
async function untilAnswered(child: ChildProcess, port: number, path: string): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const reply = await fetchFrom({ port }, path).catch(() => null)
    if (reply !== null && reply.status < 300) return
    await sleep(100)
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

export type Reply = { status: number; headers: string[]; body: string }

export function fetchFrom(
  { port }: Pick<Running, 'port'>,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, headers }, (response) => {
      let body = ''
      response.setEncoding('latin1').on('data', (part: string) => (body += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.rawHeaders, body }))
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}

/** A reply for the bare server to send, without the headers that Node adds. */
export function toSample({ status, headers, body }: Reply): Sample {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (!['date', 'connection', 'keep-alive'].includes(name.toLowerCase())) kept.push(name, headers[i + 1] ?? '')
  }
  return { status, headers: kept, body }
}
