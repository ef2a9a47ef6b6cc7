// The settings of walls: written by their publishers, read by every wall that is opened.
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { AppError, badRequest } from '../../errors.ts'
import { Cache } from '../../lib/cache.ts'
import { inTime } from '../../lib/in-time.ts'
import { versionOf } from '../../lib/version-of.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { keepImages } from '../offers/images.ts'
import { DEFAULTS, type VersionedWallSettings, type WallSettings } from './settings-schema.ts'

/** A change is seen within this time. */
const LIFE_MS = 2_000
/** A user waits for the database no longer than this. */
const PATIENCE_MS = 1_000
const REMEMBERED_APPS = 1_000

export async function readWallSettings(db: Db, appId: number): Promise<WallSettings> {
  const row = await db.selectFrom('walls').select('settings').where('app_id', '=', appId).executeTakeFirst()
  return withDefaults((row?.settings ?? {}) as Partial<WallSettings>)
}

/** What was stored before a setting existed has its default. */
const withDefaults = (stored: Partial<WallSettings>): WallSettings => ({
  ...DEFAULTS,
  ...stored,
  shows: { ...DEFAULTS.shows, ...stored.shows },
})

export async function readVersionedWallSettings(db: Db, appId: number): Promise<VersionedWallSettings> {
  const settings = await readWallSettings(db, appId)
  return { ...settings, version: versionOf(settings) }
}

/** Replaces them as a whole; with the version that was seen, unless another person changed them since. */
export async function setWallSettings(db: Db, by: Actor, appId: number, given: VersionedWallSettings): Promise<void> {
  const { version: seen, ...settings } = given
  checkParents(settings.parents)
  await inTransaction(db, async (trx) => {
    const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).forUpdate().executeTakeFirstOrThrow() // prettier-ignore
    await keepImages(trx, { logo: settings.logo, hero: settings.hero, currency_icon: settings.currency_icon })
    const before = await readWallSettings(trx, appId)
    if (seen !== undefined && seen !== versionOf(before))
      throw new AppError('CONFLICT', 'Someone else changed these settings. Review the current ones, then save again.')
    await trx
      .insertInto('walls')
      .values({ app_id: appId, settings: JSON.stringify(settings) })
      .onConflict((on) => on.column('app_id').doUpdateSet({ settings: sql`excluded.settings` }))
      .execute()
    const details = { before, after: settings }
    await recordAudit(trx, by, { action: 'wall.change', subject: appId, publisherId: app.publisher_id, details })
  })
}

const ORIGIN = /^https?:\/\/(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/

/** They go into a header as they are. */
function checkParents(parents: readonly string[]): void {
  const wrong = parents.find((parent) => !ORIGIN.test(parent) || !URL.canParse(parent.replace('*.', '')))
  if (wrong !== undefined)
    throw badRequest({ parents: `"${wrong}" is not an origin. Write it as https://www.example.com, without a path.` })
}

/** At once in nearly all cases. */
export type WallSettingsReader = (appId: number) => WallSettings | Promise<WallSettings>

/**
 * The same object until the settings are read again, so that what is made from it can be kept with it. What was read
 * longer ago is read again before it serves: where walls may be shown, and to whom, is in it. Where the database does not
 * answer, what was known serves on.
 */
export function createWallSettingsReader(db: Db): WallSettingsReader {
  type Known = {
    text: string
    value: WallSettings
    untilMs: number
    reading: Promise<WallSettings> | null
    awaited: Promise<unknown>
  }
  const apps = new Cache<number, Known>(REMEMBERED_APPS)
  const read = async (appId: number, known: Known): Promise<WallSettings> => {
    const value = await readWallSettings(db, appId).finally(() => (known.reading = null))
    const text = JSON.stringify(value)
    if (text !== known.text) Object.assign(known, { text, value })
    return known.value
  }
  return (appId) => {
    const known = apps.get(appId) ?? {
      text: '',
      value: DEFAULTS,
      untilMs: 0,
      reading: null,
      awaited: Promise.resolve(),
    }
    if (known.untilMs === 0) apps.set(appId, known)
    const nowMs = Date.now()
    if (known.reading === null && known.text !== '' && nowMs < known.untilMs) return known.value
    if (known.reading === null) {
      known.untilMs = nowMs + LIFE_MS // where it fails, too: not each request asks a database that is down
      known.reading = read(appId, known)
      known.awaited = inTime(known.reading, PATIENCE_MS).catch(() => {})
    }
    return known.text === '' ? known.reading : known.awaited.then(() => known.value)
  }
}
