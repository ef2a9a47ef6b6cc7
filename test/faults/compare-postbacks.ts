// What must be true of postbacks when everything was delivered, whatever was killed before.
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Db } from '../../src/db/open.ts'
import type { Arrival } from './moody-receiver.ts'
import { none } from './none.ts'
import type { Traffic } from './traffic.ts'

/** Users for whom something was sent, and the conversions that were acknowledged: as approved, and as reversed. */
export type Acknowledged = Readonly<Record<'attempted' | 'approved' | 'reversed', ReadonlySet<string>>>

/** Each conversion that was acknowledged to this traffic was sent, signed, in order, and with one ID. */
export async function comparePostbacks(db: Db, arrivals: readonly Arrival[], traffic: Traffic): Promise<void> {
  const { attempted, converted } = traffic
  compareWithAcknowledged(arrivals, { attempted, approved: new Set(converted.values()), reversed: new Set() })
  compareOrder(arrivals)
  await compareWithQueue(db, arrivals)
}

const nameOf = (event: { conversionId: string; status: string }) => `${event.status} ${event.conversionId}`

/** What was sent and acknowledged, against what came. */
export function compareWithAcknowledged(arrivals: readonly Arrival[], known: Acknowledged): void {
  const { attempted, approved, reversed } = known
  const wrong = arrivals.filter((one) => one.verdict !== 'ok')
  none(wrong, 'with a signature that does not fit')
  const unknown = arrivals.filter((one) => !attempted.has(one.userId))
  none(unknown, 'about users for whom nothing was sent')
  const accepted = new Set(arrivals.filter((one) => one.accepted !== null).map(nameOf))
  const owed = [
    ...[...approved].map((conversionId) => nameOf({ conversionId, status: 'approved' })),
    ...[...reversed].map((conversionId) => nameOf({ conversionId, status: 'reversed' })),
  ]
  const unsent = owed.filter((event) => !accepted.has(event))
  none(unsent, 'acknowledged, but never sent')
  const ids = Map.groupBy(arrivals, nameOf)
  const manyIds = [...ids.values()].filter((all) => all.some((one) => one.webhookId !== all[0]?.webhookId))
  none(manyIds, 'sent with more than one ID')
  assert.equal(new Set(arrivals.map((one) => one.webhookId)).size, ids.size, 'each event has an id of its own')
}

/** A reversal comes after its approval was accepted, and after it no approval comes any more. */
export function compareOrder(arrivals: readonly Arrival[]): void {
  const early = [...Map.groupBy(arrivals, (one) => one.conversionId).values()].filter((all) => {
    const approvals = all.filter((one) => one.status === 'approved')
    const firstReversal = Math.min(...all.filter((one) => one.status === 'reversed').map((one) => one.came))
    if (firstReversal === Infinity) return false
    const isAccepted = approvals.some((one) => one.accepted !== null && one.accepted < firstReversal)
    return !isAccepted || approvals.some((one) => one.came > firstReversal)
  })
  none(early, 'conversions whose reversal came before the approval was done')
}

/** What the queue and its log say, against what came. */
export async function compareWithQueue(db: Db, arrivals: readonly Arrival[]): Promise<void> {
  const rows = await db
    .selectFrom('postbacks')
    .select(['postback_id', 'conversion_id', 'status', 'state', 'attempts'])
    .execute()
  const undelivered = rows.filter((row) => row.state !== 'delivered')
  none(undelivered, 'not delivered')
  const seen = Map.groupBy(arrivals, (one) => one.webhookId)
  const unreal = rows.filter((row) => !seen.get(row.postback_id)?.some((one) => one.accepted !== null))
  none(unreal, 'delivered, but never accepted')
  const names = new Map(rows.map((row) => [row.postback_id, `${row.status} ${row.conversion_id}`]))
  const invented = arrivals.filter((one) => names.get(one.webhookId) !== nameOf(one))
  none(invented, 'sent, but not in the queue')
  // A request on a kept-alive connection that was closed without a response is repeated within the same attempt.
  const attempts = (id: string) => seen.get(id)?.filter((one) => !one.wasDropped).length ?? 0
  const uncounted = rows.filter((row) => attempts(row.postback_id) > row.attempts)
  none(uncounted, 'tried more often than counted')
  const { rows: gaps } = await sql`
    SELECT p.postback_id, p.attempts, array_agg(a.attempt ORDER BY a.attempt) AS logged
    FROM postbacks p LEFT JOIN postback_attempts a USING (postback_id) GROUP BY p.postback_id
    HAVING count(DISTINCT a.attempt) <> p.attempts OR count(*) <> p.attempts`.execute(db)
  none(gaps, 'whose log has not one line for each try')
  const { rows: unsent } = await sql`
    SELECT e.conversion_id, e.sequence FROM conversion_events e LEFT JOIN postbacks p ON p.postback_id = e.event_id
    WHERE p.postback_id IS NULL AND e.status <> 'rejected'`.execute(db) // of which apps are not notified by default
  none(unsent, 'events without a postback')
}
