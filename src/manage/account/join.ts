// Coming in by an invitation.
import { AppError } from '../../errors.ts'
import { findAdvertiserName } from '../../features/accounts/advertisers.ts'
import { holderOf } from '../../features/accounts/email-verification.ts'
import { acceptInvitation, findInvitation } from '../../features/accounts/invitations.ts'
import { authHeaders } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import { publisherName } from '../publisher-name.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { InvitationToken, Join, OpenInvitation } from './schema.ts'
import { createAttemptLimits } from './attempt-limits.ts'

const TAG = 'Signing in'

export function joinRoutes(routes: ManageRoutes, { db, auth, secretKey, limiter }: ManageContext): void {
  const attempts = createAttemptLimits(limiter)

  routes.post('/invitation', {
    id: 'getInvitation',
    summary: 'Read an invitation',
    about:
      'Shows what an invitation link is for before it is accepted. The token is the part of the link after the `#`.',
    tag: TAG,
    access: 'anyone',
    body: InvitationToken,
    reply: OpenInvitation,
    async run({ body, request }) {
      await attempts.count(request, 'invitation')
      const invitation = await findInvitation(db, secretKey, body.token, new Date())
      if (invitation === null) throw deadInvitation()
      const { email, role, publisher_id, advertiser_id, expires_at, mailed } = invitation
      const holder = mailed && email !== null ? (await holderOf(db, email)).holder : 'none'
      const publisher = publisher_id === null ? null : await publisherName(db, publisher_id)
      const advertiser = advertiser_id === null ? null : await findAdvertiserName(db, advertiser_id)
      return { email, role, publisher, advertiser, expires_at, holder }
    },
  })

  routes.post('/invitation/accept', {
    id: 'acceptInvitation',
    summary: 'Create an account from an invitation',
    about: 'Creates the account and signs it in. An invitation can be accepted once.',
    tag: TAG,
    access: 'anyone',
    body: Join,
    reply: Ok,
    async run({ body, request, cookies }) {
      await attempts.count(request, 'invitation')
      const { token, name, email = null, password } = body
      const given = { token, name, email, password, ip: request.ip, requestId: request.id }
      const person = await acceptInvitation(db, secretKey, given, new Date())
      if (person === null) throw deadInvitation()
      const answer = await auth.api.signInEmail({
        body: { email: person.email, password },
        headers: authHeaders(request),
        asResponse: true,
      })
      cookies.push(...answer.headers.getSetCookie())
      return OK
    },
  })
}

const deadInvitation = () =>
  new AppError('RESOURCE_NOT_FOUND', 'This link was already used or has expired. Ask for a new invitation.')
