// Advertisers, and the tokens that their confirmations carry: adv_…, shown once, kept as a hash.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { containing, idOf } from '../../db/search.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { formatDuration } from '../../lib/duration.ts'
import type { Reference } from '../../lib/reference.ts'
import { base62, createSecretHash, withChecksum } from '../../lib/tokens.ts'
import { type Actor, recordAudit } from './audit.ts'
import type { CallRules } from './call-rules.ts'
import type { CallSignature } from './call-signature.ts'

export type Advertiser = {
  advertiser_id: number
  name: string
  /** IP addresses and CIDRs it may confirm from; empty: from anywhere. */
  allowed_ips: string[]
  /** Its word, in lower case: our status. */
  status_map: Record<string, string>
  /** Our parameter: its names for it. */
  aliases: Record<string, string[]>
  /** What a negative amount means where the status does not say that it is a reversal. */
  negative_amount: 'refuse' | 'reversal' | 'ignore'
  /** What it separates decimals with, where that cannot be seen: 1,234. */
  decimal_mark: 'detect' | 'point' | 'comma'
  /** What the transaction ID of a reversal begins with; empty: nothing does. */
  reversal_prefix: string
  /** How its callbacks are signed; null: they are not. */
  signature: CallSignature | null
  /** What else its callbacks mean. */
  call_rules: CallRules
  /** What its people see of publishers. */
  sees_publishers: 'nothing' | 'id' | 'name'
  created_at: Date
}

/** All but the secret. */
export const ADVERTISER = ['advertiser_id', 'name', 'allowed_ips', 'status_map', 'aliases', 'negative_amount', 'decimal_mark', 'reversal_prefix', 'signature', 'call_rules', 'sees_publishers', 'created_at'] as const satisfies (keyof Advertiser)[] // prettier-ignore

/** Shown once; only a hash is kept. */
export type IssuedAdvertiser = { advertiser_id: number; name: string; token: string; created_at: Date }

/** Private: 256 random bits. */
const createAdvertiserToken = (): string => withChecksum(`adv_${base62(randomBytes(32), 43)}`)

export async function createAdvertiser(db: Db, by: Actor, secretKey: string, name: string): Promise<IssuedAdvertiser> {
  if (name.trim() === '' || name.length > 200)
    throw new OperatorError('The name of an advertiser must have 1 to 200 characters.', 'name')
  try {
    return await inTransaction(db, async (trx) => {
      const { advertiser_id, created_at } = await trx
        .insertInto('advertisers')
        .values({ name })
        .returning(['advertiser_id', 'created_at'])
        .executeTakeFirstOrThrow()
      await recordAudit(trx, by, { action: 'advertiser.create', subject: advertiser_id, details: { name } })
      return { advertiser_id, name, token: await addToken(trx, secretKey, advertiser_id), created_at }
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`An advertiser "${name}" already exists.`, 'name')
    throw error
  }
}

async function addToken(trx: Trx, secretKey: string, advertiserId: number): Promise<string> {
  const token = createAdvertiserToken()
  await trx
    .insertInto('advertiser_tokens')
    .values({ hash: createSecretHash(secretKey)(token), advertiser_id: advertiserId })
    .execute()
  return token
}

/** Issues a new token. The previous one stays valid for the grace period: none, for a token that leaked. */
export async function rotateToken(
  db: Db,
  by: Actor,
  secretKey: string,
  advertiserId: number,
  graceMs: number,
  now: Date,
) {
  return inTransaction(db, async (trx) => {
    await lockAdvertiser(trx, advertiserId)
    // The newest is the one without an end. Only that one gets the grace: two live tokens, never three. Dead ones are
    // kept, so that a call with one is known as this advertiser's.
    await trx
      .updateTable('advertiser_tokens')
      .set({ expires_at: now })
      .where('advertiser_id', '=', advertiserId)
      .where('expires_at', '>', now)
      .execute()
    const before = await trx
      .updateTable('advertiser_tokens')
      .set({ expires_at: new Date(now.getTime() + graceMs) })
      .where('advertiser_id', '=', advertiserId)
      .where('expires_at', 'is', null)
      .returning('expires_at')
      .executeTakeFirst()
    const token = await addToken(trx, secretKey, advertiserId)
    const details = { grace: formatDuration(graceMs) }
    await recordAudit(trx, by, { action: 'advertiser.rotate_token', subject: advertiserId, details })
    return { advertiser_id: advertiserId, token, old_token_expires_at: before?.expires_at ?? null }
  })
}

/** Keeps others from rotating the same advertiser's tokens meanwhile. */
async function lockAdvertiser(trx: Trx, advertiserId: number): Promise<void> {
  const found = await trx
    .selectFrom('advertisers')
    .select('advertiser_id')
    .where('advertiser_id', '=', advertiserId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (found === undefined) throw new NoSuch('advertiser', advertiserId)
}

/** A token as all that may be stored of it, the present form first. */
export type TokenSearch = { hashes: readonly string[]; now: Date }

/** The advertiser of this token; null when unknown. A rotated token is still recognised as its advertiser's. */
export async function findAdvertiserByToken(db: Db, hashes: readonly string[], now: Date) {
  const [owner = null] = await findAdvertisersByTokens(db, [{ hashes, now }])
  return owner
}

/** The same for many, in their order. */
export async function findAdvertisersByTokens(db: Db, searches: readonly TokenSearch[]) {
  const all = searches.flatMap(({ hashes }) => hashes)
  const rows = await db
    .selectFrom('advertiser_tokens')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'advertiser_tokens.advertiser_id')
    .select(['hash', 'advertisers.advertiser_id', 'allowed_ips', 'status_map', 'aliases', 'expires_at'])
    .select(['negative_amount', 'decimal_mark', 'reversal_prefix', 'signature', 'signature_secret', 'call_rules'])
    .where((is) => is('hash', '=', is.fn.any(is.val(all))))
    .execute()
  const byHash = new Map(rows.map((row) => [row.hash, row]))
  return Promise.all(
    searches.map(async ({ hashes, now }) => {
      const found = hashes.map((hash) => byHash.get(hash)).find((row) => row !== undefined)
      if (found === undefined) return null
      const [present = ''] = hashes
      // Created with another SECRET_KEY, which it then no longer needs.
      if (found.hash !== present)
        await db.updateTable('advertiser_tokens').set({ hash: present }).where('hash', '=', found.hash).execute()
      return {
        advertiserId: found.advertiser_id,
        isExpired: found.expires_at !== null && found.expires_at <= now,
        allowedIps: found.allowed_ips,
        signed: found.signature === null || found.signature_secret === null ? null : { signature: found.signature as CallSignature, secret: found.signature_secret }, // prettier-ignore
        ...dialectOf(found as unknown as Advertiser),
      }
    }),
  )
}

/** How an advertiser speaks: what its confirmations are read by. */
export const dialectOf = (
  advertiser: Pick<
    Advertiser,
    'status_map' | 'aliases' | 'negative_amount' | 'decimal_mark' | 'reversal_prefix' | 'call_rules'
  >,
) => ({
  statusMap: advertiser.status_map,
  aliases: advertiser.aliases,
  negativeAmount: advertiser.negative_amount,
  reversalPrefix: advertiser.reversal_prefix,
  decimalMark: advertiser.decimal_mark,
  callRules: advertiser.call_rules,
})

/** Those with this ID or this name. */
export async function matchAdvertisers(db: Db, { id, name }: Reference): Promise<Advertiser[]> {
  const found = await db
    .selectFrom('advertisers')
    .select(ADVERTISER)
    .where((is) => is.or([is('advertiser_id', '=', id), is('name', '=', name)]))
    .execute()
  return found as Advertiser[]
}

export async function getAdvertiser(db: Db, advertiserId: number): Promise<Advertiser> {
  const found = await db.selectFrom('advertisers').select(ADVERTISER).where('advertiser_id', '=', advertiserId).executeTakeFirst() // prettier-ignore
  if (found === undefined) throw new NoSuch('advertiser', advertiserId)
  return found as Advertiser
}

export async function findAdvertiserName(db: Db, advertiserId: number): Promise<string | null> {
  const found = await db
    .selectFrom('advertisers')
    .select('name')
    .where('advertiser_id', '=', advertiserId)
    .executeTakeFirst()
  return found?.name ?? null
}

/** Of their offers: of more, only that there are so many. */
const MOST_COUNTED = 10_000

export type AdvertiserPage = { search?: string; after?: number; limit?: number }

export async function listAdvertisers(db: Db, { search, after, limit }: AdvertiserPage = {}) {
  const hasToken = sql<boolean>`EXISTS (SELECT FROM advertiser_tokens t WHERE t.advertiser_id = advertisers.advertiser_id
    AND (t.expires_at IS NULL OR t.expires_at > now()))`
  const offers = sql<number>`(SELECT count(*) FROM (
    SELECT FROM offers o WHERE o.advertiser_id = advertisers.advertiser_id LIMIT ${sql.lit(MOST_COUNTED)}) AS counted)`
  let query = db
    .selectFrom('advertisers')
    .select(['advertiser_id', 'name', 'created_at', offers.as('offers'), hasToken.as('has_token')])
  if (search !== undefined) query = query.where('name', 'ilike', containing(search))
  if (after !== undefined) query = query.where('advertiser_id', '>', after)
  if (limit !== undefined) query = query.limit(limit)
  return query.orderBy('advertiser_id').execute()
}

/** The one with this ID, then those with this in their name. */
export const searchAdvertisers = (db: Db, text: string, limit: number) =>
  db
    .selectFrom('advertisers')
    .select(['advertiser_id', 'name'])
    .where((is) => is.or([is('name', 'ilike', containing(text)), is('advertiser_id', '=', idOf(text))]))
    .orderBy((is) => is('advertiser_id', '=', idOf(text)), 'desc')
    .orderBy('advertiser_id')
    .limit(limit)
    .execute()

/** Its tokens that work, without the tokens themselves: the newest first. */
export async function listTokens(db: Db, advertiserId: number, now: Date) {
  return db
    .selectFrom('advertiser_tokens')
    .select(['created_at', 'expires_at'])
    .where('advertiser_id', '=', advertiserId)
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', now)]))
    .orderBy('expires_at', (order) => order.desc().nullsFirst())
    .execute()
}
