// From an advertiser's call to an applied confirmation: when it is received, when it is retried, and when the operator
// asks.
import type { Db } from '../../../db/open.ts'
import { dialectOf, getAdvertiser } from '../../accounts/advertisers.ts'
import { type Actor, recordAuditAlone } from '../../accounts/audit.ts'
import type { Confirmation, Outcome } from '../commands.ts'
import { applyCommands } from '../apply-commands.ts'
import { callOf, type CallRow, describeOutcome, findCalls, keepRefusedCall } from './calls.ts'
import { dialectFor, goalFor } from './decision-calls.ts'
import { type CallOutcome, type InboundCall, isUnprocessed } from './inbound-call.ts'
import { findIgnored } from './ignored-calls.ts'
import { isAllowedFrom } from './allowed-addresses.ts'
import {
  clickOfTransaction,
  findDueCalls,
  findKnownClicks,
  isKnownTransaction,
  findWaitingCalls,
  MAX_WAITING_OF_CLICK,
  postponeCalls,
  type WaitingRoom,
} from './open-calls.ts'
import { type CallParameters, type Dialect, readCall } from './parameters.ts'
import { redactCall } from './redact-call.ts'
import type { RepeatedCalls } from './repeated-calls.ts'
import { uuid7Time } from '../../../lib/uuid7.ts'
import { dayOf, rateOn, toDollars } from '../../rates/rates.ts'

/** Applies one confirmation; the server batches many, the command line applies one. */
export type ApplyCommand = (confirmation: Confirmation) => Promise<Outcome>

/** The result of a call, and the response to its sender. */
export type CallResult = CallOutcome & { message: string }

export type ConfirmOptions = {
  applyCommand: ApplyCommand
  /** The country of an IP address, if known. */
  countryOf: (ip: string) => string | null
  isAgain?: boolean
  now?: Date
}

/** Limits for what a holder of a token could otherwise send without end. */
export type Bounds = {
  room: WaitingRoom
  repeats: RepeatedCalls
  /** Whether one more call of this advertiser that cannot be processed may be stored; it then counts as stored. */
  mayKeep: (call: InboundCall, reason?: string) => boolean | Promise<boolean>
  /** Whether none may be stored now. */
  isOverBudget: (call: InboundCall) => boolean
}

/** Processes a call with a valid token. It is in the log when this resolves, unless it was `too_many`. */
export async function confirmCall(
  db: Db,
  call: InboundCall & { advertiserId: number },
  dialect: Dialect,
  { applyCommand, countryOf, isAgain = false, now = new Date() }: ConfirmOptions,
  bounds: Bounds | null = null,
): Promise<CallResult> {
  const reason = findIgnored(call, dialect)
  if (reason !== null) {
    const result = { outcome: 'ignored', reason, conversionId: null } as const
    const isKept = bounds === null || (await bounds.mayKeep(call, 'ignored'))
    if (isKept) await keepRefusedCall(db, call, dialect, result, now)
    return { ...result, message: reason }
  }
  const parsed = readCall(call, dialect)
  if ('problems' in parsed) {
    if (bounds !== null && !(await bounds.mayKeep(call))) return TOO_MANY
    const reason = parsed.problems.map(({ message }) => message).join(' ')
    const result = { outcome: 'invalid', reason, conversionId: null } as const
    await keepRefusedCall(db, call, dialect, result, now)
    return { ...result, message: reason }
  }
  if (call.before === null) {
    const isFull = bounds?.room.isFull(call.advertiserId) ?? false
    const mayGo = await goBefore(db, { ...parsed, advertiserId: call.advertiserId }, isFull, {
      applyCommand,
      countryOf,
      now,
    })
    if (!mayGo) {
      await bounds?.room.count(call.advertiserId, now.getTime())
      return TOO_MANY_WAITING
    }
  }
  const subject = `${call.advertiserId} ${parsed.clickId ?? parsed.transactionId}`
  const isOverBudget = bounds?.isOverBudget(call) ?? false
  const repeatOf = bounds?.repeats.findFull(subject, now.getTime()) ?? null
  const outcome = await applyCommand({
    kind: 'confirmation',
    advertiserId: call.advertiserId,
    clickId: parsed.clickId,
    ...goalFor(call, parsed.goal),
    transactionId: parsed.transactionId,
    ...(await inDollars(db, parsed, call)),
    status: parsed.status,
    country: parsed.country ?? (parsed.ip === null ? null : countryOf(parsed.ip)),
    isAgain,
    externalOfferId: parsed.externalOfferId,
    isOnlyGoalMeant: dialect.callRules.only_goal ?? false,
    call: { ...call, clickId: parsed.clickId, repeatOf, isOverBudget, redact: () => redactCall(call, dialect) },
  })
  const result = describeOutcome(outcome)
  if (isUnprocessed(result) && isOverBudget) return TOO_MANY
  if (isUnprocessed(result)) await bounds?.mayKeep(call)
  if (result.outcome === 'unmatched') await bounds?.room.count(call.advertiserId, now.getTime())
  if (result.outcome === 'duplicate' && repeatOf === null) bounds?.repeats.note(subject, call.inboundId, now.getTime())
  return { ...result, message: messageFor(result) }
}

/**
 * At the rate of the day of the click, so that a call that is repeated on another day means the same; where no click is
 * known, of the day of the call.
 */
async function inDollars(
  db: Db,
  { amountMicros, amountProblem, currency, clickId: named, transactionId, status }: CallParameters,
  { advertiserId, receivedAt }: InboundCall & { advertiserId: number },
) {
  // prettier-ignore
  if (currency === null || amountMicros === null) return { amountMicros, amountProblem }
  const clickId = named ?? (await clickOfTransaction(db, advertiserId, transactionId ?? ''))
  // An ID that is not ours may say any time.
  const earned = clickId === null ? receivedAt : new Date(Math.min(uuid7Time(clickId), receivedAt.getTime()))
  const rate = await rateOn(db, currency, dayOf(earned))
  if (rate !== null) return { amountMicros: toDollars(amountMicros, rate), amountProblem }
  const isDenial = status === 'rejected' || status === 'reversed'
  return { amountMicros: null, amountProblem: isDenial ? null : ('other_currency' as const) }
}

/**
 * Applies calls that were received before this one and still wait for its click, once the click exists. False: no more
 * calls may wait for it.
 */
async function goBefore(
  db: Db,
  { clickId, advertiserId, transactionId }: Pick<Confirmation, 'clickId' | 'advertiserId' | 'transactionId'>,
  isFull: boolean,
  options: ConfirmOptions,
): Promise<boolean> {
  if (clickId === null) return !isFull || isKnownTransaction(db, advertiserId, transactionId ?? '')
  const waiting = await findWaitingCalls(db, [clickId])
  if (waiting.length === 0 && !isFull) return true
  const isKnown = (await findKnownClicks(db, [clickId])).has(clickId)
  if (!isKnown) return !isFull && waiting.length < MAX_WAITING_OF_CLICK
  await reprocessInTurn(db, await findUnmatched(db, waiting), options)
  return true
}

const tooMany = (message: string): CallResult => ({
  outcome: 'refused',
  reason: 'too_many',
  conversionId: null,
  message,
})
export const TOO_MANY = tooMany('Too many of your callbacks could not be processed. Retry this one in a minute.')
const TOO_MANY_WAITING = tooMany('Too many callbacks are already waiting for unknown clicks. Retry this one later.')

function messageFor({ outcome, reason }: CallOutcome): string {
  if (outcome === 'duplicate') return 'This conversion is already recorded; nothing was changed.'
  if (outcome === 'unmatched' || outcome === 'invalid' || outcome === 'refused') return reason ?? 'Nothing was changed.'
  return `The conversion is ${outcome}${reason === null ? '' : ` (${reason})`}.`
}

const stays = (message: string): CallResult => ({ outcome: 'refused', reason: null, conversionId: null, message })
const UNAUTHENTICATED = stays('The token was missing or wrong when the callback arrived, so it cannot be processed.')
const UNSIGNED = stays('The signature was missing or wrong when the callback arrived. Ask the advertiser to resend it.')
const ERASED = stays('The IP address that it came from was erased with its user. Ask the advertiser to resend it.')
const EXPIRED = stays('The token had expired when the callback arrived. Ask the advertiser to resend it with the current token.') // prettier-ignore

/**
 * Retries a logged call. One with an invalid token stays refused; one from a disallowed IP address, until that is
 * allowed.
 */
export async function reprocessCall(
  db: Db,
  call: InboundCall,
  options: Omit<ConfirmOptions, 'applyCommand'> & { applyCommand?: ApplyCommand },
): Promise<CallResult> {
  const { advertiserId, before } = call
  if (advertiserId === null) return UNAUTHENTICATED
  if (before?.reason === 'expired_token') return EXPIRED
  if (before?.reason === 'wrong_signature') return UNSIGNED
  const advertiser = await getAdvertiser(db, advertiserId)
  if (before?.reason === 'wrong_address' && call.ip === null) return ERASED
  if (before?.reason === 'wrong_address' && !isAllowedFrom(advertiser.allowed_ips, call.ip ?? ''))
    return stays(`${call.ip} is still not on this advertiser's IP allowlist.`)
  const { now = new Date() } = options
  const applyCommand = options.applyCommand ?? ((confirmation) => applyAlone(db, confirmation, now))
  const again = { ...call, advertiserId, attempts: call.attempts + 1 }
  // Only a call that was judged is judged anew. One that never got so far is judged as if it were on time.
  const isAgain =
    options.isAgain === true &&
    before !== null &&
    !['unmatched', 'invalid', 'refused', 'ignored'].includes(before.outcome)
  return confirmCall(db, again, dialectFor(call, dialectOf(advertiser)), { ...options, isAgain, applyCommand, now })
}

/** An operator asks for it. In the order given; the log of calls has the outcome of each. */
export async function reprocessCalls(
  db: Db,
  by: Actor,
  calls: readonly CallRow[],
  options: Parameters<typeof reprocessCall>[2],
): Promise<{ inbound_id: string; outcome: string; message: string }[]> {
  const results: { inbound_id: string; outcome: string; message: string }[] = []
  for (const call of calls) {
    const { inbound_id, advertiser_id, outcome: before } = call
    // Before it, because the command queue applies it.
    await recordAuditAlone(db, by, {
      action: 'call.reprocess',
      subject: inbound_id,
      details: { advertiser_id, before },
    })
    const { outcome, message } = await reprocessCall(db, callOf(call), { ...options, isAgain: true })
    results.push({ inbound_id, outcome, message })
  }
  return results
}

async function applyAlone(db: Db, confirmation: Confirmation, now: Date): Promise<Outcome> {
  const [outcome] = await applyCommands(db, [confirmation], now)
  if (outcome === undefined) throw new Error('A confirmation was not settled.')
  return outcome
}

const RETRY_BATCH = 200

/** Retries unmatched calls that can be matched now; returns how many calls it looked at. */
export async function retryUnmatched(
  db: Db,
  now: Date,
  countryOf: (ip: string) => string | null,
  applyCommand: ApplyCommand = (confirmation) => applyAlone(db, confirmation, now),
): Promise<number> {
  const due = await findDueCalls(db, now, RETRY_BATCH)
  if (due.length === 0) return 0
  const known = await findKnownClicks(db, [...new Set(due.flatMap((call) => call.click_id ?? []))])
  const isHopeless = ({ click_id }: { click_id: string | null }) => click_id !== null && !known.has(click_id)
  await postponeCalls(
    db,
    due.filter(isHopeless).map((call) => call.inbound_id),
    now,
  )
  // Together with everything else that waits for the same click: calls must not overtake each other.
  const waiting = known.size === 0 ? [] : await findWaitingCalls(db, [...known])
  const tried = due.filter((call) => !isHopeless(call)).map((call) => call.inbound_id)
  const calls = await findUnmatched(db, [...new Set([...tried, ...waiting])])
  const byClick = Map.groupBy(calls, (row) => row.click_id)
  await Promise.all([...byClick.values()].map((some) => reprocessInTurn(db, some, { countryOf, applyCommand, now })))
  return due.length
}

/** Without those that another process has matched since they were found: the log keeps their outcome. */
const findUnmatched = async (db: Db, inboundIds: readonly string[]) =>
  (await findCalls(db, inboundIds)).filter(({ outcome }) => outcome === 'unmatched')

async function reprocessInTurn(db: Db, calls: CallRow[], options: ConfirmOptions): Promise<void> {
  for (const row of calls) await reprocessCall(db, callOf(row), options)
}
