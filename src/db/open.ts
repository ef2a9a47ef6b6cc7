// Opens the one record of everything: the embedded PostgreSQL, or the one DATABASE_URL names.
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { messageOf } from '../errors.ts'
import { holdEmbeddedPostgres } from './embedded.ts'
import type { DB } from './tables.ts'

/** A pool or a transaction: for what may stand alone. */
export type Db = Kysely<DB>
/** For what must happen together with something else. */
export type Trx = Transaction<DB>

/** Runs `work` in the transaction that `db` is, or in one of its own. */
export const inTransaction = <T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db as Trx) : db.transaction().execute(work)

export type Database = {
  db: Db
  pool: pg.Pool
  /** Where the embedded server keeps its data; null for an external server. */
  embeddedIn: string | null
  /** Restarts the embedded server if it died. An external server is not ours to start. */
  revive(): Promise<void>
  close(): Promise<void>
}

// 8-byte integers (ids, money) fit a double as long as they stay below 2^53, which the schema's ranges see to.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const [INT8_LIST, TEXT_LIST] = [1016, 1009]
const readTexts = pg.types.getTypeParser(TEXT_LIST) as (list: string) => (string | null)[]
pg.types.setTypeParser(INT8_LIST, (list: string) => readTexts(list).map((one) => (one === null ? null : Number(one))))

export type OpenOptions = {
  databaseUrl: string | null
  dataDir: string
  connections?: number
  preparedStatements?: boolean
}

const CONNECT_MS = 5_000

/** `connect_timeout` of a URL is in seconds, as PostgreSQL's own programs have it. */
const connectTimeoutOf = (url: string | null): number =>
  Number(URL.parse(url ?? '')?.searchParams.get('connect_timeout')) * 1_000 || CONNECT_MS

export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { databaseUrl, dataDir, connections = 10, preparedStatements = true } = options
  const embedded = databaseUrl === null ? await holdEmbeddedPostgres(dataDir) : null
  const connection = embedded?.connection ?? { connectionString: databaseUrl ?? '' }
  const connectionTimeoutMillis = connectTimeoutOf(databaseUrl)
  const database = openPool({ ...connection, connectionTimeoutMillis, preparedStatements }, connections)
  return {
    ...database,
    embeddedIn: embedded?.cluster.home ?? null,
    revive: async () => embedded?.revive(),
    async close() {
      await database.close()
      await embedded?.release()
    },
  }
}

const READ_ONLY = '25006'

const NAMED = /^\s*\/\* ([\w-]+) \*\//

/** `preparedStatements` false: a pooler in between does not follow them. */
export type ConnectionOptions = pg.PoolConfig & { preparedStatements?: boolean }

/**
 * Prepares statements that begin with a name in a comment, once for each connection: planning the large ones takes
 * longer than running them. The text must not depend on the values.
 *
 * A connection on which a query timed out is not used again. Its server may still do what was asked: after a BEGIN that
 * timed out, the next statements would be acknowledged, and rolled back when the connection ends. Nor is one to a server
 * that takes no changes: it was the primary, and the next connection leads to the one that took over.
 */
class CarefulClient extends pg.Client {
  readonly #prepares: boolean

  constructor(options: ConnectionOptions = {}) {
    super(options)
    this.#prepares = options.preparedStatements ?? true
  }

  override query(...given: unknown[]): never {
    const result = (super.query as (...all: unknown[]) => unknown)(...(this.#prepares ? withName(given) : given))
    if (result instanceof Promise) result.catch((error: unknown) => this.#giveUpAfter(error))
    return result as never
  }

  #giveUpAfter(error: unknown): void {
    const isReadOnly = (error as { code?: string }).code === READ_ONLY
    if (!isReadOnly && !messageOf(error).includes('Query read timeout')) return
    Object.assign(this, { _queryable: false }) // how the pool knows that it must let go of it
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }
}

/** The same arguments of `query`, with the name that the text begins with. */
function withName(given: unknown[]): unknown[] {
  const [first, ...rest] = given
  const query = typeof first === 'string' ? { text: first, values: rest.shift() } : (first as Partial<pg.QueryConfig>)
  const name = Array.isArray(query.values) ? NAMED.exec(query.text ?? '')?.[1] : undefined
  return name === undefined ? given : [{ ...query, name }, ...rest]
}

export function openPool(connection: ConnectionOptions, connections: number): Pick<Database, 'db' | 'pool' | 'close'> {
  const pool = new pg.Pool({
    // A server that stops answering, or a connection that died silently, must not block a caller for ever. Enforced by
    // the client: the server cannot end a query it no longer hears from, and poolers refuse the parameter.
    query_timeout: 15_000,
    connectionTimeoutMillis: CONNECT_MS,
    ...connection,
    Client: CarefulClient,
    max: connections,
    keepAlive: true,
    application_name: 'offerdeck',
  })
  pool.on('error', () => {}) // an idle connection broke: the pool drops it, and the next query opens another
  // One that breaks inside a transaction fails the query; without a listener it would end the process, too.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    pool,
    async close() {
      await db.destroy() // ends the pool, but only where Kysely has used it
      if (!pool.ending) await pool.end()
    },
  }
}
