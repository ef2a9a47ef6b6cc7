// An operator decides about many conversions at once. Each is applied by itself, together with its audit entry: one that
// cannot be moved is reported, the others are moved.
import { isUuid } from '../../lib/uuid7.ts'
import type { Actor } from '../accounts/audit.ts'
import { BATCH_ROWS } from './command-queue.ts'
import type { Command, MoveReason, MoveTo, Outcome } from './commands.ts'
import type { Status } from './conversions.ts'

export type Moves = { conversionIds: readonly string[]; to: MoveTo; reason?: MoveReason; note?: string }

export type MoveResult = {
  conversionId: string
  /** already: it had this status before. */
  outcome: 'done' | 'already' | 'refused'
  /** Null: there is no such conversion. */
  status: Status | null
  /** Why it was refused, as a sentence. */
  problem: string | null
}

export async function moveConversions(
  applyCommand: (command: Command) => Promise<Outcome>,
  by: Actor,
  { conversionIds, ...wanted }: Moves,
): Promise<MoveResult[]> {
  const ids = [...new Set(conversionIds.map((id) => id.trim().toLowerCase()))]
  const results: MoveResult[] = []
  for (let i = 0; i < ids.length; i += BATCH_ROWS) {
    const batch = ids.slice(i, i + BATCH_ROWS)
    const settled = await Promise.allSettled(
      batch.map(async (conversionId) =>
        isUuid(conversionId) ? applyCommand({ kind: 'move', conversionId, by, ...wanted }) : null,
      ),
    )
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const outcomes = settled.map((one) => (one.status === 'fulfilled' ? one.value : null))
    results.push(...outcomes.map((outcome, j) => resultOf(batch[j] ?? '', outcome, wanted.to)))
  }
  return results
}

function resultOf(conversionId: string, outcome: Outcome | null, to: MoveTo): MoveResult {
  const refused = (problem: string, status: Status | null = null): MoveResult => ({
    conversionId,
    outcome: 'refused',
    status,
    problem,
  })
  if (outcome === null) return refused('This is not a conversion ID.')
  if (outcome.conversion === null) return refused('There is no such conversion.')
  const { status } = outcome.conversion
  if (outcome.kind === 'moved') return { conversionId, outcome: 'done', status, problem: null }
  if (outcome.kind === 'duplicate') return { conversionId, outcome: 'already', status, problem: null }
  return refused(`This conversion is ${status} and cannot be ${to}.`, status)
}
