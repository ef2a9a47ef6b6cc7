// The embedded PostgreSQL: a real server from npm's binaries, on a unix socket, in DATA_DIR.
//
// It runs exactly as long as a process uses it. Every process that does holds the pipe `alive` open for writing; a
// watchdog beside the server reads it, and the end of the file (the last process closed it, or was killed) stops the
// server. So a crash leaves no server behind, and a command run beside a running server shares it.
//
//   no reader of `alive`      -> not running: take the start lock, look again, start it
//   a reader                  -> running, starting or stopping: join
//   the watchdog confirms     -> running, and it stays: connect
//   it does not within a time -> it was on its way out: look again
//
// The file by which the watchdog confirms a process stays while it holds the pipe: who lets go of it sees whether others do.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { messageOf, OperatorError } from '../errors.ts'
import { withFileLock } from '../lib/file-lock.ts'
import { isAlive } from '../lib/is-alive.ts'
import { APP_ROLE, appRolePassword, setUpAppRole } from './app-role.ts'
import { keepSecretFile } from './secret-file.ts'
import { type Cluster, locateCluster } from './cluster.ts'
import { livePostmaster, startPostmaster, stopPostmaster } from './postmaster.ts'

const START_DEADLINE_MS = 60_000
const JOIN_PATIENCE_MS = 2_000
const WRONG_PASSWORD = '28P01' // also of a role that does not exist
const NO_DATABASE = '3D000'
const NAME = 'offerdeck' // of the database and of the superuser

type Connection = { host: string; user: string; password: string; database: string }

export type EmbeddedPostgres = {
  /** As the role that owns our database, and nothing else. */
  connection: Connection
  /** For setting up what that role may not: tests and benchmarks create databases. */
  superuserConnection: Connection
  cluster: Cluster
  /** Starts the server again if it died; safe to call at any time, in every process that holds it. */
  revive(): Promise<void>
  /** Releases the server. Resolves when it has stopped, or when another process still uses it. */
  release(): Promise<void>
}

export async function holdEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  createDataDir(dataDir)
  const folder = realpathSync(dataDir) // what the server calls it, too
  const cluster = await locateCluster(folder)
  const password = keepSecretFile(join(folder, 'postgres-password'))
  const server = new Server(cluster, password)
  const held = await server.hold()
  return {
    connection: server.connection(),
    superuserConnection: server.superuserConnection(NAME),
    cluster,
    async revive() {
      // Our own end of the pipe stays open: the new server's watchdog sees it too.
      if (!server.isWatched()) server.letGo(await server.hold())
    },
    async release() {
      server.letGo(held)
      if (server.hasOtherUsers()) return
      for (let waited = 0; waited < 200 && server.isWatched(); waited += 10) await sleep(10)
      if (server.isWatched()) return
      for (let waited = 0; waited < 5_000 && livePostmaster(cluster) !== null; waited += 10) await sleep(10)
    },
  }
}

/** One end of the pipe, and the name under which the watchdog knows of it. */
type Held = { pipe: number; name: string }

class Server {
  readonly #cluster: Cluster
  readonly #password: string

  constructor(cluster: Cluster, password: string) {
    this.#cluster = cluster
    this.#password = password
  }

  connection(): Connection {
    return { ...this.superuserConnection(NAME), user: APP_ROLE, password: appRolePassword(this.#password) }
  }

  superuserConnection(database: string): Connection {
    return { host: this.#cluster.socketDir, user: NAME, password: this.#password, database }
  }

  /** Joins the users of the server, starting it when there are none. What it returns keeps it alive. */
  async hold(): Promise<Held> {
    const deadline = Date.now() + START_DEADLINE_MS
    let problem = 'it did not answer'
    while (Date.now() < deadline) {
      const held =
        (await this.#join()) ??
        (await withFileLock(join(this.#cluster.home, 'start.lock'), async () =>
          this.isWatched() ? null : this.#start(deadline),
        ))
      if (held === null) continue
      const trouble = await this.#problem()
      if (trouble === null) return held
      problem = trouble
      this.letGo(held)
      await sleep(25)
    }
    throw this.#neverStarted(problem)
  }

  letGo({ pipe, name }: Held): void {
    rmSync(this.#confirmationOf(name), { force: true })
    closeSync(pipe)
  }

  /** A killed one is not counted, unless another process has its ID by now: then no command waits until the server stops. */
  hasOtherUsers(): boolean {
    return readdirSync(this.#cluster.joinedDir).some((name) => {
      if (isAlive(Number.parseInt(name, 10))) return true
      rmSync(this.#confirmationOf(name), { force: true })
      return false
    })
  }

  #confirmationOf = (name: string) => join(this.#cluster.joinedDir, name)

  #neverStarted(problem: string): OperatorError {
    return new OperatorError(
      `The embedded PostgreSQL did not start within ${START_DEADLINE_MS / 1000} s (${problem}). Its log is ${this.#cluster.logFile}.`,
    )
  }

  /** A pipe whose watchdog knows of us; null when there is none, or it is leaving. */
  async #join(): Promise<Held | null> {
    const pipe = this.#openPipe()
    if (pipe === null) return null
    const name = `${process.pid}-${randomUUID()}`
    try {
      writeSync(pipe, `${name}\n`)
      for (let waited = 0; waited < JOIN_PATIENCE_MS && this.isWatched(); waited += 5) {
        if (existsSync(this.#confirmationOf(name))) return { pipe, name }
        await sleep(5)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error // else it left just now
    }
    this.letGo({ pipe, name })
    return null
  }

  isWatched(): boolean {
    const pipe = this.#openPipe()
    if (pipe !== null) closeSync(pipe)
    return pipe !== null
  }

  /** The writing end of the pipe, or null when no watchdog reads it. */
  #openPipe(): number | null {
    try {
      return openSync(this.#cluster.aliveFile, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENXIO' || code === 'ENOENT') return null
      throw new OperatorError(
        `Cannot use the embedded database in ${this.#cluster.home}: ${messageOf(error)}. Run this as the user who owns it.`,
      )
    }
  }

  async #start(deadline: number): Promise<Held | null> {
    // Both ends at once: the watchdog's open must not block, and other processes must see that one is starting it.
    const both = openSync(this.#cluster.aliveFile, constants.O_RDWR | constants.O_NONBLOCK)
    try {
      await stopPostmaster(this.#cluster)
      const server = await startPostmaster(this.#cluster, this.#password, NAME)
      for (;;) {
        const problem = await this.#setUp()
        if (problem === null) break
        if (Date.now() > deadline) throw this.#neverStarted(problem)
        if (server.hasExited()) {
          throw new OperatorError(
            `The embedded PostgreSQL stopped while starting. The end of its log (${this.#cluster.logFile}):\n${this.#logTail()}`,
          )
        }
        await sleep(15)
      }
      return await this.#join()
    } finally {
      closeSync(both)
    }
  }

  /** Why the server cannot be used yet, or null when it can. Sets up what a process of an earlier version did not. */
  async #problem(): Promise<string | null> {
    const problem = await tryOn(this.connection(), (client) => client.query('SELECT 1'))
    return problem?.code === WRONG_PASSWORD || problem?.code === NO_DATABASE
      ? this.#setUp()
      : (problem?.message ?? null)
  }

  /** Creates our database and its role where they are missing. Returns why that is not possible yet, or null. */
  async #setUp(): Promise<string | null> {
    const setUp = () => tryOn(this.superuserConnection(NAME), (client) => setUpAppRole(client, this.#password))
    let problem = await setUp()
    if (problem?.code === NO_DATABASE) {
      problem = await tryOn(this.superuserConnection('postgres'), (client) => client.query(`CREATE DATABASE ${NAME}`))
      if (problem === null) problem = await setUp()
    }
    if (problem?.code === WRONG_PASSWORD) {
      throw new OperatorError(
        `The password in the file postgres-password is not that of the database in ${this.#cluster.home}. Restore the file from a backup.`,
      )
    }
    return problem?.message ?? null
  }

  #logTail(): string {
    if (!existsSync(this.#cluster.logFile)) return '(empty)'
    return readFileSync(this.#cluster.logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n')
  }
}

/** Does something on a connection of its own; returns what went wrong, or null. */
async function tryOn(
  connection: Connection,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<{ code?: string; message: string } | null> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // a server that dies meanwhile fails the work, which is reported
  try {
    await client.connect()
    await work(client)
    return null
  } catch (error) {
    return error as Error
  } finally {
    await client.end().catch(() => {})
  }
}

/** Others may enter DATA_DIR (the server may run as another user); what is secret in it is private file by file. */
export function createDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o755 })
  } catch (error) {
    throw new OperatorError(
      `Cannot create the data folder ${dataDir}: ${messageOf(error)}. Set DATA_DIR to a folder you may write to.`,
    )
  }
}
