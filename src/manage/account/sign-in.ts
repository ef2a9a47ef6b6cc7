// Signing in and out, reset links, invitations: what works without being signed in.
import type { FastifyRequest } from 'fastify'
import { acceptInvitation, findInvitation } from '../../features/accounts/invitations.ts'
import { recordDeedAlone } from '../../features/accounts/audit.ts'
import { findPersonByEmail } from '../../features/accounts/people.ts'
import { findByResetToken } from '../../features/accounts/reset-links.ts'
import { AppError } from '../../errors.ts'
import { authHeaders } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import { publisherName } from '../publisher-name.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import {
  ForgotPassword,
  ForgotPasswordReply,
  InvitationToken,
  Join,
  OpenInvitation,
  ResetPassword,
  SignIn,
  SignInReply,
  TwoFactorCode,
} from './schema.ts'
import { createTries } from './tries.ts'

const TAG = 'Signing in'

type Known = { id: string; email: string; publisher_id: number | null }

export function signInRoutes(routes: ManageRoutes, { db, auth, secretKey, limiter, sendMail }: ManageContext): void {
  const tries = createTries(limiter)
  /** What people do to themselves at the door, where nobody is signed in yet. */
  const note = ({ ip }: FastifyRequest, person: Known, action: string, details = {}) =>
    recordDeedAlone(
      db,
      { id: person.id, email: person.email, ip },
      { action, subject: person.id, publisherId: person.publisher_id, details },
    )

  routes.post('/session', {
    id: 'signIn',
    summary: 'Sign in',
    tag: TAG,
    access: 'anyone',
    body: SignIn,
    reply: SignInReply,
    async run({ body, request, cookies }) {
      await tries.count(request, 'sign-in', body.email)
      const answer = await auth.api.signInEmail({ body, headers: authHeaders(request), asResponse: true })
      const person = answer.ok ? await findPersonByEmail(db, body.email) : null
      if (person === null) throw new AppError('NOT_SIGNED_IN', 'The e-mail address or the password is wrong.')
      cookies.push(...answer.headers.getSetCookie())
      const { twoFactorRedirect } = (await answer.json()) as { twoFactorRedirect?: boolean }
      if (twoFactorRedirect !== true) await note(request, person, 'session.start')
      return { two_factor: twoFactorRedirect === true }
    },
  })

  routes.post('/session/two-factor', {
    id: 'signInWithCode',
    summary: 'Finish signing in with a code',
    tag: TAG,
    access: 'anyone',
    body: TwoFactorCode,
    reply: Ok,
    async run({ body, request, cookies }) {
      await tries.count(request, 'sign-in') // better-auth counts by account, too
      const given = {
        body: { code: body.code.replaceAll(' ', '') },
        headers: authHeaders(request),
        asResponse: true,
      } as const
      const isBackup = !/^\d{6}$/.test(given.body.code)
      const answer = isBackup ? await auth.api.verifyBackupCode(given) : await auth.api.verifyTOTP(given)
      if (!answer.ok) throw await refusedCode(answer)
      cookies.push(...answer.headers.getSetCookie())
      const { user } = (await answer.json()) as { user: { email: string } }
      const person = await findPersonByEmail(db, user.email)
      if (person !== null) await note(request, person, 'session.start')
      return OK
    },
  })

  routes.delete('/session', {
    id: 'signOut',
    summary: 'Sign out',
    tag: TAG,
    access: 'anyone',
    reply: Ok,
    async run({ request, cookies }) {
      const answer = await auth.api.signOut({ headers: authHeaders(request), asResponse: true })
      cookies.push(...answer.headers.getSetCookie())
      const { caller } = request
      if (caller !== null && caller.sessionId !== null)
        await note(request, { ...caller, publisher_id: caller.publisherId }, 'session.end')
      return OK
    },
  })

  routes.post('/password/forgot', {
    id: 'forgotPassword',
    summary: 'Have a reset link mailed',
    tag: TAG,
    access: 'anyone',
    body: ForgotPassword,
    reply: ForgotPasswordReply,
    async run({ body, request }) {
      await tries.count(request, 'reset', body.email)
      if (sendMail !== null)
        await auth.api.requestPasswordReset({ body, headers: authHeaders(request), asResponse: true })
      return { mailed: sendMail !== null } // whether or not there is such an account
    },
  })

  routes.post('/password/reset', {
    id: 'resetPassword',
    summary: 'Set a new password with a reset link',
    tag: TAG,
    access: 'anyone',
    body: ResetPassword,
    reply: Ok,
    async run({ body, request }) {
      await tries.count(request, 'reset')
      const { token, password } = body
      const person = await findByResetToken(db, secretKey, token)
      const answer = await auth.api.resetPassword({ body: { token, newPassword: password }, asResponse: true })
      if (!answer.ok) throw await refusal(answer)
      if (person === null) return OK
      await note(request, person, 'password.reset')
      return OK
    },
  })

  routes.post('/invitation', {
    id: 'getInvitation',
    summary: 'See what an invitation is for',
    tag: TAG,
    access: 'anyone',
    body: InvitationToken,
    reply: OpenInvitation,
    async run({ body, request }) {
      await tries.count(request, 'invitation')
      const invitation = await findInvitation(db, secretKey, body.token, new Date())
      if (invitation === null) throw deadInvitation()
      const { email, role, publisher_id, expires_at } = invitation
      const publisher = publisher_id === null ? null : await publisherName(db, publisher_id)
      return { email, role, publisher, expires_at }
    },
  })

  routes.post('/invitation/accept', {
    id: 'acceptInvitation',
    summary: 'Make an account with an invitation, and sign in',
    tag: TAG,
    access: 'anyone',
    body: Join,
    reply: Ok,
    async run({ body, request, cookies }) {
      await tries.count(request, 'invitation')
      const { token, name, email = null, password } = body
      const person = await acceptInvitation(db, secretKey, { token, name, email, password }, new Date())
      if (person === null) throw deadInvitation()
      await note(request, person, 'person.join', { role: person.role })
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
  new AppError('RESOURCE_NOT_FOUND', 'This link was used already, or has expired. Ask whoever sent it for a new one.')

/** A wrong code can be followed by another one, until there were too many. */
async function refusedCode(answer: Response): Promise<AppError> {
  const { code = '' } = (await answer.json().catch(() => ({}))) as { code?: string }
  if (code === 'ACCOUNT_TEMPORARILY_LOCKED')
    return new AppError('RATE_LIMIT_EXCEEDED', 'There were too many wrong codes. Wait a quarter of an hour.')
  if (code === 'INVALID_TWO_FACTOR_COOKIE' || code === 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE')
    return new AppError('NOT_SIGNED_IN', 'This took too long, or too many tries. Sign in again with your password.')
  return new AppError('NOT_SIGNED_IN', 'This code is wrong, or was used already. Try the next one.')
}

/** better-auth's own words, where they are about what was typed. */
export async function refusal(answer: Response): Promise<AppError> {
  const { code = '' } = (await answer.json().catch(() => ({}))) as { code?: string }
  const sentences: Record<string, string> = {
    INVALID_TOKEN: 'This link was used already, or has expired. Ask for a new one.',
    PASSWORD_TOO_SHORT: 'A password must have at least 12 characters.',
    PASSWORD_TOO_LONG: 'A password must have at most 128 characters.',
    INVALID_PASSWORD: 'The current password is wrong.',
    INVALID_CODE: 'This code is wrong. Try the next one.',
    TOTP_NOT_ENABLED: 'Two-factor sign-in is not on.',
  }
  return new AppError('INVALID_REQUEST', sentences[code] ?? 'That did not work. Check what you typed and try again.')
}
