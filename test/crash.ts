// A process that dies in the middle of something: from one statement on, nothing of it reaches the database any more.
//
// It has connections of the test's own pool: new ones would plan every statement anew, which takes longer than most of
// what dies. What the server does with a connection that is gone is asked of it instead: it ends the statement that it is
// executing, and rolls back.
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from '../src/db/open.ts'
import type { DB } from '../src/db/tables.ts'

export type Dying = Pick<Database, 'db' | 'pool'>
type Query = (...args: unknown[]) => Promise<unknown>

const isCommit = (query: unknown) => typeof query === 'string' && /^commit\b/i.test(query)

/**
 * Does `work` as a process that dies at its statement number `statement`; with `commits` 0 at its first COMMIT at the
 * latest, so that nothing is done that takes a transaction. Returns when it is dead, or was done before.
 */
export async function dieAt(
  { pool }: Pick<Database, 'pool'>,
  statement: number,
  work: (dying: Dying) => Promise<unknown>,
  { commits = Infinity }: { commits?: number } = {},
): Promise<void> {
  const open = new Set<Connection>()
  const ended: Promise<void>[] = []
  const death = Promise.withResolvers<never>()
  death.promise.catch(() => {}) // there may be no statement that it ends
  let [statements, committed, isDead] = [0, 0, false]
  const die = () => {
    isDead = true
    death.reject(new Error('Connection terminated'))
    ended.push(...[...open].map((connection) => connection.end()))
  }
  const connect = async () => {
    const connection = new Connection(await pool.connect())
    if (isDead) await connection.end()
    else open.add(connection)
    const query: Query = (...args) => {
      if (isCommit(args[0])) committed++
      if (!isDead && (++statements >= statement || committed > commits)) die()
      return isDead ? death.promise : Promise.race([connection.query(args), death.promise])
    }
    const release = () => void (open.delete(connection) && !isDead && connection.release())
    return { query, release }
  }
  const query: Query = async (...args) => {
    const client = await connect()
    return client.query(...args).finally(client.release)
  }
  const dying = { connect, query, end: async () => {} } as unknown as pg.Pool
  try {
    await work({ db: new Kysely<DB>({ dialect: new PostgresDialect({ pool: dying }) }), pool: dying })
  } catch (error) {
    if (!isDead) throw error
  } finally {
    await Promise.all(ended)
  }
}

const toError = (error: unknown) => error as Error

class Connection {
  readonly #client: pg.PoolClient
  #last: Promise<unknown> = Promise.resolve()

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  query(args: unknown[]): Promise<unknown> {
    this.#last = (this.#client.query as unknown as Query)(...args)
    return this.#last
  }

  /** Only once the statement has ended: what comes next must not see it still at work. */
  async end(): Promise<void> {
    await this.#last.catch(() => {})
    const error = await this.#client.query('ROLLBACK').then(() => undefined, toError)
    this.release(error)
  }

  /** With an error, the connection is closed, which is the end of its transaction, too. */
  release = (error?: Error) => this.#client.release(error)
}
