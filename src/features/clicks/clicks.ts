// Clicks: recorded before the user is sent on, in groups, or in the spool while the database is unavailable.
//
// Clicks on offers without caps go in by one statement a group. For a capped offer the usage is locked, and what no
// longer fits is refused. What comes late out of the spool is counted, but not refused: its user was sent on long ago.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type pg from 'pg'
import { rowsLiteral } from '../../db/arrays.ts'
import { withRetry } from '../../db/pg-errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../db/partitions.ts'
import { type Found, search } from '../../db/search.ts'
import type { Spool } from '../../db/spool.ts'
import { type BatchCounts, type RowOrigin, untraced } from '../../db/batch-writer.ts'
import { SpooledWriter } from '../../db/spooled-writer.ts'
import type { Clicks as ClickTable } from '../../db/tables.ts'
import { clickRequest } from '../../http/request-ids.ts'
import { isUuid } from '../../lib/uuid7.ts'
import type { FindErased } from '../apps/erased-users.ts'
import { withoutErased } from './erased-clicks.ts'
import { addUsage, dayNumber, isFull, lockCaps, lockUsage, readCaps, refreshFull } from '../offers/caps.ts'

const QUERY_TIMEOUT_MS = 3_000
const CONCURRENCY = 2

/** A row of the table, and a line of the spool. */
export type Click = {
  click_id: string
  clicked_at: string
  app_id: number
  is_test: boolean
  user_id: string
  offer_id: number
  terms_id: number
  currency: string
  rate_micros: number
  /** Of what the offer pays, the publisher's; null: all of it. */
  share_ppm: number | null
  request_id: string
  aff_sub: string | null
  aff_sub2: string | null
  aff_sub3: string | null
  aff_sub4: string | null
  ip: string | null
  country: string | null
  device: string | null
  os: string | null
  signals: string[] | null
  /** Of rewards; null: down to four decimals. */
  rounding?: string | null
  /** Of the sale that was on, and is in the rate; null: none was. */
  multiplier_ppm?: number | null
  /** The locker that the link was in; null: none. */
  locker_id?: number | null
}

/** Those of `locker_click_row`. */
export const COLUMNS = [
  'click_id', 'clicked_at', 'app_id', 'is_test', 'user_id', 'offer_id', 'terms_id', 'currency', 'rate_micros', 'share_ppm', 'request_id',
  'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'ip', 'country', 'device', 'os', 'signals',
  'rounding', 'multiplier_ppm', 'locker_id',
] as const satisfies (keyof Click)[] // prettier-ignore

/** The clicks that statistics count: live ones, not of bots. */
export const IS_COUNTED = sql<boolean>`NOT is_test AND ('bot' = ANY (signals)) IS NOT TRUE`

/** Full: a cap was reached meanwhile, and nothing was recorded. */
export type ClickOutcome = 'recorded' | 'full'

export class Clicks {
  readonly #writer: SpooledWriter<Click, ClickOutcome>

  constructor(
    database: { db: Db; pool: pg.Pool },
    spool: Spool<Click>,
    findErased: FindErased,
    warn: (message: string) => void,
    traceBatch = untraced,
  ) {
    this.#writer = new SpooledWriter({
      write: traceBatch('clicks', (clicks: Click[]) => recordClicks(database, clicks, new Date()), originOf),
      writeLate: async (clicks) => recordLateClicks(database.db, await withoutErased(clicks, findErased), new Date()),
      spool,
      spooled: 'recorded',
      concurrency: CONCURRENCY,
      requestOf: ({ click_id }) => clickRequest(click_id),
      warn,
    })
  }

  /** Resolves when it is on disk. Throws when that cannot be, neither in the database nor in the spool. */
  record(click: Click): Promise<ClickOutcome> {
    return this.#writer.save(click)
  }

  replaySpool(): Promise<number> {
    return this.#writer.replay()
  }

  get counts(): BatchCounts {
    return this.#writer.counts
  }

  close(): Promise<void> {
    return this.#writer.close()
  }
}

/** The list that it followed is another request. */
const originOf = ({ click_id, request_id }: Click): RowOrigin => ({
  requestId: clickRequest(click_id),
  link: request_id,
})

export async function recordClicks(
  { db, pool }: { db: Db; pool: pg.Pool },
  clicks: Click[],
  now: Date = new Date(),
): Promise<ClickOutcome[]> {
  return withPartitions(db, clicks, async () => {
    const { rows } = await pool.query<{ click_id: string }>({
      text: '/* add-clicks */ SELECT add_clicks($1::locker_click_row[], $2::bigint[]) AS click_id',
      values: [rowsLiteral(COLUMNS, clicks), liveOffers(clicks)],
      query_timeout: QUERY_TIMEOUT_MS,
    } as pg.QueryConfig)
    if (rows.length === 0) return clicks.map(() => 'recorded' as const)
    const capped = new Set(rows.map((row) => row.click_id))
    const full = await recordCappedClicks(
      db,
      clicks.filter((click) => capped.has(click.click_id)),
      now,
    )
    return clicks.map((click) => (full.has(click.click_id) ? 'full' : 'recorded'))
  })
}

const liveOffers = (clicks: Click[]) => [
  ...new Set(clicks.filter((click) => !click.is_test).map((click) => click.offer_id)),
]

/** Records as many as there is room for; returns the ids of the others. */
async function recordCappedClicks(db: Db, clicks: Click[], now: Date): Promise<Set<string>> {
  const full = new Set<string>()
  // Each day separately: a transaction that locked one day's usage after another's could deadlock with one that did the
  // same.
  for (const [day, ofDay] of byDay(clicks)) {
    const refused = await withRetry(() => db.transaction().execute((trx) => recordWhileOpen(trx, day, ofDay, now)))
    for (const clickId of refused) full.add(clickId)
  }
  return full
}

async function recordWhileOpen(trx: Trx, day: number, clicks: Click[], now: Date): Promise<string[]> {
  await lockCaps(trx)
  const offerIds = [...new Set(clicks.map((click) => click.offer_id))]
  const usage = await lockUsage(trx, offerIds, day)
  const caps = await readCaps(trx, offerIds)
  const known = await findClicks(trx, clicks)
  const taken: Click[] = []
  const full: string[] = []
  for (const click of clicks) {
    const used = usage.get(click.offer_id)
    const limits = caps.get(click.offer_id)
    if (known.has(click.click_id)) continue // written by an attempt whose answer was lost
    if (used === undefined || limits === undefined) throw new Error(`Offer ${click.offer_id} has no usage.`)
    if (isFull(limits, used.today, used.total) !== 'no') full.push(click.click_id)
    else {
      taken.push(click)
      used.today.clicks += clicksToCount(click)
      used.total.clicks += clicksToCount(click)
    }
  }
  // A cap may have gone since it was noticed: then nothing is counted any more.
  const capped = offerIds.filter((id) => Object.values(caps.get(id) ?? {}).some((cap) => cap !== null))
  await insertAndCount(trx, taken, capped)
  await refreshFull(trx, offerIds, now) // also when nothing was taken: a full offer must not stay in the lists
  return full
}

/** `now`, not the time of the clicks, says whether their offers are full: yesterday's do not open what is full today. */
export async function recordLateClicks(db: Db, clicks: Click[], now: Date): Promise<void> {
  const record = async (trx: Trx) => {
    await lockCaps(trx)
    const { rows } = await sql<{ offer_id: number }>`
      SELECT offer_id FROM offers WHERE is_capped AND offer_id = ANY (${clicks.map((click) => click.offer_id)})`.execute(
      trx,
    )
    const known = await findClicks(trx, clicks)
    const unknown = clicks.filter((click) => !known.has(click.click_id))
    const capped = rows.map((row) => row.offer_id)
    const counted = await insertAndCount(trx, unknown, capped)
    await refreshFull(trx, counted, now) // of no others: only of these the usage is locked
  }
  await withPartitions(db, clicks, () => withRetry(() => db.transaction().execute(record)))
}

/** Suspected bots are recorded, but do not count towards caps. */
const clicksToCount = (click: Click) => (click.is_test || click.signals?.includes('bot') ? 0 : 1)

/** Returns the offers whose usage it counted up. */
async function insertAndCount(trx: Trx, clicks: Click[], cappedOffers: number[]): Promise<number[]> {
  if (clicks.length === 0) return []
  const { rows } = await sql<{ click_id: string }>`
    INSERT INTO clicks (${sql.raw(COLUMNS.join(', '))}) SELECT * FROM unnest(${rowsLiteral(COLUMNS, clicks)}::locker_click_row[])
    ON CONFLICT DO NOTHING RETURNING click_id`.execute(trx)
  const inserted = new Set(rows.map((row) => row.click_id))
  const counted = clicks.filter((click) => inserted.has(click.click_id) && cappedOffers.includes(click.offer_id))
  const deltas = [...byDay(counted)].flatMap(([day, ofDay]) =>
    [...Map.groupBy(ofDay, (click) => click.offer_id)].map(([offerId, ofOffer]) => ({
      offerId,
      day,
      clicks: ofOffer.reduce((sum, click) => sum + clicksToCount(click), 0),
      conversions: 0,
      payoutMicros: 0,
      revenueMicros: 0,
    })),
  )
  await addUsage(trx, deltas)
  return [...new Set(deltas.map((delta) => delta.offerId))]
}

async function findClicks(trx: Trx, clicks: Click[]): Promise<Set<string>> {
  const ids = clicks.map((click) => click.click_id)
  const { rows } = await sql<{ click_id: string }>`
    SELECT c.click_id FROM unnest(${ids}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (SELECT click_id FROM clicks WHERE click_id = wanted.id) c`.execute(trx)
  return new Set(rows.map((row) => row.click_id))
}

const byDay = (clicks: Click[]) =>
  [...Map.groupBy(clicks, (click) => dayNumber(new Date(click.clicked_at)))].toSorted(([a], [b]) => a - b)

/** Retries after creating missing partitions: for a spool that waited long, or a worker that did not run. */
async function withPartitions<T>(db: Db, clicks: Click[], write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(
      db,
      'clicks',
      clicks.map((click) => Date.parse(click.clicked_at)),
    )
    return write()
  }
}

export type ClickFilter = { appId?: number; userId?: string; offerId?: number; isTest?: boolean; before?: string }

const LISTED_COLUMNS = [
  'click_id', 'clicked_at', 'app_id', 'user_id', 'offer_id', 'country', 'device', 'os', 'signals', 'is_test',
] as const satisfies (keyof ClickTable)[] // prettier-ignore
const LISTED = sql.raw(LISTED_COLUMNS.join(', '))

export type ListedClick = Pick<Selectable<ClickTable>, (typeof LISTED_COLUMNS)[number]>

/** Newest first. A user is found in each app by the index; anything else on the way back in time. */
export function searchClicks(db: Db, filter: ClickFilter, limit: number): Promise<Found<ListedClick>> {
  const { appId, userId, offerId, isTest, before } = filter
  const filters: RawBuilder<boolean>[] = []
  if (offerId !== undefined) filters.push(sql`offer_id = ${offerId}::bigint`)
  if (isTest !== undefined) filters.push(sql`is_test = ${isTest}`)
  const isBefore = before === undefined ? sql`true` : sql`click_id < ${before}::uuid`
  if (userId === undefined) {
    if (appId !== undefined) filters.push(sql`app_id = ${appId}::bigint`)
    const walk = () => sql`SELECT ${LISTED} FROM clicks WHERE ${isBefore}`
    return search(db, { walk, id: 'click_id', filters }, limit)
  }
  const apps = appId === undefined ? sql`true` : sql`apps.app_id = ${appId}::bigint`
  const walk = (byId: RawBuilder<unknown>, most: number) => sql`
    SELECT c.* FROM apps CROSS JOIN LATERAL (SELECT ${LISTED} FROM clicks
      WHERE clicks.app_id = apps.app_id AND clicks.user_id = ${userId} AND ${isBefore} ${byId} LIMIT ${most}::integer) AS c WHERE ${apps}`
  return search(db, { walk, id: 'click_id', filters }, limit)
}

/** Whether a click is kept under this ID, in whatever app. */
export async function hasClick(db: Db, clickId: string): Promise<boolean> {
  const query = db.selectFrom('clicks').select('click_id').where('click_id', '=', clickId)
  return isUuid(clickId) && (await query.executeTakeFirst()) !== undefined
}

/** One click as the history of its conversion shows it; null once it is dropped. */
export async function findClick(db: Db, clickId: string, appId: number) {
  const click = await db
    .selectFrom('clicks')
    .select(['click_id', 'clicked_at', 'request_id', 'country', 'device', 'os', 'signals'])
    .select(['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'])
    .where('click_id', '=', clickId)
    .where('app_id', '=', appId)
    .executeTakeFirst()
  return click ?? null
}
