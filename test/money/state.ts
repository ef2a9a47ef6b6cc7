// What the database has of a run, in the words of the book. One statement: it is asked after every step.
import type pg from 'pg'
import { camelColumns } from '../../src/db/camel-case.ts'
import type { Database } from '../../src/db/open.ts'
import { COLUMNS, conversionOfJson } from '../../src/features/conversions/conversions.ts'
import { dayNumber } from '../../src/features/offers/caps.ts'
import type { Money, OfferUsage } from './book.ts'
import { type Entry, grouped } from './entries.ts'
import { type Goal, type OfferTerms, PEOPLE } from './actions.ts'
import type { System } from './system.ts'

export type State = { entries: Entry[]; offers: OfferTerms[]; usage: OfferUsage[]; money: Money }

type Row = {
  conversions: Record<string, unknown>[]
  offers: OfferRow[]
  usage: (Omit<OfferUsage, 'offer'> & { offer_id: number })[]
  sums: { account: string; party_id: number; micros: number }[]
}
type OfferRow = Omit<OfferTerms, 'goals'> & { goals: (Omit<Goal, 'key'> & { goal_id: number })[]; terms_id: number }

const list = (query: string) => `coalesce((SELECT json_agg(row_to_json(x)) FROM (${query}) x), '[]')`
const used = (row: string) =>
  `json_build_object('clicks', coalesce(${row}.clicks, 0), 'conversions', coalesce(${row}.conversions, 0),
    'payoutMicros', coalesce(${row}.payout_micros, 0), 'revenueMicros', coalesce(${row}.revenue_micros, 0)) AS ${row}`

const QUERY = `/* money-state */ SELECT
  ${list(`SELECT ${camelColumns('c', COLUMNS)} FROM conversions c WHERE app_id = ANY ($1) ORDER BY conversion_id`)} AS conversions,
  ${list(`SELECT status, attribution_s AS "attributionS", hold_s AS "holdS", over_cap AS "overCap", terms_id,
    confirm_within_s AS "confirmWithinS", redo_after_reversal AS redo,
    json_build_object('dailyClicks', daily_click_cap, 'totalClicks', total_click_cap, 'dailyConversions', daily_conversion_cap,
      'totalConversions', total_conversion_cap, 'dailyPayoutMicros', daily_payout_cap_micros,
      'totalPayoutMicros', total_payout_cap_micros, 'dailyRevenueMicros', daily_revenue_cap_micros,
      'totalRevenueMicros', total_revenue_cap_micros) AS caps,
    (SELECT json_agg(json_build_object('goal_id', goal_id, 'name', name, 'payoutMicros', payout_micros,
      'revenueMicros', revenue_micros, 'payoutPpm', payout_ppm, 'revenuePpm', revenue_ppm, 'isRepeatable', is_repeatable) ORDER BY place)
      FROM goals g WHERE g.offer_id = o.offer_id AND NOT is_retired) AS goals
    FROM offers o WHERE offer_id = ANY ($2) ORDER BY offer_id`)} AS offers,
  ${list(`SELECT o.offer_id, coalesce(o.full_until > $4, false) AS "isFull", ${used('today')}, ${used('total')}
    FROM offers o
    LEFT JOIN offer_usage today ON today.offer_id = o.offer_id AND today.day = $5
    LEFT JOIN offer_usage total ON total.offer_id = o.offer_id AND total.day = 0
    WHERE o.offer_id = ANY ($2) AND o.is_capped ORDER BY o.offer_id`)} AS usage,
  ${list(`SELECT account, party_id, sum(amount_micros) AS micros FROM ledger_entries
    WHERE account IN ('publisher_pending', 'publisher_payable') AND party_id = ANY ($3)
      OR account IN ('advertiser_receivable', 'advertiser_unconfirmed') AND party_id = $6 GROUP BY 1, 2`)} AS sums`

/** Gives `work` a connection that plans the statement once: by its own choice, the server plans it each time. */
export async function withReader(
  { pool }: Pick<Database, 'pool'>,
  work: (reader: pg.PoolClient) => Promise<void>,
): Promise<void> {
  const reader = await pool.connect()
  try {
    await reader.query('SET plan_cache_mode = force_generic_plan')
    await work(reader)
  } finally {
    await reader.query('RESET plan_cache_mode')
    reader.release()
  }
}

export async function readState(system: System, now: Date): Promise<State> {
  const { rows } = await system.reader.query<Row>(QUERY, [
    system.apps.map((app) => app.appId),
    system.offerIds,
    system.apps.map((app) => app.publisherId),
    now,
    dayNumber(now),
    system.advertiserId,
  ])
  const { conversions, offers, usage, sums } = rows[0] as Row
  system.termsIds = offers.map((row) => row.terms_id)
  return {
    entries: readEntries(system, conversions),
    offers: offers.map(({ goals, ...row }) => ({
      ...termsOf(row),
      goals: goals.map(({ goal_id, ...goal }) => ({ key: system.goalKey(goal_id), ...goal })),
    })),
    usage: usage.map(({ offer_id, ...used }) => ({ offer: system.offerIds.indexOf(offer_id), ...used })),
    money: readMoney(system, sums),
  }
}

const termsOf = ({ status, attributionS, holdS, overCap, confirmWithinS, redo, caps }: Omit<OfferTerms, 'goals'>) => ({
  status,
  attributionS,
  holdS,
  overCap,
  confirmWithinS,
  redo,
  caps,
})

function readMoney(system: System, sums: Row['sums']): Money {
  const find = (account: string, party: number) =>
    sums.find((one) => one.account === account && one.party_id === party)?.micros ?? 0
  return {
    pending: system.apps.map(({ publisherId }) => 0 - find('publisher_pending', publisherId)),
    payable: system.apps.map(({ publisherId }) => 0 - find('publisher_payable', publisherId)),
    receivable: find('advertiser_receivable', system.advertiserId),
    unconfirmed: find('advertiser_unconfirmed', system.advertiserId),
  }
}

function readEntries(system: System, conversions: Row['conversions']): Entry[] {
  const clicks = new Map([...system.clickIds].map(([label, id]) => [id, label]))
  const entries = conversions.map(conversionOfJson).map((row) => ({
    label: system.labels.get(row.conversionId) ?? -1,
    person: PEOPLE.findIndex(({ app }, i) => system.appId(app) === row.appId && system.userId(i) === row.userId),
    offer: system.offerIds.indexOf(row.offerId),
    isTest: row.isTest,
    goal: system.goalKey(row.goalId),
    isRepeatable: row.isRepeatable,
    isFirstGoal: row.isFirstGoal,
    isAdvertiserReported: row.toldAt !== null,
    isOfBanned: row.signals.includes('banned_user'),
    barsRedo: row.barsRedo,
    confirmByMs: row.confirmBy?.getTime() ?? null,
    rejectedAtMs: row.rejectedAt?.getTime() ?? null,
    reversedAtMs: row.reversedAt?.getTime() ?? null,
    publisherTxn: row.publisherTransactionId,
    advertiserTxn: row.advertiserTransactionId,
    isConfirmed: row.confirmedAt !== null,
    holdUntilMs: row.holdUntil?.getTime() ?? null,
    createdAtMs: row.createdAt.getTime(),
    moves: row.sequence,
    payoutMicros: row.payoutMicros,
    revenueMicros: row.revenueMicros,
    status: row.status,
    reason: row.statusReason,
    actor: row.actor,
    source: row.source as Entry['source'],
    click: row.clickId === null ? null : (clicks.get(row.clickId) ?? -1),
  }))
  return grouped(entries)
}
