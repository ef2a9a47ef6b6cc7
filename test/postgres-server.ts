// A PostgreSQL of its own, as Debian installs it: on a TCP port, with standbys that stream from it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { endProcess } from './end-process.ts'
import { createFolder } from './folders.ts'
import { until } from './installation.ts'
import { freePort } from './ports.ts'

const ROOT = '/usr/lib/postgresql'
const NAME = 'offerdeck'

type Owner = { uid: number; gid: number } | Record<string, never>

export class PostgresServer {
  readonly port: number
  readonly folder: string
  readonly #owner: Owner
  #process: ChildProcess | null = null

  private constructor(port: number) {
    this.port = port
    this.folder = createFolder('postgres-server')
    this.#owner = findOwner()
    if (this.#owner.uid !== undefined) chownSync(this.folder, this.#owner.uid, this.#owner.gid)
  }

  /** With a role and a database for the program. `settings` go to its configuration file. */
  static async create(settings: Record<string, string> = {}): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort())
    server.#run('initdb', '-D', server.dataDir, '-U', 'postgres', '-A', 'trust', '-N', '-E', 'UTF8', '--locale', 'C.UTF-8') // prettier-ignore
    server.configure({ fsync: 'off', max_locks_per_transaction: '512', ...settings })
    await server.start()
    await server.query(`CREATE ROLE ${NAME} LOGIN`)
    await server.query(`CREATE DATABASE ${NAME} OWNER ${NAME}`)
    return server
  }

  /** One that follows this one. */
  async createStandby(): Promise<PostgresServer> {
    const standby = new PostgresServer(await freePort())
    standby.#run('pg_basebackup', '-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres', '-D', standby.dataDir, '-c', 'fast', '-R') // prettier-ignore
    await standby.start()
    return standby
  }

  get dataDir(): string {
    return join(this.folder, 'data')
  }

  /** As the program is told of it. */
  get url(): string {
    return `postgres://${NAME}@127.0.0.1:${this.port}/${NAME}`
  }

  configure(settings: Record<string, string>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(join(this.dataDir, 'postgresql.conf'), lines.join(''))
  }

  /** A file that the server can read. */
  write(name: string, content: string): string {
    const file = join(this.folder, name)
    writeFileSync(file, content, { mode: 0o600 })
    if (this.#owner.uid !== undefined) chownSync(file, this.#owner.uid, this.#owner.gid)
    return file
  }

  async start(): Promise<void> {
    const sockets = join(this.folder, 'run')
    mkdirSync(sockets, { recursive: true })
    if (this.#owner.uid !== undefined) chownSync(sockets, this.#owner.uid, this.#owner.gid)
    const args = ['-D', this.dataDir, '-p', String(this.port), '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${sockets}`] // prettier-ignore
    this.#process = spawn(programOf('postgres'), args, { stdio: 'ignore', cwd: '/', ...this.#owner })
    await until(() => this.query('SELECT 1').then(() => true, () => false)) // prettier-ignore
  }

  /** SIGINT stops it in order, SIGQUIT as a crash would. */
  async signal(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.#process
    if (child === null) return
    this.#process = null
    await endProcess(child, signal)
  }

  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  /** As the superuser. */
  async query<T extends pg.QueryResultRow>(text: string, database = 'postgres'): Promise<T[]> {
    const client = new pg.Client({ host: '127.0.0.1', port: this.port, user: 'postgres', database })
    try {
      await client.connect()
      return (await client.query<T>(text)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }

  async remove(): Promise<void> {
    await this.signal('SIGQUIT')
    rmSync(this.folder, { recursive: true, force: true })
  }

  #run(program: string, ...args: string[]): void {
    execFileSync(programOf(program), args, { stdio: 'pipe', cwd: '/', ...this.#owner })
  }
}

/** Of the newest version that is installed. */
export function findBinaries(): string {
  const newest = readdirSync(ROOT).toSorted((a, b) => Number(b) - Number(a))[0] ?? ''
  return join(ROOT, newest, 'bin')
}

const programOf = (name: string) => join(findBinaries(), name)

/** It refuses to run as root. */
export function findOwner(): Owner {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })))
  return { uid: uid ?? 0, gid: gid ?? 0 }
}
