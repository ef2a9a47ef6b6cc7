// What the server does by default for connections of our role in this database (ALTER ROLE … IN DATABASE): so it holds for
// every new connection of the program, even behind a connection pooler, which would refuse it as a parameter, and for no
// other role. A value that an operator chose for the role or the database stays.
//
// - Timeouts, for what a client can no longer end: it froze, lost its network, or gave up on a query. Work that takes
//   longer lifts the limit for its own transaction: `SET LOCAL`.
// - No compiling of queries (JIT): most of ours take less than a millisecond, and compiling one takes seconds. PostgreSQL
//   compiles what it believes to be expensive, which up to version 17 is everything that has a kind of plan switched off.
import pg from 'pg'

/** `unset`: the value where none was chosen. The timeouts are above the client's own limit of 15 s, so that no client still waits. */
const DEFAULTS = [
  { name: 'statement_timeout', unset: '0', ours: '20s' },
  { name: 'idle_in_transaction_session_timeout', unset: '0', ours: '15s' },
  { name: 'jit', unset: 'on', ours: 'off' },
]

const NOT_ALLOWED = '42501'

/** For a transaction that may take its time: a migration, a check of the whole ledger. */
export const NO_TIME_LIMIT = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0'

/** Holds for connections that are opened from now on. */
export async function setRoleDefaults(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; reset_val: string; database: string }>(
    `SELECT name, reset_val, current_database() AS database FROM pg_settings WHERE name = ANY ($1)
     AND source NOT IN ('database', 'user', 'database user')`,
    [DEFAULTS.map(({ name }) => name)],
  )
  const missing = DEFAULTS.flatMap(({ name, unset, ours }) =>
    rows
      .filter((row) => row.name === name && row.reset_val === unset)
      .map(({ database }) => ({ name, ours, database })),
  )
  for (const { name, ours, database } of missing) {
    const role = `ALTER ROLE CURRENT_USER IN DATABASE ${pg.escapeIdentifier(database)}`
    try {
      await client.query(`${role} SET ${name} = '${ours}'`)
    } catch (error) {
      if ((error as { code?: string }).code !== NOT_ALLOWED) throw error // a service may keep it to itself
    }
  }
}
