// A PostgreSQL of its own, as Debian installs it: on a TCP port, with standbys that stream from it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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
    server.#run('mkdir', server.archive)
    server.configure({
      fsync: 'off',
      max_locks_per_transaction: '512',
      archive_command: `cp %p ${server.archive}/%f`,
      ...settings,
    })
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

  /** A copy of its files as they are now, to be recovered from the log that it archives in `archive`. */
  copyFiles(): string {
    const copy = join(this.folder, 'copy')
    this.#run('pg_basebackup', '-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres', '-D', copy, '-c', 'fast', '-X', 'none') // prettier-ignore
    return copy
  }

  /** Another server from such a copy, as it was at a time. */
  static async recover(from: PostgresServer, copy: string, time: string): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort())
    server.#run('cp', '-a', copy, server.dataDir)
    server.configure({
      archive_mode: 'off',
      restore_command: `cp ${from.archive}/%f %p`,
      recovery_target_time: time,
      recovery_target_action: 'promote',
    })
    server.#run('touch', join(server.dataDir, 'recovery.signal'))
    await server.start()
    await until(async () => (await server.query<{ is: boolean }>('SELECT NOT pg_is_in_recovery() AS is'))[0]?.is === true) // prettier-ignore
    return server
  }

  /** Where the log goes, with `archive_mode`. */
  get archive(): string {
    return join(this.folder, 'archive')
  }

  /** Runs one of PostgreSQL's own programs. */
  run(program: string, ...args: string[]): void {
    this.#run(program, ...args)
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
    const path = existsSync(programOf(program)) ? programOf(program) : program
    execFileSync(path, args, { stdio: 'pipe', cwd: '/', ...this.#owner })
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
