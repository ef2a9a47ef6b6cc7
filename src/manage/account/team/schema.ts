// The shapes of people and their invitations.
import { Type } from 'typebox'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { MAIL_STATUSES } from '../../../features/accounts/invitations.ts'
import { ROLES } from '../../../features/accounts/people.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'

export const TeamQuery = Type.Object({
  search: Type.Optional(text(200, 'Part of a name or an email address.')),
  ...UUID_PAGE_QUERY,
})

export const Team = shape('Team', {
  people: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      email: Type.String(),
      role: oneOf(ROLES),
      two_factor_enabled: Type.Boolean(),
      disabled_at: orNull(Time),
      disabled_by_operator: Type.Boolean({
        description: 'Whether an operator disabled the account. Only operators can enable it again.',
      }),
      created_at: Time,
    }),
  ),
  next_cursor: NextCursor,
  invitations: Type.Array(
    Type.Object({
      invitation_id: id,
      email: orNull(Type.String()),
      role: oneOf(ROLES),
      mail: oneOf(
        MAIL_STATUSES,
        'Status of the invitation mail. `none`: not mailed, the link is handed over. `queued`: about to be sent. `retrying`: not sent ' +
          'yet. `refused`: the mail server refuses the address.',
      ),
      created_at: Time,
      expires_at: Time,
    }),
    { description: 'All that are open, on every page.' },
  ),
  has_leader: Type.Boolean({ description: 'Whether anyone who may invite others has access, or is invited.' }),
})

export const newInvitation = <const T extends string>(title: string, roles: readonly T[]) =>
  shape(title, { email: text(254), role: oneOf(roles) })
export const IssuedInvitation = shape('IssuedInvitation', {
  url: orNull(
    Type.String({
      description:
        'Invitation link, shown once to operators if there is no mail server. Otherwise it is only mailed; ' +
        'owners without mail ask the operator for it.',
    }),
  ),
  mailed: Type.Boolean(),
})
export const changedPerson = <const T extends string>(title: string, roles: readonly T[]) =>
  shape(title, { role: Type.Optional(oneOf(roles)), disabled: Type.Optional(Type.Boolean()) })
