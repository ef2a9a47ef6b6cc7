import { sql } from 'kysely'
import type { Trx } from './open.ts'

/** For work that one process at a time does. False: another one is doing it. */
export async function tryLock(trx: Trx, lock: number): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${lock}) AS locked`.execute(trx)
  return rows[0]?.locked ?? false
}
