// The operator decides about many conversions at once. Each is applied separately, together with its audit entry.
import type { Static } from 'typebox'
import type { Trx } from '../../db/open.ts'
import { type Actor, recordAudit } from '../../features/accounts/audit.ts'
import type { Command, Outcome } from '../../features/conversions/commands.ts'
import type { Conversion } from '../../features/conversions/conversions.ts'
import { isUuid } from '../../lib/uuid7.ts'
import type { Moved, Moves } from './schema.ts'

/** The batch size of the command queue. */
const BATCH = 50

const ACTIONS = { approved: 'approve', rejected: 'reject', reversed: 'reverse' } as const

type Wanted = Static<typeof Moves>
type Result = Static<typeof Moved>['results'][number]

export async function moveAll(
  applyCommand: (command: Command) => Promise<Outcome>,
  { to, conversion_ids, reason, status_reason = 'operator' }: Wanted,
  by: Actor,
): Promise<Result[]> {
  const ids = [...new Set(conversion_ids.map((id) => id.trim().toLowerCase()))]
  const results: Result[] = []
  const record = async (trx: Trx, { conversion_id: subject, publisher_id: publisherId }: Conversion) => {
    const details = { status_reason, ...(reason === undefined ? {} : { reason }) }
    await recordAudit(trx, by, { action: `conversion.${ACTIONS[to]}`, subject, publisherId, details })
  }
  for (let i = 0; i < ids.length; i += BATCH) {
    const batch = ids.slice(i, i + BATCH)
    const settled = await Promise.allSettled(
      batch.map(async (conversionId) =>
        isUuid(conversionId) ? applyCommand({ kind: 'move', conversionId, to, reason: status_reason, record }) : null,
      ),
    )
    const outcomes = settled.map((one) => (one.status === 'fulfilled' ? one.value : null))
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    results.push(...outcomes.map((outcome, j) => resultOf(batch[j] ?? '', outcome, to)))
  }
  return results
}

function resultOf(conversion_id: string, outcome: Outcome | null, to: Wanted['to']): Result {
  const refused = (problem: string, status: Result['status'] = null): Result => ({
    conversion_id,
    outcome: 'refused',
    status,
    problem,
  })
  if (outcome === null) return refused('This is not a conversion_id.')
  if (outcome.conversion === null) return refused('There is no such conversion.')
  const { status } = outcome.conversion
  if (outcome.kind === 'moved') return { conversion_id, outcome: 'done', status, problem: null }
  if (outcome.kind === 'duplicate') return { conversion_id, outcome: 'already', status, problem: null }
  return refused(`It is ${status} and cannot become ${to}.`, status)
}
