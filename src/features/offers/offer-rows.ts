// Offers and their goals as the catalogue takes them: read as bytes, encoded while they arrive, without an object for
// each. Everything that the catalogue knows of an offer comes through here, at the start and after a change.
import { sql } from 'kysely'
import type pg from 'pg'
import type { Since } from '../../db/changes.ts'
import { type CopiedRow, copyRows } from '../../db/copy-rows.ts'
import type { Database } from '../../db/open.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import {
  BytesWriter,
  DETAIL_COLUMNS,
  GOAL_COLUMNS,
  placeAmong,
  writeDetails,
  writeGoal,
  type WrittenGoals,
} from './offer-bytes.ts'
import { CATEGORIES, PLATFORMS } from './choices.ts'
import { ANY_COUNTRY, CATEGORY_SHIFT, COUNTRY_WORDS, EVERY_COUNTRY, PAID } from './traits.ts'

/** An offer in the terms of the catalogue. */
export type OfferRow = {
  offerId: number
  changedXid: number
  popularity: number
  /** In recommended lists; 0: excluded from them. */
  boostPercent: number
  /** Its position in recommended lists; 0: none. */
  pin: number
  payoutMicros: number
  createdMs: number
  isActive: boolean
  /** Another one is listed in its place. */
  isBehind: boolean
  startsAtMs: number
  endsAtMs: number
  /** Closed by its caps until then. */
  fullUntilMs: number
  /** Its platforms and category, and whether it costs something: the bits of `Slots.traits`. */
  traits: number
  /** A bit for each country. */
  countries: Uint32Array
  /** See offer-bytes.ts. */
  details: Uint8Array
}

/** All offers: how many about, and each of them, overwritten after the call. */
export type AllOffers = {
  count: () => Promise<number>
  read: (take: (offer: OfferRow) => void) => Promise<void>
}

const PAGE = 10_000
const READERS = 2
const CHANGED_PAGE = 2_000
const COLUMNS = `offer_id, changed_xid, popularity,
  CASE WHEN is_excluded THEN 0 ELSE boost_percent::integer END, pin_position::integer, payout_micros, created_at, status = 'active', behind_offer_id IS NOT NULL, starts_at, ends_at,
  greatest(full_until, budget_until), category, platforms, payment_required, countries, ${DETAIL_COLUMNS.join(', ')}`
const CATEGORY_BYTES = CATEGORIES.map((name) => Buffer.from(name))
const PLATFORM_BYTES = PLATFORMS.map((name) => Buffer.from(name))
/** The place of each country by its two letters, plus one. */
const COUNTRY_PLACES = new Uint8Array(2 ** 16)
for (const [place, code] of COUNTRIES.entries()) COUNTRY_PLACES[Buffer.from(code).readUInt16BE()] = place + 1

/**
 * By two connections at a time: PostgreSQL takes longer to send an offer than the catalogue to take it. A page is one
 * short transaction, so that nothing holds back what others tidy up.
 */
export const allOffers = ({ db, pool }: Pick<Database, 'db' | 'pool'>): AllOffers => ({
  async count() {
    const { count } = await db
      .selectFrom('offers')
      .select((is) => is.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count
  },
  async read(take) {
    const pages = new Pages()
    const readPages = () =>
      withClient(pool, async (client) => {
        const reader = new OfferReader()
        for (let page = await pages.next(client); page !== null; page = await pages.next(client))
          await reader.read(client, `offer_id > ${page.after} AND offer_id <= ${page.last}`, take)
      }).catch((error: unknown) => {
        pages.end() // nothing is taken any more once this has failed
        throw error
      })
    const ended = await Promise.allSettled(Array.from({ length: READERS }, readPages))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  },
})

type Page = { after: number; last: number }

/** Gives out all offers by their ids, a page at a time. */
class Pages {
  #isEnded = false
  /** The last id given out; null after the last page. */
  #last: Promise<number | null> = Promise.resolve(0)

  next(client: pg.ClientBase): Promise<Page | null> {
    const page = this.#last.then((after) => (after === null || this.#isEnded ? null : findPage(client, after)))
    this.#last = page.then(
      (found) => found?.last ?? null,
      () => null,
    )
    return page
  }

  end(): void {
    this.#isEnded = true
  }
}

async function findPage(client: pg.ClientBase, after: number): Promise<Page | null> {
  const { rows } = await client.query<{ last: number | null }>(
    `SELECT max(offer_id) AS last FROM (SELECT offer_id FROM offers WHERE offer_id > $1 ORDER BY offer_id LIMIT ${PAGE}) page`,
    [after],
  )
  const last = rows[0]?.last ?? null
  return last === null ? null : { after, last }
}

/** The offers changed since then, a batch at a time. */
export async function* readChangedOffers(
  { db, pool }: Pick<Database, 'db' | 'pool'>,
  since: Since,
): AsyncGenerator<OfferRow[]> {
  const reader = new OfferReader()
  for (const isNewer of since.parts) {
    for (let after = { xid: '0', id: -1 }; ;) {
      const rows = await db
        .selectFrom('offers')
        .select(['offer_id', 'changed_xid'])
        .where(isNewer)
        .where(sql<boolean>`(changed_xid, offer_id) > (${after.xid}::xid8, ${after.id}::bigint)`)
        .orderBy('changed_xid')
        .orderBy('offer_id')
        .limit(CHANGED_PAGE)
        .execute()
      const last = rows.at(-1)
      if (last === undefined) break
      const among = `offer_id = ANY ('{${rows.map((row) => row.offer_id).join()}}')`
      const changed: OfferRow[] = []
      await withClient(pool, (client) => reader.read(client, among, (offer) => changed.push(copyOf(offer))))
      yield changed
      if (rows.length < CHANGED_PAGE) break
      after = { xid: last.changed_xid, id: last.offer_id }
    }
  }
}

const copyOf = (offer: OfferRow): OfferRow => ({
  ...offer,
  countries: offer.countries.slice(),
  details: offer.details.slice(),
})

async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    const result = await work(client)
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** Puts offers and their goals together: goals come first, encoded, and wait for their offer. Both ascend by its id. */
export class OfferReader {
  readonly #goals = new GoalPage()
  readonly #details = new BytesWriter()
  readonly #offer: OfferRow = {
    offerId: 0,
    changedXid: 0,
    popularity: 0,
    boostPercent: 100,
    pin: 0,
    payoutMicros: 0,
    createdMs: 0,
    isActive: false,
    isBehind: false,
    startsAtMs: -Infinity,
    endsAtMs: Infinity,
    fullUntilMs: -Infinity,
    traits: 0,
    countries: new Uint32Array(COUNTRY_WORDS),
    details: new Uint8Array(0),
  }

  async read(client: pg.ClientBase, among: string, take: (offer: OfferRow) => void): Promise<void> {
    this.#goals.clear()
    await copyRows(client, [
      {
        sql: `SELECT offer_id, ${GOAL_COLUMNS} FROM goals WHERE ${among} AND NOT is_retired ORDER BY offer_id, place, goal_id`,
        take: (row) => this.takeGoal(row),
      },
      {
        sql: `SELECT ${COLUMNS} FROM offers WHERE ${among} ORDER BY offer_id`,
        take: (row) => take(this.takeOffer(row)),
      },
    ])
  }

  takeGoal(row: CopiedRow): void {
    this.#goals.add(row)
  }

  /** Good until the next one is taken. */
  takeOffer(row: CopiedRow): OfferRow {
    const offer = this.#offer
    offer.offerId = row.int8() ?? 0
    offer.changedXid = row.int8() ?? 0
    offer.popularity = row.int4() ?? 0
    offer.boostPercent = row.int4() ?? 0
    offer.pin = row.int4() ?? 0
    offer.payoutMicros = row.int8() ?? 0
    offer.createdMs = row.time() ?? 0
    offer.isActive = row.bool()
    offer.isBehind = row.bool()
    offer.startsAtMs = row.time() ?? -Infinity
    offer.endsAtMs = row.time() ?? Infinity
    offer.fullUntilMs = row.time() ?? -Infinity // a total cap that is full gives Infinity
    let traits = placeAmong(CATEGORY_BYTES, row) << CATEGORY_SHIFT
    for (let left = row.elements(); left > 0; left--) traits |= 1 << placeAmong(PLATFORM_BYTES, row)
    offer.traits = row.bool() ? traits | PAID : traits
    readCountries(row, offer.countries)
    this.#details.clear()
    writeDetails(this.#details, row, this.#goals.of(offer.offerId))
    offer.details = this.#details.written.subarray(0, this.#details.length)
    return offer
  }
}

function readCountries(row: CopiedRow, words: Uint32Array): void {
  const count = row.elements()
  words.fill(count === 0 ? EVERY_COUNTRY : 0)
  words[ANY_COUNTRY >> 5]! |= 1 << (ANY_COUNTRY & 31)
  for (let left = count; left > 0; left--) {
    const start = row.pass(row.next())
    const code = ((row.bytes[start] as number) << 8) | (row.bytes[start + 1] as number)
    const place = (COUNTRY_PLACES[code] as number) - 1
    if (place >= 0) words[place >> 5]! |= 1 << (place & 31)
  }
}

/** The goals of a page of offers, encoded, in the order of their offers. */
class GoalPage {
  readonly #out = new BytesWriter()
  readonly #offerIds: number[] = []
  readonly #starts: number[] = []
  #next = 0
  readonly #found: WrittenGoals = { count: 0, bytes: this.#out.written, start: 0, end: 0 }

  clear(): void {
    this.#out.clear()
    this.#offerIds.length = 0
    this.#starts.length = 0
    this.#next = 0
  }

  add(row: CopiedRow): void {
    this.#offerIds.push(row.int8() ?? 0)
    this.#starts.push(this.#out.length)
    writeGoal(this.#out, row)
  }

  /** Those of this offer, which must come behind the one asked for before. */
  of(offerId: number): WrittenGoals {
    const [ids, found] = [this.#offerIds, this.#found]
    while (this.#next < ids.length && (ids[this.#next] as number) < offerId) this.#next++
    const first = this.#next
    while (ids[this.#next] === offerId) this.#next++
    found.count = this.#next - first
    found.bytes = this.#out.written
    found.start = this.#starts[first] ?? this.#out.length
    found.end = this.#starts[this.#next] ?? this.#out.length
    return found
  }
}
