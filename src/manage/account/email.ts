// Verifying one's email address.
import { AppError } from '../../errors.ts'
import { queueVerificationMail, useVerificationLink } from '../../features/accounts/email-verification.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { VerifyEmail } from './schema.ts'
import { createAttemptLimits } from './attempt-limits.ts'

export function emailRoutes(routes: ManageRoutes, { db, secretKey, limiter, sendMails }: ManageContext): void {
  const attempts = createAttemptLimits(limiter)

  routes.post('/me/email/verification', {
    id: 'requestEmailVerification',
    summary: 'Request a link that confirms your email address',
    about: 'Mails a link to the address of your account.',
    tag: 'Your account',
    access: 'session',
    reply: Ok,
    async run({ caller }) {
      if (sendMails === null) throw new AppError('CONFLICT', 'This network does not send email.')
      await attempts.countOf(caller)
      await queueVerificationMail(db, caller.id, new Date())
      sendMails()
      return OK
    },
  })

  routes.post('/email/verify', {
    id: 'verifyEmail',
    summary: 'Confirm an email address',
    about: 'Uses the token of the link that was mailed to the address.',
    tag: 'Signing in',
    access: 'anyone',
    body: VerifyEmail,
    reply: Ok,
    async run({ body: { token }, request }) {
      await attempts.count(request, 'reset')
      const given = { token, ip: request.ip, requestId: request.id }
      await db.transaction().execute((trx) => useVerificationLink(trx, secretKey, given, new Date()))
      return OK
    },
  })
}
