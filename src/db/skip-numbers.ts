// Leaves out the numbers that were given away after a backup, where it was restored: the outside world knows them as
// something else. A publisher that follows the feed of events goes on behind the last one that it has seen.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { dataIn } from './cluster.ts'

/** A file beside the data of a database that was restored and whose numbers are not skipped yet: what its backup said of itself. */
export const RESTORED = 'restored-from.json'

const SKIPPED = 100_000

/**
 * Comes after the migrations: a sequence that the backup does not have may have been used as well. Cut short before the
 * file is gone, it is done twice, which costs nothing but numbers.
 */
export async function skipNumbers(client: pg.ClientBase, home: string): Promise<void> {
  const restored = join(dataIn(home), RESTORED)
  if (!existsSync(restored)) return
  await client.query(`
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, start_value) + ${SKIPPED})
    FROM pg_sequences
    WHERE schemaname = current_schema() AND coalesce(last_value, start_value) + ${SKIPPED} < max_value`)
  await rm(restored)
}
