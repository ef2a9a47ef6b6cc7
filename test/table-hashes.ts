import type { Database } from '../src/db/open.ts'

/** Written automatically, whatever the operation. */
const BACKGROUND = ['audit_log', 'nodes', 'api_requests', 'credential_uses', 'waiting_events', 'event_feed']

/** What every table holds, as a hash. */
export async function hashTables(pool: Database['pool']): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition ORDER BY 1`,
  )
  const hashes: Record<string, string> = {}
  for (const { name } of tables) {
    if (BACKGROUND.includes(name)) continue
    const { rows } = await pool.query<{ hash: string }>(
      `SELECT coalesce(md5(string_agg(row, '|' ORDER BY row)), '') AS hash FROM (SELECT t::text AS row FROM ${name} t) AS rows`,
    )
    hashes[name] = rows[0]?.hash ?? ''
  }
  return hashes
}
