// The rows of exports, in the order of their positions. A row is read the same ever after, but for what is erased, or known
// later.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { MICROS_PER_USD, multiplierOf, toLocal } from '../../lib/money.ts'

/** Of the fields. It is raised when one is renamed, removed or changes its meaning. */
export const SCHEMA_VERSION = 1

export const KINDS = ['clicks', 'conversion_events'] as const
export type Kind = (typeof KINDS)[number]

/** After one position, up to another: a number, or of clicks without one their ID. */
export type Range<Position = number | string> = { after: Position; upTo: Position }
export type ExportedRow = { position: number | null; at: Date; fields: Record<string, unknown> }

const time = (at: Date | null) => at?.toISOString() ?? null
/** With all decimals, so that sums are exact. */
const usd = (micros: number) => micros / MICROS_PER_USD

/** A range is a few rows of very many. Whatever PostgreSQL believes about their number, no table is read as a whole. */
const readByIndex = <Row>(db: Db, query: RawBuilder<Row>): Promise<Row[]> =>
  db.transaction().execute(async (trx) => {
    await sql`SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true)`.execute(trx)
    return (await query.execute(trx)).rows
  })

const CLICK_COLUMNS = sql`c.click_no, c.click_id, c.clicked_at, c.app_id, a.publisher_id, c.offer_id, o.advertiser_id, c.user_id, c.request_id,
  c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4, host(c.ip) AS ip, c.country, c.device, c.os, c.signals, c.currency, c.multiplier_ppm,
  c.locker_id, c.is_test`
const OF_CLICKS = sql`LEFT JOIN apps a ON a.app_id = c.app_id LEFT JOIN offers o ON o.offer_id = c.offer_id`

type ClickRow = {
  click_no: number | null
  click_id: string
  clicked_at: Date
  signals: string[] | null
  multiplier_ppm: number | null
  [field: string]: unknown
}

export async function readClicks(db: Db, { after, upTo }: Range<number>): Promise<ExportedRow[]> {
  const query = sql<ClickRow>`SELECT ${CLICK_COLUMNS} FROM clicks c ${OF_CLICKS}
    WHERE c.click_no > ${after}::bigint AND c.click_no <= ${upTo}::bigint ORDER BY c.click_no`
  return (await readByIndex(db, query)).map(presentClick)
}

/** Those from before clicks had numbers. */
export async function readOldClicks(db: Db, { after, upTo }: Range<string>): Promise<ExportedRow[]> {
  const query = sql<ClickRow>`SELECT ${CLICK_COLUMNS} FROM clicks c ${OF_CLICKS}
    WHERE c.click_id > ${after}::uuid AND c.click_id <= ${upTo}::uuid AND c.click_no IS NULL ORDER BY c.click_id`
  return (await readByIndex(db, query)).map(presentClick)
}

function presentClick({ click_no, clicked_at, signals, multiplier_ppm, ...rest }: ClickRow): ExportedRow {
  return {
    position: click_no,
    at: clicked_at,
    fields: {
      position: click_no,
      clicked_at: time(clicked_at),
      ...rest,
      signals: signals ?? [],
      multiplier: multiplierOf(multiplier_ppm),
    },
  }
}

type EventRow = {
  seq: number
  event_at: Date
  payout_micros: number
  revenue_micros: number
  rate_micros: number
  rounding: string | null
  multiplier_ppm: number | null
  click_at: Date | null
  created_at: Date
  approved_at: Date | null
  rejected_at: Date | null
  reversed_at: Date | null
  hold_until: Date | null
  [field: string]: unknown
}

export async function readConversionEvents(db: Db, { after, upTo }: Range<number>): Promise<ExportedRow[]> {
  const query = sql<EventRow>`
    SELECT f.seq, e.event_id, e.created_at AS event_at, e.sequence, e.actor, e.conversion_id, e.app_id, c.publisher_id, c.offer_id,
      c.advertiser_id, c.goal_id, c.user_id, e.status, e.status_reason, c.source, e.publisher_transaction_id, c.advertiser_transaction_id,
      e.payout_micros, e.revenue_micros, e.currency, e.rate_micros, e.rounding, e.multiplier_ppm, e.locker_id, e.aff_sub, e.aff_sub2,
      e.aff_sub3, e.aff_sub4, e.click_id, e.click_at, host(e.ip) AS ip, e.country, e.device, e.hold_until, c.created_at, e.approved_at,
      e.rejected_at, e.reversed_at, e.is_test
    FROM event_feed f
    JOIN conversion_events e ON e.conversion_id = f.conversion_id AND e.sequence = f.sequence
    JOIN conversions c ON c.conversion_id = f.conversion_id
    WHERE f.seq > ${after}::bigint AND f.seq <= ${upTo}::bigint ORDER BY f.seq`
  return (await readByIndex(db, query)).map(presentEvent)
}

function presentEvent(row: EventRow): ExportedRow {
  const { seq, event_at, payout_micros, revenue_micros, rate_micros, rounding, multiplier_ppm, ...rest } = row
  return {
    position: seq,
    at: event_at,
    fields: {
      position: seq,
      event_at: time(event_at),
      ...rest,
      payout: usd(payout_micros),
      payout_local: toLocal(payout_micros, rate_micros, rounding),
      revenue: usd(revenue_micros),
      multiplier: multiplierOf(multiplier_ppm),
      click_at: time(row.click_at),
      created_at: time(row.created_at),
      approved_at: time(row.approved_at),
      rejected_at: time(row.rejected_at),
      reversed_at: time(row.reversed_at),
      hold_until: time(row.hold_until),
    },
  }
}
