// Signing up as a publisher, where the operator has opened it.
import { AppError } from '../../errors.ts'
import { DEFAULTS } from '../../features/accounts/sign-up/schema.ts'
import { acceptTerms } from '../../features/accounts/sign-up/service-terms.ts'
import { readSignUp } from '../../features/accounts/sign-up/settings.ts'
import { showTerms } from '../../features/accounts/sign-up/terms-hash.ts'
import { readSignUpLink, signUp, verifySignUp } from '../../features/accounts/sign-up/sign-up.ts'
import { authHeaders } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { createAttemptLimits } from './attempt-limits.ts'
import { AcceptTerms, FinishSignUp, OpenSignUp, SignUp, SignUpForm, SignUpToken } from './sign-up-schema.ts'

const TAG = 'Signing in'

export function signUpRoutes(routes: ManageRoutes, { db, auth, secretKey, limiter, sendMails }: ManageContext): void {
  const attempts = createAttemptLimits(limiter)

  routes.get('/sign-up', {
    id: 'getSignUpForm',
    summary: 'Get the sign-up form',
    about: 'Whether publishers can sign up, and what they are asked.',
    tag: TAG,
    access: 'anyone',
    reply: SignUpForm,
    async run() {
      const settings = await readSignUp(db)
      const { is_open, intro, terms, questions } = settings.is_open && sendMails !== null ? settings : DEFAULTS
      return { is_open, intro, terms: showTerms(terms), questions }
    },
  })

  routes.post('/sign-up', {
    id: 'signUp',
    summary: 'Sign up as a publisher',
    about:
      'Mails a link that finishes the sign-up. The response is the same for an address that has an account: its owner gets a mail that says so.',
    tag: TAG,
    access: 'anyone',
    body: SignUp,
    reply: Ok,
    async run({ body, request }) {
      await attempts.count(request, 'sign-up')
      if (sendMails === null) throw new AppError('CONFLICT', 'This network does not accept sign-ups at the moment.')
      const { terms_version: version = null, terms_hash: hash, answers = [], ...fields } = body
      const accepted = version === null ? null : { version, hash: hash ?? '' }
      await signUp(db, { ...fields, accepted, answers }, request.ip, new Date())
      sendMails()
      return OK
    },
  })

  routes.post('/sign-up/link', {
    id: 'getSignUp',
    summary: 'Read a sign-up link',
    about: 'Shows who signed up before the link is used. The token is the part of the link after the `#`.',
    tag: TAG,
    access: 'anyone',
    changesNothing: true,
    body: SignUpToken,
    reply: OpenSignUp,
    async run({ body, request }) {
      await attempts.count(request, 'invitation')
      return readSignUpLink(db, secretKey, body.token, new Date())
    },
  })

  routes.post('/sign-up/verify', {
    id: 'verifySignUp',
    summary: 'Finish signing up',
    about:
      'Uses the token of the mailed link, with the password of the form: creates the account and its publisher, and signs in. Test keys work at once; live keys once an operator has approved the publisher.',
    tag: TAG,
    access: 'anyone',
    body: FinishSignUp,
    reply: Ok,
    async run({ body: { token, password }, request, cookies }) {
      await attempts.count(request, 'invitation')
      const given = { token, password, ip: request.ip, requestId: request.id }
      const { email } = await verifySignUp(db, secretKey, given, new Date())
      sendMails?.()
      const headers = authHeaders(request)
      const answer = await auth.api.signInEmail({ body: { email, password }, headers, asResponse: true })
      cookies.push(...answer.headers.getSetCookie())
      return OK
    },
  })

  routes.post('/me/terms', {
    id: 'acceptTerms',
    summary: 'Accept new terms of service',
    about:
      'For owners of a publisher, when `terms` of `getMe` is not null. If the terms have changed since you read them, nothing is accepted (409).',
    tag: 'Your account',
    access: 'session',
    body: AcceptTerms,
    reply: Ok,
    async run({ caller: { id, role, publisherId }, by, body: seen }) {
      if (role !== 'publisher_owner' || publisherId === null)
        throw new AppError('NOT_ALLOWED', 'Only an owner can accept the terms for a publisher.')
      await db.transaction().execute((trx) => acceptTerms(trx, by, { id, publisherId }, seen, new Date()))
      return OK
    },
  })
}
