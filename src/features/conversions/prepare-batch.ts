// What a batch is about, found before anything is locked: clicks never change, nor do the user and offer of a conversion.
// The exception is a user who is erased meanwhile, which apply-commands.ts notices.
import type { Db } from '../../db/open.ts'
import type { Command } from './commands.ts'
import { clickOf } from './decision-context.ts'
import { type DroppedClicks, findDroppedClicks } from './dropped-clicks.ts'
import { type Subject } from './keys.ts'
import type { OfferCache } from './offer-cache.ts'
import { type ClickSnapshot, readClicks } from './read-clicks.ts'

export type Batch = {
  commands: readonly Command[]
  /** The user and offer of each command; null: unknown. */
  subjects: readonly (Subject | null)[]
  /** Those that confirmations name, by `clickId`. */
  clicks: ReadonlyMap<string, ClickSnapshot>
  dropped: DroppedClicks
  offerCache: OfferCache
  now: Date
}

export async function prepareBatch(
  db: Db,
  commands: readonly Command[],
  now: Date,
  offerCache: OfferCache,
): Promise<Batch> {
  const clickIds = commands.flatMap((command) => (command.kind === 'confirmation' ? (command.clickId ?? []) : []))
  const clicks = await readClicks(db, clickIds)
  const dropped = await findDroppedClicks(db, commands, clicks, now)
  const subjects = await findSubjects(db, commands, new Map([...clicks, ...dropped.clicks]))
  return { commands, subjects, clicks, dropped, offerCache, now }
}

/** A report names its user and offer, a confirmation's click does. */
async function findSubjects(
  db: Db,
  commands: readonly Command[],
  clicks: ReadonlyMap<string, ClickSnapshot>,
): Promise<(Subject | null)[]> {
  const ids = commands.flatMap((command) => ('conversionId' in command ? [command.conversionId] : []))
  const rows =
    ids.length === 0
      ? []
      : await db
          .selectFrom('conversions')
          .select(['conversion_id', 'app_id as appId', 'is_test as isTest', 'user_id as userId', 'offer_id as offerId'])
          .where('conversion_id', 'in', ids)
          .execute()
  const byId = new Map(rows.map((row) => [row.conversion_id, row]))
  return commands.map((command) => {
    if (command.kind === 'report') return command
    if (command.kind === 'confirmation') return clickOf(clicks, command) ?? null
    return byId.get(command.conversionId) ?? null
  })
}
