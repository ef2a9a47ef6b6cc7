// The network's logo: one of the uploaded images. The dashboard shows it in place of its own mark, also before anyone has
// signed in.
import { setTimeout as wait } from 'node:timers/promises'
import { type Db, inTransaction } from '../../db/open.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { keepImages } from './images.ts'

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
    await keepImages(trx, { path: path === null || path.startsWith(FOLDER) ? path : '/' }) // which is none
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
