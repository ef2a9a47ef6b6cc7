// Signing in and out.
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { recordFailure } from '../../features/accounts/failed-attempts.ts'
import { readPasswordHash } from '../../features/accounts/passwords.ts'
import { findByTypedEmail } from '../../features/accounts/people.ts'
import { findChallenged } from '../../features/accounts/reset-links.ts'
import { burnCode } from '../../features/accounts/second-factor.ts'
import { endSession, type NewSession, noteCodeGiven, startSession } from '../../features/accounts/sessions.ts'
import { authHeaders, challengeOf, openSealed } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { isBackupCode, withoutSpaces } from './proof.ts'
import { SignIn, SignInReply, TwoFactorCode } from './schema.ts'
import { createAttemptLimits } from './attempt-limits.ts'

const TAG = 'Signing in'
const NO_PERSON = '00000000-0000-0000-0000-000000000000' // looked up as well, so that it takes as long

type Known = { id: string; email: string; publisher_id: number | null }

export function signInRoutes(routes: ManageRoutes, { db, auth, secretKey, limiter }: ManageContext): void {
  const attempts = createAttemptLimits(limiter)
  const start = ({ ip, id: requestId }: FastifyRequest, person: Known, session: NewSession) => {
    const account = { ...person, publisherId: person.publisher_id }
    return db.transaction().execute((trx) => startSession(trx, account, session, { ip, requestId }, new Date()))
  }
  const isPasswordStill = (personId: string, hash: string | null) =>
    db.transaction().execute(async (trx) => (await readPasswordHash(trx, personId, true)) === hash)

  routes.post('/session', {
    id: 'signIn',
    summary: 'Sign in',
    about:
      'Starts a session by email address and password, as a cookie. When `two_factor` is true, finish with `signInWithCode`.',
    tag: TAG,
    access: 'anyone',
    body: SignIn,
    reply: SignInReply,
    async run({ body, request, cookies }) {
      await attempts.count(request, 'sign-in', body.email)
      const person = await findByTypedEmail(db, body.email)
      const hash = await readPasswordHash(db, person?.id ?? NO_PERSON)
      const answer = await auth.api.signInEmail({
        body: { ...body, email: body.email.trim() },
        headers: authHeaders(request),
        asResponse: true,
      })
      if (!answer.ok || person === null) {
        await recordFailure(db, { person, kind: 'password', ip: request.ip, requestId: request.id }, new Date())
        throw new AppError('NOT_SIGNED_IN', 'The email address or the password is wrong.')
      }
      const { twoFactorRedirect, token } = (await answer.json()) as { twoFactorRedirect?: boolean; token: string }
      // The challenge of a sign-in that fails here is never used: its cookie does not go out.
      const isStill = twoFactorRedirect
        ? await isPasswordStill(person.id, hash)
        : await start(request, person, { token, hash })
      if (!isStill) throw beginAgain()
      cookies.push(...answer.headers.getSetCookie())
      return { two_factor: twoFactorRedirect === true }
    },
  })

  routes.post('/session/two-factor', {
    id: 'signInWithCode',
    summary: 'Finish signing in with a code',
    about: 'The second step for accounts with a second factor: a code of the authenticator app, or a backup code.',
    tag: TAG,
    access: 'anyone',
    body: TwoFactorCode,
    reply: Ok,
    async run({ body, request, cookies }) {
      await attempts.count(request, 'sign-in') // better-auth counts by account, too
      const challenge = challengeOf(request)
      const person = challenge === null ? null : await findChallenged(db, secretKey, challenge.id)
      if (challenge === null || person === null) throw beginAgain()
      const hash = await readPasswordHash(db, person.id)
      const answer = await verify(person.id, withoutSpaces(body.code), challenge.headers)
      if (!answer.ok) {
        await recordFailure(db, { person, kind: 'code', ip: request.ip, requestId: request.id }, new Date())
        throw await refusedCode(answer)
      }
      const { token } = (await answer.json()) as { token: string }
      if (!(await start(request, person, { token, hash }))) throw beginAgain()
      await noteCodeGiven(db, { token })
      cookies.push(...answer.headers.getSetCookie())
      return OK
    },
  })

  /** A code of the authenticator is consumed first: a second request with it, to whichever process, fails. */
  async function verify(personId: string, code: string, headers: Headers): Promise<Response> {
    const given = { body: { code }, headers, asResponse: true } as const
    if (isBackupCode(code)) return auth.api.verifyBackupCode(given)
    const isFirst = await db
      .transaction()
      .execute((trx) => burnCode(trx, { personId, code, openSecret: openSealed(auth) }, new Date()))
    return isFirst ? auth.api.verifyTOTP(given) : Response.json({}, { status: 401 })
  }

  routes.delete('/session', {
    id: 'signOut',
    summary: 'Sign out',
    about: 'Ends the current session and clears its cookie.',
    tag: TAG,
    access: 'anyone',
    reply: Ok,
    async run({ by, request, cookies }) {
      const { caller } = request
      const sessionId = caller?.session?.id
      if (caller !== null && sessionId !== undefined)
        await db.transaction().execute((trx) => endSession(trx, by, caller, sessionId))
      const answer = await auth.api.signOut({ headers: authHeaders(request), asResponse: true })
      cookies.push(...answer.headers.getSetCookie())
      return OK
    },
  })
}

const beginAgain = () =>
  new AppError(
    'NOT_SIGNED_IN',
    'This sign-in took too long or had too many attempts. Sign in again with your password.',
  )

/** A wrong code can be followed by another one, until there were too many. */
async function refusedCode(answer: Response): Promise<AppError> {
  const { code = '' } = (await answer.json().catch(() => ({}))) as { code?: string }
  if (code === 'ACCOUNT_TEMPORARILY_LOCKED')
    return new AppError('RATE_LIMIT_EXCEEDED', 'Too many wrong codes. Try again in 15 minutes.')
  if (code === 'INVALID_TWO_FACTOR_COOKIE' || code === 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE') return beginAgain()
  return new AppError('NOT_SIGNED_IN', 'This code is wrong or was already used. Enter the next one.')
}
