// The network's logo: one of the uploaded images. The dashboard shows it in place of its own mark, also before anyone has
// signed in.
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { badRequest } from '../../http/validation.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

const FOLDER = '/images/'
const PATIENCE_MS = 500

/** The path of the logo; null where none is set. */
export async function findLogo(db: Db): Promise<string | null> {
  const { logo } = await db.selectFrom('network_settings').select('logo').executeTakeFirstOrThrow()
  return logo === null ? null : FOLDER + logo
}

/** Null removes the logo. */
export async function setLogo(db: Db, by: Actor, path: string | null): Promise<void> {
  const logo = path?.slice(FOLDER.length) ?? null
  await inTransaction(db, async (trx) => {
    if (logo !== null) {
      // As new, so that it is not deleted as unused at the same time.
      const used = await trx
        .updateTable('images')
        .set({ created_at: sql`now()` })
        .where('name', '=', logo)
        .executeTakeFirst()
      if (path?.startsWith(FOLDER) !== true || used.numUpdatedRows === 0n)
        throw badRequest({ path: 'There is no such image on this server. Upload it again.' })
    }
    await trx.updateTable('network_settings').set({ logo }).execute()
    await recordAudit(trx, by, { action: logo === null ? 'logo.remove' : 'logo.set', subject: logo ?? 'network' })
  })
}

/** For pages that anyone may load: all that load at the same time share one query, and none waits for a database that is down. */
export function createLogoReader(db: Db): () => Promise<string | null> {
  let last: string | null = null
  let reading: Promise<unknown> | null = null
  const read = async () => {
    last = await findLogo(db).catch(() => last)
    reading = null
  }
  return async () => {
    reading ??= read()
    await Promise.race([reading, wait(PATIENCE_MS, null, { ref: false })])
    return last
  }
}
