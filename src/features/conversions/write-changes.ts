// Writes what a batch decided: conversions, ledger, usage of caps, idempotency keys and audit entries.
import { sql } from 'kysely'
import { rowsLiteral } from '../../db/arrays.ts'
import type { Trx } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { recordAudit } from '../accounts/audit.ts'
import { movePosting, post, type Worth } from '../ledger/ledger.ts'
import { addUsage, dayNumber, refreshFull } from '../offers/caps.ts'
import { usageOf } from './apply-change.ts'
import type { Change, Move, Report } from './commands.ts'
import { CHANGING_COLUMNS, COLUMNS, type Conversion, PROPERTIES } from './conversions.ts'
import type { DecisionContext } from './decision-context.ts'
import { idempotencyKey, requestText } from './keys.ts'

const columnList = sql.raw(COLUMNS.join(', '))
/** Of what repeats, earlier conversions of the click are not always in the context: the first one is looked up. */
const NTH_OF_CLICK = `CASE WHEN n.nth_of_click = 1 AND EXISTS (SELECT FROM conversions o
  WHERE o.click_id = n.click_id AND o.conversion_id <> n.conversion_id AND o.status <> 'rejected') THEN 2 ELSE n.nth_of_click END`
const valueOf = (column: string) => (column === 'nth_of_click' ? NTH_OF_CLICK : `n.${column}`)
const values = sql.raw(COLUMNS.map(valueOf).join(', '))
const assignments = sql.raw(
  CHANGING_COLUMNS.map((name) =>
    name === 'nth_of_click'
      ? `${name} = CASE WHEN c.click_id IS DISTINCT FROM n.click_id THEN ${NTH_OF_CLICK} ELSE c.${name} END`
      : `${name} = n.${name}`,
  ).join(', '),
)
const tableOf = (conversions: Conversion[]) =>
  sql`unnest(${rowsLiteral(PROPERTIES, conversions)}::locker_conversion_row[])`

/**
 * Nothing here calls postbacks: writing the conversions queues them. The triggers `conversions_made` and
 * `conversions_moved` run `keep_history` (migrations/0003_postbacks.sql), which writes each change of status as an event
 * and, where the app wants it, its postback; `queue_postbacks` (0028_postback_queue.sql) then queues that. So no program
 * can change a status and forget the postback, an event has one however often its batch is retried, and all of it is
 * committed or nothing.
 */
export async function writeChanges(trx: Trx, changes: Change[], context: DecisionContext, now: Date): Promise<void> {
  if (changes.length === 0) return
  const made = changes.filter(({ before }) => before === null).map(({ after }) => after)
  const moved = changes.filter(({ before }) => before !== null).map(({ after }) => after)
  const named = sql`WITH named AS MATERIALIZED (SELECT set_config('offerdeck.requests', ${requestsOf(changes)}, true))`
  // Updates first: a rejected conversion frees its place in the unique indexes for a new one.
  if (moved.length > 0) {
    await sql`/* commands-update */ ${named} UPDATE conversions c SET ${assignments} FROM named, ${tableOf(moved)} n
      WHERE c.conversion_id = n.conversion_id`.execute(trx)
  }
  if (made.length > 0)
    await sql`/* commands-insert */ ${named} INSERT INTO conversions (${columnList})
      SELECT ${values} FROM named, ${tableOf(made)} n`.execute(trx)
  await renumber(trx, changes.flatMap(clickToRenumber))
  const live = changes.filter(({ after }) => !after.isTest)
  await post(
    trx,
    live.map((change) => postingOf(change, now)).filter((posting) => posting !== null),
  )
  const capped = live.filter(({ after }) => context.usage.has(after.offerId))
  await addUsage(
    trx,
    capped.map((change) => ({
      offerId: change.after.offerId,
      day: dayNumber(change.after.createdAt),
      clicks: 0,
      ...usageOf(change),
    })),
  )
  await refreshFull(trx, [...new Set(capped.map(({ after }) => after.offerId))], now)
}

/** For the history, which the database writes (migrations/0185_request_ids.sql). */
const requestsOf = (changes: readonly Change[]) =>
  JSON.stringify(
    Object.fromEntries(changes.flatMap(({ after, requestId }) => (requestId ? [[after.eventId, requestId]] : []))),
  )

/** The click whose first conversion may be another one now: this one was rejected, counts again, or left the click. */
function clickToRenumber({ before, after }: Change): string[] {
  if (before === null || before.clickId === null) return []
  const isGone = after.status === 'rejected' || before.clickId !== after.clickId
  const isBack = before.status === 'rejected' && after.status !== 'rejected'
  return isBack || (isGone && before.status !== 'rejected' && before.nthOfClick === 1) ? [before.clickId] : []
}

/** Of each click, the first conversion that is not rejected is 1, all others are 2. */
async function renumber(trx: Trx, clickIds: string[]): Promise<void> {
  if (clickIds.length === 0) return
  await sql`/* commands-renumber */ UPDATE conversions c SET nth_of_click = n.nth
    FROM (SELECT conversion_id, least(2, row_number() OVER (
        PARTITION BY click_id ORDER BY status = 'rejected', nth_of_click, created_at, conversion_id)) AS nth
      FROM conversions WHERE click_id = ANY (${[...new Set(clickIds)]}::uuid[]) AND nth_of_click IS NOT NULL) n
    WHERE c.conversion_id = n.conversion_id AND c.nth_of_click <> n.nth`.execute(trx)
}

function postingOf({ before, after }: Change, now: Date) {
  // A conversion whose amounts change while it is pending has no event; its posting gets an id of its own.
  const isCorrection = before?.eventId === after.eventId
  return movePosting({
    eventId: isCorrection ? uuid7(now.getTime()) : after.eventId,
    isCorrection,
    conversionId: after.conversionId,
    publisherId: after.publisherId,
    advertiserId: after.advertiserId,
    at: now,
    before: ledgerAmounts(before),
    after: ledgerAmounts(after),
  })
}

function ledgerAmounts(conversion: Conversion | null): Worth | null {
  if (conversion === null || (conversion.status !== 'pending' && conversion.status !== 'approved')) return null
  return {
    status: conversion.status,
    payoutMicros: conversion.payoutMicros,
    revenueMicros: conversion.revenueMicros,
    isUnconfirmed: conversion.isUnconfirmed,
  }
}

/** What the Idempotency-Key of a report stands for from now on. */
export async function keepKey(
  trx: Trx,
  command: Report,
  conversion: Conversion,
  context: DecisionContext,
  now: Date,
): Promise<void> {
  const request = requestText(command)
  context.keys.set(idempotencyKey(command), { request, conversionId: conversion.conversionId })
  await sql`
    INSERT INTO idempotency_keys (app_id, is_test, key, request, conversion_id, created_at)
    VALUES (${command.appId}, ${command.isTest}, ${command.idempotencyKey}, ${request}, ${conversion.conversionId}, ${now})
    ON CONFLICT (app_id, key, is_test) DO UPDATE
    SET request = excluded.request, conversion_id = excluded.conversion_id, created_at = excluded.created_at
    WHERE idempotency_keys.created_at <= ${new Date(now.getTime() - 86_400_000)}`.execute(trx)
}

const ACTIONS = { approved: 'approve', rejected: 'reject', reversed: 'reverse' } as const

export async function recordMove(trx: Trx, { by, to, reason = 'operator', note }: Move, moved: Conversion) {
  await recordAudit(trx, by, {
    action: `conversion.${ACTIONS[to]}`,
    subject: moved.conversionId,
    publisherId: moved.publisherId,
    details: { status_reason: reason, ...(note === undefined ? {} : { reason: note }) },
  })
}
