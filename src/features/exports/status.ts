// How an export is doing, in one cheap read: for the command, the system page and metrics.
import type { Db } from '../../db/open.ts'

const columns = [
  'kind',
  'files',
  'rows',
  'created_at',
  'caught_up_at',
  'failures',
  'failing_since',
  'failure',
  'lost_rows',
] as const

export type ExportStatus = Awaited<ReturnType<typeof readExports>>[number]

/** Of each kind; none before the first run. */
export const readExports = (db: Db, target: string) =>
  db.selectFrom('export_positions').select(columns).where('target', '=', target).orderBy('kind').execute()
