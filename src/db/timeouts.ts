// Timeouts enforced by the server, for what a client can no longer end: it froze, lost its network, or gave up on a
// query.
//
// They are defaults of our role in this database (ALTER ROLE … IN DATABASE), so they hold for every new connection of
// the program, even behind a connection pooler, which would refuse them as parameters, and for no other role. A value
// that an operator chose stays. Work that takes longer lifts the limit for its own transaction: `SET LOCAL`.
import pg from 'pg'

/** Above the client's own limit of 15 s, so that no client still waits for the result. */
const LIMITS_MS = { statement_timeout: 20_000, idle_in_transaction_session_timeout: 15_000 }

const NOT_ALLOWED = '42501'

/** For a transaction that may take its time: a migration, a check of the whole ledger. */
export const NO_TIME_LIMIT = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0'

/** Holds for connections that are opened from now on. */
export async function limitRole(client: pg.ClientBase): Promise<void> {
  const names = Object.keys(LIMITS_MS)
  const { rows } = await client.query<{ name: keyof typeof LIMITS_MS; database: string }>(
    `SELECT name, current_database() AS database FROM pg_settings WHERE name = ANY ($1) AND reset_val = '0'
     AND source NOT IN ('database', 'user', 'database user')`,
    [names],
  )
  for (const { name, database } of rows) {
    const role = `ALTER ROLE CURRENT_USER IN DATABASE ${pg.escapeIdentifier(database)}`
    try {
      await client.query(`${role} SET ${name} = ${LIMITS_MS[name]}`)
    } catch (error) {
      if ((error as { code?: string }).code !== NOT_ALLOWED) throw error // a service may keep it to itself
    }
  }
}
