// Accepts commands one by one and applies them in batches: a few statements and one commit for many.
import { type BatchCounts, BatchWriter, type RowOrigin, untraced } from '../../db/batch-writer.ts'
import { isRowError } from '../../db/pg-errors.ts'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { clickRequest } from '../../http/request-ids.ts'
import { type Command, type Outcome, requestOf } from './commands.ts'
import { OfferCache } from './offer-cache.ts'
import { applyCommands } from './apply-commands.ts'

/** Each command holds a few database locks until its batch is done. */
export const BATCH_ROWS = 50
const CONCURRENCY = 2

export type CommandQueue = {
  /** Resolves when the command is applied and committed. */
  apply: (command: Command) => Promise<Outcome>
  counts: () => BatchCounts
  /** Resolves when the queue is empty, including commands whose caller is gone. */
  close: () => Promise<void>
}

/** `onPostbacks` is called after a commit that queued postbacks. */
export function createCommandQueue(db: Db, onPostbacks: () => void = () => {}, traceBatch = untraced): CommandQueue {
  const kept = { offerCache: new OfferCache(), onPostbacks }
  const write = (commands: Command[]) => applyCommands(db, commands, new Date(), kept)
  const writer = new BatchWriter<Command, Outcome>(traceBatch('conversions', write, originOf), isCommandError, {
    concurrency: CONCURRENCY,
    maxRows: BATCH_ROWS,
  })
  return { apply: (command) => writer.add(command), counts: () => writer.counts, close: () => writer.drain() }
}

/** Also for an operator who may no longer decide: the commands of others do not fail with theirs. */
const isCommandError = (error: unknown) => error instanceof AppError || isRowError(error)

function originOf(command: Command, outcome: Outcome | undefined): RowOrigin {
  const clickId = outcome?.conversion?.clickId ?? null
  return { requestId: requestOf(command), flow: clickId === null ? null : clickRequest(clickId) }
}
