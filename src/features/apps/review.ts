// The operator's decision about a publisher that signed up.
import { type Db, inTransaction } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import type { Actor } from '../accounts/audit.ts'
import { type ApplicationStatus, readApplication } from '../accounts/sign-up/applications.ts'
import { lockPublisher, permit } from './permissions.ts'

/**
 * `refusal`: the reason, as the applicant reads it. A refused publisher can still be approved, not the other way round.
 * `seen`: what the application was when the operator decided.
 */
export type Decision = { isApproved: true; seen?: ApplicationStatus } | { isApproved: false; refusal: string }

/** Of two decisions at once, the second is refused. */
export async function decideApplication(db: Db, by: Actor, publisherId: number, decision: Decision): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockPublisher(trx, publisherId)
    const application = await readApplication(trx, publisherId)
    if (application === null) throw new AppError('RESOURCE_NOT_FOUND', 'This publisher did not sign up.')
    const { status, decided_by } = application
    const isLate = decision.isApproved ? status !== (decision.seen ?? status) : status === 'refused'
    if (status === 'approved' || isLate)
      throw new AppError('CONFLICT', `This application was already ${status} by ${decided_by ?? 'an operator'}.`)
    await permit(
      trx,
      by,
      publisherId,
      decision.isApproved ? { status: 'active' } : { status: 'suspended', refusal: decision.refusal },
    )
  })
}
