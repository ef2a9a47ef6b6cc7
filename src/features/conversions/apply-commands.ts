// Applies a batch of commands in one transaction: takes the locks, loads the context, decides each command in turn, and
// writes conversions, ledger, cap usage and the log of calls together. The caller gets the outcomes after the commit.
import type { Db, Trx } from '../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../db/partitions.ts'
import { withRetry } from '../../db/pg-errors.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { readMoves } from '../apps/erased-users.ts'
import { dayNumber } from '../offers/caps.ts'
import { applyChange, nthOfClick } from './apply-change.ts'
import { type Change, type Command, type Outcome, requestOf } from './commands.ts'
import { decide } from './decide.ts'
import { clickOf, type DecisionContext } from './decision-context.ts'
import { keepCalls } from './inbound/calls.ts'
import { loadContext } from './load-context.ts'
import { lockBatch } from './lock-batch.ts'
import { OfferCache } from './offer-cache.ts'
import { type Batch, prepareBatch } from './prepare-batch.ts'
import { keepKey, recordMove, writeChanges } from './write-changes.ts'

/**
 * A caller that applies commands often keeps `offerCache` between calls. `onPostbacks` is called after a commit that
 * queued postbacks.
 */
export async function applyCommands(
  db: Db,
  commands: readonly Command[],
  now: Date,
  { offerCache = new OfferCache(), onPostbacks = () => {} } = {},
): Promise<Outcome[]> {
  const applyOnce = async () => {
    const { outcomes, hasPostbacks } = await applyBatch(db, commands, now, offerCache)
    if (hasPostbacks) onPostbacks()
    return outcomes
  }
  try {
    return await withRetry(applyOnce)
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(db, 'inbound_calls', callTimes(commands))
    return withRetry(applyOnce)
  }
}

const callTimes = (commands: readonly Command[]) =>
  commands.flatMap((command) => (command.kind === 'confirmation' ? [command.call.receivedAt.getTime()] : []))

type Applied = { outcomes: Outcome[]; hasPostbacks: boolean }

async function applyBatch(db: Db, commands: readonly Command[], now: Date, offerCache: OfferCache): Promise<Applied> {
  for (;;) {
    const moves = (offerCache.moves ??= await readMoves(db))
    const batch = await prepareBatch(db, commands, now, offerCache)
    const applied = await db.transaction().execute((trx) => applyLocked(trx, batch, moves))
    if (applied !== null) return applied
  }
}

/** Null: a user was erased since the batch was prepared, so its users may have another ID now. */
async function applyLocked(trx: Trx, batch: Batch, moves: number): Promise<Applied | null> {
  const { commands, now } = batch
  const windowS = await lockBatch(trx, batch)
  const context = await loadContext(trx, batch, windowS)
  if (context.moves !== moves) {
    batch.offerCache.moves = context.moves
    return null
  }
  const moment = { now, newId: () => uuid7(now.getTime()) }
  const outcomes: Outcome[] = []
  let changes: Change[] = []
  let hasPostbacks = false
  for (const command of commands) {
    const { outcome, change } = decide(command, context, moment)
    outcomes.push(outcome)
    if (change !== null) {
      change.after.nthOfClick = nthOfClick(change, context)
      change.requestId = requestOf(command)
      // Two changes of one conversion are two statements, so that each gets its event.
      if (changes.some(({ after }) => after.conversionId === change.after.conversionId)) {
        await writeChanges(trx, changes, context, now)
        changes = []
      }
      changes.push(change)
      hasPostbacks ||= queuesPostback(change, context)
      applyChange(context, change, dayNumber(now))
    }
    if (command.kind === 'report' && command.idempotencyKey !== null && outcome.conversion !== null)
      await keepKey(trx, command, outcome.conversion, context, now)
  }
  await writeChanges(trx, changes, context, now)
  const calls = commands.flatMap((command, i) =>
    command.kind === 'confirmation'
      ? [{ call: command.call, outcome: outcomes[i] as Outcome, click: clickOf(context.clicks, command) ?? null }]
      : [],
  )
  await keepCalls(trx, calls, now)
  for (const [i, command] of commands.entries()) {
    const outcome = outcomes[i]
    if (command.kind === 'move' && outcome?.kind === 'moved') await recordMove(trx, command, outcome.conversion)
  }
  return { outcomes, hasPostbacks }
}

/** Whether the database queues one for it (write-changes.ts). */
const queuesPostback = ({ before, after }: Change, { apps }: DecisionContext) =>
  before?.eventId !== after.eventId && (apps.get(after.appId)?.postbackEvents?.includes(after.status) ?? false)
