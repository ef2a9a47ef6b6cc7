// From an advertiser's call to a settled confirmation: when it comes, when it is tried again, when the operator asks.
import type { Db } from '../../../db/open.ts'
import { getAdvertiser } from '../../accounts/advertisers.ts'
import type { Confirmation, Outcome } from '../commands.ts'
import { settle } from '../settle.ts'
import {
  callOf,
  type CallOutcome,
  type CallRow,
  describeOutcome,
  findDueCalls,
  findWaitingCalls,
  type InboundCall,
  keepRefusedCall,
} from './calls.ts'
import { type Dialect, readCall } from './parameters.ts'

/** Settles one confirmation; in the server many at a time, from the command line alone. */
export type Settle = (confirmation: Confirmation) => Promise<Outcome>

export type ConfirmOptions = {
  settle: Settle
  /** Where an address is, if that is known. */
  countryOf: (ip: string) => string | null
  isAgain?: boolean
  now?: Date
}

/** What a call with a right token comes to. It is in the log when this resolves. */
export async function confirmCall(
  db: Db,
  call: InboundCall & { advertiserId: number },
  dialect: Dialect,
  { settle: settleOne, countryOf, isAgain = false, now = new Date() }: ConfirmOptions,
): Promise<CallOutcome & { message: string }> {
  const told = readCall(call, dialect)
  if ('problems' in told) {
    const reason = told.problems.join(' ')
    const result = { outcome: 'invalid', reason, conversionId: null } as const
    await keepRefusedCall(db, call, result, now)
    return { ...result, message: reason }
  }
  if (isFirst(call)) {
    // What came before it and still waits for its click goes before it.
    const waiting = await findWaitingCalls(db, [told.clickId], now)
    await reprocessInTurn(db, waiting, { settle: settleOne, countryOf, now })
  }
  const outcome = await settleOne({
    kind: 'confirmation',
    advertiserId: call.advertiserId,
    clickId: told.clickId,
    goal: told.goal,
    transactionId: told.transactionId,
    amountMicros: told.amountMicros,
    status: told.status,
    country: told.country ?? (told.ip === null ? null : countryOf(told.ip)),
    isAgain,
    call: { ...call, clickId: told.clickId },
  })
  const result = describeOutcome(outcome)
  return { ...result, message: messageFor(result) }
}

const isFirst = (call: InboundCall) => call.attempts <= 1

function messageFor({ outcome, reason }: CallOutcome): string {
  if (outcome === 'duplicate') return 'We know this conversion already; nothing was changed.'
  if (outcome === 'unmatched' || outcome === 'invalid' || outcome === 'refused') return reason ?? 'Nothing was changed.'
  return `The conversion is ${outcome}${reason === null ? '' : ` (${reason})`}.`
}

/** Tries a logged call again. Null when its token was wrong: that verdict stays. */
export async function reprocessCall(
  db: Db,
  call: InboundCall,
  options: Omit<ConfirmOptions, 'settle'> & { settle?: Settle },
): Promise<(CallOutcome & { message: string }) | null> {
  if (call.advertiserId === null) return null
  const advertiser = await getAdvertiser(db, call.advertiserId)
  const { now = new Date() } = options
  const settleOne = options.settle ?? ((confirmation) => settleAlone(db, confirmation, now))
  const again = { ...call, advertiserId: call.advertiserId, attempts: call.attempts + 1 }
  const dialect = { aliases: advertiser.aliases, statusMap: advertiser.status_map }
  return confirmCall(db, again, dialect, { ...options, settle: settleOne, now })
}

async function settleAlone(db: Db, confirmation: Confirmation, now: Date): Promise<Outcome> {
  const [outcome] = await settle(db, [confirmation], now)
  if (outcome === undefined) throw new Error('A confirmation was not settled.')
  return outcome
}

const RETRY_BATCH = 200

/** Tries again what matched no click so far; returns how many calls it looked at. */
export async function retryUnmatched(
  db: Db,
  now: Date,
  countryOf: (ip: string) => string | null,
  settleOne: Settle = (confirmation) => settleAlone(db, confirmation, now),
): Promise<number> {
  const due = await findDueCalls(db, now, RETRY_BATCH)
  const clickIds = [...new Set(due.flatMap((row) => row.click_id ?? []))]
  // With each, whatever else waits for its click: calls must not overtake each other.
  const waiting = clickIds.length === 0 ? [] : await findWaitingCalls(db, clickIds, now)
  const all = new Map([...due, ...waiting].map((row) => [row.inbound_id, row]))
  const inOrder = [...all.values()].toSorted((a, b) => (a.inbound_id < b.inbound_id ? -1 : 1))
  const byClick = Map.groupBy(inOrder, (row) => row.click_id)
  await Promise.all(
    [...byClick.values()].map((calls) => reprocessInTurn(db, calls, { countryOf, settle: settleOne, now })),
  )
  return due.length
}

async function reprocessInTurn(db: Db, calls: CallRow[], options: ConfirmOptions): Promise<void> {
  for (const row of calls) await reprocessCall(db, callOf(row), options)
}
