// One's own password: changing it, and setting a new one by a reset link.
import { AppError } from '../../errors.ts'
import { recordAudit } from '../../features/accounts/audit.ts'
import { verifyEmail } from '../../features/accounts/email-verification.ts'
import { hashNewPassword, setPassword } from '../../features/accounts/passwords.ts'
import { queueResetMail, useResetLink } from '../../features/accounts/reset-links.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { createProver } from './proof.ts'
import { ChangePassword, ForgotPassword, ForgotPasswordReply, PasswordReset, ResetPassword } from './schema.ts'
import { createAttemptLimits } from './attempt-limits.ts'

const deadLink = () => new AppError('INVALID_REQUEST', 'This link was already used or has expired. Request a new one.')

export function passwordRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, secretKey, limiter, sendMails } = context
  const attempts = createAttemptLimits(limiter)
  const prove = createProver(context)

  routes.post('/me/password', {
    id: 'changePassword',
    summary: 'Change your password',
    about: 'Ends your other sessions, and revokes your API tokens if you ask for it.',
    tag: 'Your account',
    access: 'session',
    body: ChangePassword,
    reply: PasswordReset,
    async run({ caller, by, body, request }) {
      const hash = await hashNewPassword(body.new_password)
      const provedHash = await prove.password(caller, body.current_password, request, 'current_password')
      const endTokens = body.end_tokens ?? false
      const tokensEnded = await db.transaction().execute(async (trx) => {
        const wanted = { personId: caller.id, hash, provedHash, keptSessionId: caller.session?.id ?? null, endTokens }
        const ended = await setPassword(trx, wanted, new Date())
        if (ended === null)
          throw new AppError('CONFLICT', 'Your password was changed at the same moment. Sign in again.')
        await recordAudit(trx, by, {
          action: 'password.change',
          subject: caller.id,
          publisherId: caller.publisherId,
          details: { tokens_ended: ended },
        })
        return ended
      })
      return { tokens_ended: tokensEnded }
    },
  })

  routes.post('/password/forgot', {
    id: 'forgotPassword',
    summary: 'Request a password reset link',
    about: 'Always succeeds, so that nobody learns which addresses have an account.',
    tag: 'Signing in',
    access: 'anyone',
    body: ForgotPassword,
    reply: ForgotPasswordReply,
    async run({ body, request }) {
      await attempts.count(request, 'reset', body.email)
      if (sendMails !== null) await queueResetMail(db, body.email, new Date())
      sendMails?.()
      return { mailed: sendMails !== null } // whether or not there is such an account
    },
  })

  routes.post('/password/reset', {
    id: 'resetPassword',
    summary: 'Set a new password with a reset link',
    about: 'Ends every session and revokes every API token of the account.',
    tag: 'Signing in',
    access: 'anyone',
    body: ResetPassword,
    reply: PasswordReset,
    async run({ body: { token, password }, request }) {
      await attempts.count(request, 'reset')
      const hash = await hashNewPassword(password)
      const tokensEnded = await db.transaction().execute(async (trx) => {
        const now = new Date()
        const person = await useResetLink(trx, secretKey, token, now)
        if (person === null) throw deadLink()
        const wanted = { personId: person.id, hash, provedHash: null, keptSessionId: null, endTokens: true }
        const ended = (await setPassword(trx, wanted, now)) ?? 0
        if (person.isMailed) await verifyEmail(trx, person.id)
        await recordAudit(
          trx,
          { id: person.id, email: person.email, ip: request.ip },
          {
            action: 'password.reset',
            subject: person.id,
            publisherId: person.publisher_id,
            details: { tokens_ended: ended },
          },
        )
        return ended
      })
      return { tokens_ended: tokensEnded }
    },
  })
}
