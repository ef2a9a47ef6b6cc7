// The ledger: double entry, only ever added to. Positive amounts are debits, negative ones credits; the lines of a
// posting sum to zero.
//
//   pending conversion    advertiser_receivable +revenue   publisher_pending -payout   network_margin -(the rest)
//   approved conversion   advertiser_receivable +revenue   publisher_payable -payout   network_margin -(the rest)
//   payout                publisher_payable +amount        cash -amount
//   receipt               cash +amount                     advertiser_receivable -amount
//   credit to publisher   network_margin +amount           publisher_payable -amount
//   charge to advertiser  advertiser_receivable +amount    network_margin -amount
//
// The last two are adjustments: with a negative amount, a debit of a publisher and a credit to an advertiser. A void is a
// posting of the kind that it voids, with every sign turned round.
//
// Until the advertiser confirms a conversion, its revenue stands under advertiser_unconfirmed instead: only the publisher,
// or an advertiser that has not decided yet, has reported it.
//
// A rejected or reversed conversion stands for nothing. A move is posted as the difference between what stood before
// it and what stands after it, so the entries of a conversion always sum to what it is worth now.
import { type RawBuilder, sql } from 'kysely'
import { rowsLiteral } from '../../db/arrays.ts'
import type { Db, Trx } from '../../db/open.ts'
import { FIRST_OPEN_TIME, sumLines, sumLinesBefore } from './rollup.ts'

export type Account =
  | 'publisher_pending'
  | 'publisher_payable'
  | 'advertiser_receivable'
  | 'advertiser_unconfirmed'
  | 'network_margin'
  | 'cash'

/** The party of the network's own accounts. */
export const NETWORK = 0

export type Line = { account: Account; partyId: number; amountMicros: number }

export type Posting = {
  postingId: string
  kind: 'conversion' | 'payout' | 'receipt' | 'adjustment'
  conversionId: string | null
  reference: string | null
  /** The posting that this one voids. */
  voids?: string
  /** Of an adjustment or a void. */
  reason?: string
  createdAt: Date
  lines: Line[]
}

export type Worth = {
  status: 'pending' | 'approved'
  payoutMicros: number
  revenueMicros: number
  /** Confirmed by its advertiser. */
  isUnconfirmed?: boolean
}

type Parties = { publisherId: number; advertiserId: number }

/** Null amounts mean nothing is owed: not created yet, rejected or reversed. */
export type Change = Parties & {
  /** Names the posting, so it must be new, even where a pending conversion changes its amounts without an event. */
  eventId: string
  /** Set when there is no event: none of the conversion's times says when this was posted. */
  isCorrection?: boolean
  conversionId: string
  at: Date
  before: Worth | null
  after: Worth | null
}

/** The reference by which corrections are found: `ledger_entries_corrections` indexes no others. */
const CORRECTION = 'correction'

/** The posting for a change of a conversion, or null when it moves no money. */
export function movePosting(change: Change): Posting | null {
  const undone = linesOf(change.before, change).map((line) => ({ ...line, amountMicros: -line.amountMicros }))
  const lines = mergeLines([...undone, ...linesOf(change.after, change)])
  if (lines.length === 0) return null
  const { eventId, conversionId, at, isCorrection = false } = change
  const reference = isCorrection ? CORRECTION : null
  return { postingId: eventId, kind: 'conversion', conversionId, reference, createdAt: at, lines }
}

function linesOf(worth: Worth | null, { publisherId, advertiserId }: Parties): Line[] {
  if (worth === null) return []
  const { status, payoutMicros, revenueMicros, isUnconfirmed = false } = worth
  return [
    { account: `advertiser_${isUnconfirmed ? 'unconfirmed' : 'receivable'}`, partyId: advertiserId, amountMicros: revenueMicros },
    { account: `publisher_${status === 'pending' ? 'pending' : 'payable'}`, partyId: publisherId, amountMicros: -payoutMicros },
    { account: 'network_margin', partyId: NETWORK, amountMicros: payoutMicros - revenueMicros },
  ] // prettier-ignore
}

function mergeLines(lines: Line[]): Line[] {
  const same = Map.groupBy(lines, ({ account, partyId }) => `${account} ${partyId}`)
  return [...same.values()]
    .map((group) => ({
      ...(group[0] as Line),
      amountMicros: group.reduce((sum, { amountMicros }) => sum + amountMicros, 0),
    }))
    .filter(({ amountMicros }) => amountMicros !== 0)
}

/**
 * Writes postings in one statement, because the database checks per statement that each sums to zero. A transaction
 * gets its id before its entries get theirs, which rollup.ts relies on.
 */
export async function post(trx: Trx, postings: Posting[]): Promise<void> {
  if (postings.length === 0) return
  const lines = postings.flatMap(({ lines: ofOne, ...posting }) => ofOne.map((line) => rowOf(posting, line)))
  await sql`/* ledger-post */
    INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, conversion_id, reference, voids, reason, created_at)
    SELECT posting_id, kind, account, party_id, amount_micros, conversion_id, reference, voids, reason, greatest(created_at, ${FIRST_OPEN_TIME})
    FROM unnest(${rowsLiteral(LINE_COLUMNS, lines)}::ledger_line[])
    WHERE pg_current_xact_id() IS NOT NULL`.execute(trx)
}

/** The attributes of `ledger_line`. */
export const LINE_COLUMNS = [
  'posting_id', 'kind', 'account', 'party_id', 'amount_micros', 'conversion_id', 'reference', 'voids', 'reason', 'created_at',
] as const // prettier-ignore

const rowOf = (posting: Omit<Posting, 'lines'>, { account, partyId, amountMicros }: Line) => ({
  posting_id: posting.postingId,
  kind: posting.kind,
  account,
  party_id: partyId,
  amount_micros: amountMicros,
  conversion_id: posting.conversionId,
  reference: posting.reference,
  voids: posting.voids ?? null,
  reason: posting.reason ?? null,
  created_at: posting.createdAt,
})

/**
 * What a publisher is owed, and has been paid so far, less voided payouts. Reversals after a payout can make payable
 * negative.
 */
export type PublisherBalances = { pendingMicros: number; payableMicros: number; paidMicros: number }
/**
 * What an advertiser owes, negative when it has paid ahead; and what it would owe for conversions it has not confirmed.
 */
export type AdvertiserBalances = { receivableMicros: number; unconfirmedMicros: number }
/** All publishers and advertisers together: receivable + unconfirmed + cash = pending + payable + margin. */
export type NetworkBalances = {
  receivableMicros: number
  unconfirmedMicros: number
  cashMicros: number
  pendingMicros: number
  payableMicros: number
  marginMicros: number
}

type Party = { publisherId: number } | { advertiserId: number } | 'network'

export async function readBalances(db: Db, party: { publisherId: number }): Promise<PublisherBalances>
export async function readBalances(db: Db, party: { advertiserId: number }): Promise<AdvertiserBalances>
export async function readBalances(db: Db, party: 'network'): Promise<NetworkBalances>
export async function readBalances(db: Db, party: Party) {
  const { rows } = await balancesOf(party).execute(db)
  return rows[0]
}

// Each in one statement: entries that are being rolled up must be seen on one side only.
function balancesOf(party: Party): RawBuilder<PublisherBalances | AdvertiserBalances | NetworkBalances> {
  if (party === 'network') {
    return sql`SELECT ${debitOf('advertiser_receivable')} AS "receivableMicros",
      ${debitOf('advertiser_unconfirmed')} AS "unconfirmedMicros", ${debitOf('cash')} AS "cashMicros",
      ${creditOf('publisher_pending')} AS "pendingMicros", ${creditOf('publisher_payable')} AS "payableMicros",
      ${creditOf('network_margin')} AS "marginMicros"
      FROM (${sumLines(sql`true`)}) AS line`
  }
  if ('advertiserId' in party) {
    const isTheirs = sql<boolean>`account IN ('advertiser_receivable', 'advertiser_unconfirmed') AND party_id = ${party.advertiserId}`
    return sql`SELECT ${debitOf('advertiser_receivable')} AS "receivableMicros",
      ${debitOf('advertiser_unconfirmed')} AS "unconfirmedMicros" FROM (${sumLines(isTheirs)}) AS line`
  }
  const isTheirs = sql<boolean>`account IN ('publisher_pending', 'publisher_payable') AND party_id = ${party.publisherId}`
  // Payments are few and have their own index.
  return sql`SELECT ${creditOf('publisher_pending')} AS "pendingMicros", ${creditOf('publisher_payable')} AS "payableMicros",
    (SELECT coalesce(sum(amount_micros), 0)::bigint FROM ledger_entries WHERE kind = 'payout'
      AND account = 'publisher_payable' AND party_id = ${party.publisherId}) AS "paidMicros"
    FROM (${sumLines(isTheirs)}) AS line`
}

const debitOf = (account: Account) =>
  sql<number>`coalesce(sum(amount_micros) FILTER (WHERE account = ${account}), 0)::bigint`
const creditOf = (account: Account) => sql<number>`(-${debitOf(account)})`

/** What a publisher was owed at the start of a day (UTC). */
export async function readPayableBefore(db: Db, publisherId: number, day: string): Promise<number> {
  const isTheirs = sql<boolean>`account = 'publisher_payable' AND party_id = ${publisherId}`
  const { rows } = await sql<{ micros: number }>`
    SELECT ${creditOf('publisher_payable')} AS micros FROM (${sumLinesBefore(isTheirs, day)}) AS line`.execute(db)
  return rows[0]?.micros ?? 0
}

export type Owed = { pendingMicros: number; payableMicros: number }

/** What each of these publishers is owed now, payable and pending. */
export async function readOwed(db: Db, publisherIds: readonly number[]): Promise<Map<number, Owed>> {
  const isTheirs = sql<boolean>`account IN ('publisher_pending', 'publisher_payable') AND party_id = ANY (${[...publisherIds]}::bigint[])`
  const { rows } = await sql<Owed & { party_id: number }>`
    SELECT party_id, ${creditOf('publisher_pending')} AS "pendingMicros", ${creditOf('publisher_payable')} AS "payableMicros"
    FROM (${sumLines(isTheirs)}) AS line GROUP BY party_id`.execute(db)
  const found = new Map(rows.map(({ party_id, ...owed }) => [party_id, owed]))
  return new Map(publisherIds.map((id) => [id, found.get(id) ?? { pendingMicros: 0, payableMicros: 0 }]))
}
