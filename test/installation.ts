// A data folder of its own, with commands run on it: in this process, or as processes of their own.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { runCommand } from '../src/cli/run.ts'
import { inTerminal } from '../src/cli/terminal.ts'
import { holdEmbeddedPostgres } from '../src/db/embedded.ts'
import { createFolder } from './folders.ts'
import { freePort } from './ports.ts'

const COMMAND = fileURLToPath(new URL('../bin/offerdeck.js', import.meta.url))

export type Finished = { status: number | null; out: string; err: string }
type Env = Record<string, string>

export class Installation {
  readonly dataDir: string
  readonly #folder = createFolder('installation')
  readonly #running = new Set<Running>()

  /** What every command gets. */
  env: Env = {}
  /** What is started as a process of its own. */
  program = [process.execPath, COMMAND]

  constructor() {
    this.dataDir = join(this.#folder, 'data')
  }

  /** A process of its own. */
  start(args: string[], env: Env = {}): Running {
    const [file = '', ...before] = this.program
    const child = spawn(file, [...before, ...args], {
      cwd: this.#folder,
      env: this.#envOf(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const running = new Running(child)
    this.#running.add(running)
    void running.finished.then(() => this.#running.delete(running))
    return running
  }

  /** In this process, which has loaded everything already, unless it is one that waits for signals. */
  async run(args: string[], env: Env = {}): Promise<Finished> {
    if (args[0] === 'serve' || args[0] === 'listen') return this.start(args, env).finished
    const [out, err] = [new Printed(), new Printed()]
    const shown = { env: this.#envOf(env), input: Readable.from([]), out, err, status: 0 }
    const status = await inTerminal(shown, () => runCommand(args))
    return { status, out: out.text, err: err.text }
  }

  #envOf(env: Env): Env {
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
    return { PATH, HOME, NODE_COMPILE_CACHE, DATA_DIR: this.dataDir, LOG_LEVEL: 'warn', ...this.env, ...env }
  }

  /** Runs a command that must succeed, with --json, and returns what it printed. */
  async json<T>(...args: string[]): Promise<T> {
    const { status, out, err } = await this.run([...args, '--json'])
    if (status !== 0) throw new Error(`offerdeck ${args.join(' ')}: status ${status}\n${out}${err}`)
    return JSON.parse(out, refuseInternalName) as T
  }

  /** Starts the server on a free port; resolves when it has printed that it runs. */
  async serve(env: Env = {}, args: string[] = []): Promise<Running & { url: string }> {
    const port = String(await freePort())
    const running = this.start(['serve', ...args], { PORT: port, ...env })
    await running.prints(args.includes('--json') ? '}' : 'Ctrl-C')
    return Object.assign(running, { url: `http://127.0.0.1:${port}` })
  }

  get folder(): string {
    return this.#folder
  }

  async remove(): Promise<void> {
    for (const running of this.#running) await running.kill('SIGKILL')
    await until(() => this.postgresProcesses().length === 0)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  spoolIsEmpty = () => isSpoolEmpty(this.dataDir)

  async dumpDatabase(): Promise<string> {
    const database = await holdEmbeddedPostgres(this.dataDir)
    const text = await dumpDatabase(database.connection)
    await database.release()
    return text
  }

  /** The ids of the PostgreSQL processes that work in this data folder. */
  postgresProcesses(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && cwdOf(name).startsWith(this.dataDir))
      .map(Number)
  }
}

/** Whether everything that waited for the database was written. */
export function isSpoolEmpty(dataDir: string): boolean {
  const spool = join(dataDir, 'spool')
  if (!existsSync(spool)) return true // nothing ever waited
  try {
    return !readdirSync(spool, { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('.jsonl'))
  } catch {
    return false // something in it was deleted meanwhile
  }
}

/** What commands print has the names of the API, none of a column. */
function refuseInternalName(name: string, value: unknown): unknown {
  if (/_micros$|_ppm$|_xid$|_hash$/.test(name)) throw new Error(`"${name}" is the name of a column.`)
  return value
}

/** Every row of every table, as text, a line each. */
export async function dumpDatabase(connection: pg.ClientConfig): Promise<string> {
  const client = new pg.Client(connection)
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  let text = ''
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`)
    text += rows.map(({ row }) => `${name} ${row}\n`).join('')
  }
  await client.end()
  return text
}

class Printed extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

export class Running {
  readonly finished: Promise<Finished>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  #out = ''
  #err = ''

  constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (this.#out += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.#err += chunk))
    this.finished = once(child, 'close').then(([status]) => ({
      status: status as number | null,
      out: this.#out,
      err: this.#err,
    }))
  }

  get out(): string {
    return this.#out
  }

  get err(): string {
    return this.#err
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async prints(text: string): Promise<void> {
    while (!this.#out.includes(text)) {
      const ended = await Promise.race([once(this.#child.stdout, 'data').then(() => null), this.finished])
      if (ended !== null) throw new Error(`It ended with status ${ended.status}: ${ended.out}${ended.err}`)
    }
  }

  kill(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<Finished> {
    this.#child.kill(signal)
    return this.finished
  }
}

/** Asks again and again, until it is so; returns how long that took in milliseconds. */
export async function until(isSo: () => boolean | Promise<boolean>, patienceMs = 60_000): Promise<number> {
  const startedMs = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedMs > patienceMs) throw new Error(`It is not so after ${patienceMs} ms.`)
    await wait(25)
  }
  return performance.now() - startedMs
}

function cwdOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return '' // it ended meanwhile
  }
}
