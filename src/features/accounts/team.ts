// A team is the people of one publisher, of one advertiser, or the operators. Those who lead it (owners, operators who may change things)
// invite people and keep them out; an advertiser's team has no lead of its own, operators do it. Its changes happen one after the other, so that two who demote or keep out each other
// do not both succeed.
import type { Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { revokeAccessTokens } from './access-tokens.ts'
import { type Actor, recordAudit } from './audit.ts'
import { isLeading, peopleOf, type Person, type Role, type Team } from './people.ts'
import { voidResetLinks } from './reset-links.ts'
import { endSessionsOf } from './sessions.ts'

/** What is absent stays. */
export type PersonChange = { role?: Role; disabled?: boolean }

/**
 * `byOperator`: an operator changes a publisher's or an advertiser's team. Then the team may be left without an owner,
 * and only an operator can enable those people again.
 */
export type TeamPlace = Team & { personId: string; byOperator: boolean }

/** False when there is no such person in the team. Who is disabled is signed out everywhere, and their tokens end for good. */
export async function changePerson(
  trx: Trx,
  by: Actor,
  { personId, byOperator, ...ofTeam }: TeamPlace,
  change: PersonChange,
  now: Date,
): Promise<boolean> {
  const { role, disabled } = change
  const team = (await peopleOf(trx, ofTeam).orderBy('id').forNoKeyUpdate().execute()) as Person[]
  const person = team.find(({ id }) => id === personId)
  if (person === undefined) return false
  if (disabled === false && person.disabled_by_operator && !byOperator)
    throw new AppError('NOT_ALLOWED', 'The operator disabled this account. Only an operator can enable it again.')
  const after: Person = {
    ...person,
    role: role ?? person.role,
    disabled_at: disabled === undefined ? person.disabled_at : disabled ? (person.disabled_at ?? now) : null,
    disabled_by_operator:
      disabled === undefined ? person.disabled_by_operator : disabled && (byOperator || person.disabled_by_operator),
  }
  if (!byOperator && !team.some((one) => isLeading(one.id === personId ? after : one)))
    throw new AppError(
      'CONFLICT',
      'This team would have no one left to manage it. Give another member that role first.',
    )
  await trx
    .updateTable('people')
    .set({
      role: after.role,
      disabled_at: after.disabled_at,
      disabled_by_operator: after.disabled_by_operator,
    })
    .where('id', '=', personId)
    .execute()
  // Also when a person is enabled again: a sign-in that was under way when they were disabled does not count.
  if (disabled !== undefined) {
    await endSessionsOf(trx, personId, null)
    await voidResetLinks(trx, personId)
    await revokeAccessTokens(trx, personId, now)
  }
  if (!isLeading(after)) await revokeInvitationsBy(trx, personId, now)
  const details = { email: person.email, ...change }
  await recordAudit(trx, by, { action: 'person.change', subject: personId, publisherId: ofTeam.publisherId, details })
  return true
}

/** Otherwise they could come back, or invite others, by a link they created before. */
export async function revokeInvitationsBy(trx: Trx, personId: string, now: Date): Promise<void> {
  await trx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('invited_by', '=', personId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute()
}
