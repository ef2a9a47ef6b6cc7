// A process that dies in the middle of something: from one statement on, nothing of it reaches the database any more.
import pg from 'pg'
import { type Database, openPool } from '../src/db/open.ts'
import { until } from './installation.ts'

export type Dying = Pick<Database, 'db' | 'pool'>
/** What pg's types leave out. */
type Connection = { processID?: number | null; connection: { stream: { destroy(): void } } }
type Query = (...args: unknown[]) => unknown

const CONNECTIONS = 4
const isCommit = (query: unknown) => typeof query === 'string' && /^commit\b/i.test(query)

/**
 * Does `work` as a process that dies at its statement number `statement`; with `commits` 0 at its first COMMIT at the
 * latest, so that nothing is done that takes a transaction. Returns when it is dead, or was done before.
 */
export async function dieAt(
  database: Database,
  statement: number,
  work: (dying: Dying) => Promise<unknown>,
  { commits = Infinity }: { commits?: number } = {},
): Promise<void> {
  const { password } = database.pool.options // not listed among the others
  const dying = openPool({ ...(database.pool.options as pg.PoolConfig), ...(password && { password }) }, CONNECTIONS)
  const clients: Connection[] = []
  let [statements, committed, isDead] = [0, 0, false]
  const die = () => {
    isDead = true
    for (const { connection } of clients) connection.stream.destroy()
  }
  dying.pool.on('connect', (client) => {
    clients.push(client)
    const query = client.query.bind(client) as Query
    const watched: Query = (...args) => {
      if (isCommit(args[0])) committed++
      if (!isDead && (++statements >= statement || committed > commits)) die()
      return isDead ? fail(args) : query(...args)
    }
    Object.assign(client, { query: watched })
  })
  try {
    await work(dying)
  } catch (error) {
    if (!isDead) throw error
  } finally {
    await dying.db.destroy().catch(() => {})
    if (!dying.pool.ended && !dying.pool.ending) await dying.pool.end()
    await untilGone(database, clients)
  }
}

/** The server ends what it is just executing before it notices: that must not happen after what comes next. */
async function untilGone({ pool }: Database, clients: readonly Connection[]): Promise<void> {
  const pids = clients.map(({ processID }) => processID ?? 0)
  await until(
    async () => (await pool.query('SELECT FROM pg_stat_activity WHERE pid = ANY ($1)', [pids])).rowCount === 0,
  )
}

/** As a connection that is gone answers, whichever way it was asked. */
function fail(args: unknown[]): unknown {
  const error = new Error('Connection terminated')
  const callback = args.at(-1)
  if (typeof callback !== 'function') return Promise.reject(error)
  process.nextTick(callback, error)
  return undefined
}
