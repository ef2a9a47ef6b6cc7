// Feeds as they are recorded: creating, changing, pausing and reading them. Credentials are sealed, and never shown again.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { deriveKey, deriveKeys, reseal, type Resealed, seal, unseal } from '../../lib/keys.ts'
import { createAdvertiser } from '../accounts/advertisers.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import type { FeedRequest } from './feed-request.ts'
import { type FeedSettings, showSettings } from './feed-settings.ts'
import type { Validators } from './fetch-feed.ts'
import type { Mapping } from './mapping/mapping.ts'
import { setPostbackSecret } from './postback-secret.ts'
import type { Credentials } from './prepare-request.ts'
import { presetOf } from './presets/presets.ts'
import { endRunOf } from './run-fence.ts'
import { understandUpstream } from './way-back.ts'

export type Feed = {
  feedId: number
  name: string
  advertiserId: number
  advertiser: string
  preset: string | null
  request: FeedRequest
  mapping: Mapping
  credentials: Credentials
  settings: FeedSettings
  isPaused: boolean
  validators: Validators
  /** Otherwise when an operator has changed it meanwhile. */
  revision: string
}

/** An upstream that is known, or a request and a mapping of its own. */
export type FeedKind = { preset: string } | { request: FeedRequest; mapping: Mapping }
/** Without an advertiser, one of its name is created. `postbackSecret`: what the upstream signs its callbacks with. */
export type NewFeed = { name: string; advertiserId: number | null; kind: FeedKind; credentials: Credentials; settings: FeedSettings; postbackSecret?: string } // prettier-ignore

/** `token`: of the advertiser, where it is new. */
export type CreatedFeed = { feedId: number; advertiserId: number; token: string | null }

/** It is paused at first: what a run would do can be looked at before. */
export async function createFeed(db: Db, by: Actor, secretKey: string, feed: NewFeed): Promise<CreatedFeed> {
  const { name, kind, credentials, settings } = feed
  checkName(name)
  const own = 'preset' in kind ? { preset: kind.preset } : { request: JSON.stringify(kind.request), mapping: JSON.stringify(kind.mapping) } // prettier-ignore
  try {
    return await inTransaction(db, async (trx) => {
      const made = feed.advertiserId === null ? await createAdvertiser(trx, by, secretKey, name) : null
      const advertiserId = made?.advertiser_id ?? feed.advertiserId ?? 0
      const feed_id = await nextId(trx)
      await trx
        .insertInto('feeds')
        .values({
          feed_id,
          name,
          advertiser_id: advertiserId,
          ...own,
          credentials: sealCredentials(secretKey, feed_id, credentials),
          settings: JSON.stringify(settings),
          is_paused: true,
        }) // prettier-ignore
        .execute()
      if (made === null) await takeOverRemoved(trx, feed_id, advertiserId)
      const back = 'preset' in kind ? presetOf(kind.preset)?.back : undefined
      if (back !== undefined) await understandUpstream(trx, by, advertiserId, back)
      const { postbackSecret: secret = '' } = feed
      if (secret !== '' && back?.signed === undefined) throw new OperatorError('The callbacks of this network are not signed.', 'postback_secret') // prettier-ignore
      if (secret !== '') await setPostbackSecret(trx, by, secretKey, advertiserId, secret)
      await recordAudit(trx, by, { action: 'feed.create', subject: feed_id, details: { name, advertiser_id: advertiserId, preset: own.preset ?? null } }) // prettier-ignore
      return { feedId: feed_id, advertiserId, token: made?.token ?? null }
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`A feed "${name}" already exists.`, 'name')
    throw error
  }
}

/** The same offers would otherwise be skipped as those of another feed. */
const takeOverRemoved = (trx: Trx, feedId: number, advertiserId: number) =>
  sql`UPDATE feed_offers f SET feed_id = ${feedId} FROM feeds removed
    WHERE removed.feed_id = f.feed_id AND removed.removed_at IS NOT NULL AND removed.advertiser_id = ${advertiserId}`.execute(trx) // prettier-ignore

/** Known before it is written: it is part of what seals the credentials. */
async function nextId(trx: Trx): Promise<number> {
  const { rows } = await sql<{ id: number }>`SELECT nextval(pg_get_serial_sequence('feeds', 'feed_id')) AS id`.execute(
    trx,
  )
  return Number(rows[0]?.id)
}

const PURPOSE = 'feed credentials'
export const sealCredentials = (secretKey: string, feedId: number, credentials: Credentials) =>
  seal(deriveKey(secretKey, PURPOSE), JSON.stringify(credentials), String(feedId))

/** With the key that writes now. */
export async function resealCredentials(db: Db, secretKey: string): Promise<Resealed> {
  const rows = await db.selectFrom('feeds').select(['feed_id', 'credentials']).execute()
  const count = { resealed: 0, unreadable: 0 }
  for (const { feed_id, credentials: before } of rows) {
    const after = reseal(secretKey, PURPOSE, before, String(feed_id))
    if (after === 'unreadable') count.unreadable++
    if (typeof after === 'string') continue
    const query = db.updateTable('feeds').set({ credentials: after }).where('feed_id', '=', feed_id)
    await query.where('credentials', '=', before).execute() // not those that were saved meanwhile
    count.resealed++
  }
  return count
}

export async function readFeed(db: Db, secretKey: string, feedId: number): Promise<Feed> {
  const row = await db
    .selectFrom('feeds')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'feeds.advertiser_id')
    .selectAll('feeds')
    .select(['advertisers.name as advertiser', sql<string>`feeds.updated_at::text`.as('revision')])
    .where('feed_id', '=', feedId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw new NoSuch('feed', feedId)
  const preset = row.preset === null ? undefined : presetOf(row.preset)
  const [request, mapping] = [preset?.request ?? row.request, preset?.mapping ?? row.mapping]
  if (request === null || mapping === null) throw new OperatorError(`This version knows no preset "${row.preset}".`)
  return {
    feedId,
    name: row.name,
    advertiserId: row.advertiser_id,
    advertiser: row.advertiser,
    preset: row.preset,
    request: request as FeedRequest,
    mapping: mapping as Mapping,
    credentials: JSON.parse(unseal(deriveKeys(secretKey, PURPOSE), row.credentials, String(feedId))) as Credentials, // prettier-ignore
    settings: row.settings as FeedSettings,
    isPaused: row.is_paused,
    validators: row.validators as Validators,
    revision: row.revision,
  }
}

/** Until the transaction ends, no one else changes or removes it. */
export async function lockFeed(trx: Trx, feedId: number) {
  const query = trx.selectFrom('feeds').selectAll().where('feed_id', '=', feedId).where('removed_at', 'is', null)
  const feed = await query.forNoKeyUpdate().executeTakeFirst()
  if (feed === undefined) throw new NoSuch('feed', feedId)
  return feed
}

export type FeedChange = {
  name?: string
  settings?: FeedSettings
  /** In place of all that are there. */
  credentials?: Credentials
  /** Of a feed that has its own. */
  own?: { request: FeedRequest; mapping: Mapping }
}

/** The next run reads everything anew, and is due now. A function gets the feed as no one else can change it any more. */
export async function changeFeed(
  db: Db,
  by: Actor,
  secretKey: string,
  feedId: number,
  change: FeedChange | ((feed: Feed) => FeedChange),
): Promise<void> {
  let name: string | undefined
  try {
    await inTransaction(db, async (trx) => {
      const before = await lockFeed(trx, feedId)
      const wanted = typeof change === 'function' ? change(await readFeed(trx, secretKey, feedId)) : change
      const { settings, credentials, own } = wanted
      name = wanted.name
      if (name !== undefined) checkName(name)
      if (own !== undefined && before.preset !== null) throw new OperatorError('This feed uses the request and mapping of its preset.', 'mapping') // prettier-ignore
      const values = {
        ...(name === undefined ? {} : { name }),
        ...(settings === undefined ? {} : { settings: JSON.stringify(settings) }),
        ...(credentials === undefined ? {} : { credentials: sealCredentials(secretKey, feedId, credentials) }),
        ...(own === undefined ? {} : { request: JSON.stringify(own.request), mapping: JSON.stringify(own.mapping) }),
      }
      if (Object.keys(values).length === 0) return
      await trx.updateTable('feeds').set({ ...values, validators: '{}', due_at: sql`now()`, failures: 0, updated_at: sql`now()` }).where('feed_id', '=', feedId).execute() // prettier-ignore
      const shown = (one: FeedSettings): Record<string, unknown> => ({ ...showSettings(one) })
      const changes = compareShown(
        { name: before.name, ...shown(before.settings as FeedSettings) },
        { name: name ?? before.name, ...shown(settings ?? (before.settings as FeedSettings)) },
      )
      const replaced = [...(credentials === undefined ? [] : ['credentials']), ...(own === undefined ? [] : ['request', 'mapping'])] // prettier-ignore
      await recordAudit(trx, by, { action: 'feed.change', subject: feedId, details: { changes, replaced } })
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`A feed "${name}" already exists.`, 'name')
    throw error
  }
}

const compareShown = (before: Record<string, unknown>, after: Record<string, unknown>) =>
  Object.fromEntries(Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name])).map((name) => [name, { before: before[name], after: after[name] }])) // prettier-ignore

function checkName(name: string): void {
  if (name.trim() === '' || name.length > 200) throw new OperatorError('The name of a feed must have 1 to 200 characters.', 'name') // prettier-ignore
}

/** A feed that is paused is not fetched; its offers stay as they are, also if it was just run. One that goes on is due at once. */
export async function pauseFeed(db: Db, by: Actor, feedId: number, isPaused: boolean): Promise<void> {
  await inTransaction(db, async (trx) => {
    const changed = await trx
      .updateTable('feeds')
      .set({ is_paused: isPaused, failures: 0, ...(isPaused ? {} : { due_at: sql`now()` }), updated_at: sql`now()` })
      .where('feed_id', '=', feedId)
      .where('is_paused', '!=', isPaused)
      .where('removed_at', 'is', null)
      .returning('name')
      .executeTakeFirst()
    if (changed === undefined) return
    if (isPaused) await endRunOf(trx, feedId, 'paused')
    const action = isPaused ? 'feed.pause' : 'feed.resume'
    await recordAudit(trx, by, { action, subject: feedId, details: { name: changed.name } })
  })
}
