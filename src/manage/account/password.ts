// One's own password: changing it, and setting a new one by a reset link.
import { changePassword, resetPassword } from '../../features/accounts/change-password.ts'
import { hashNewPassword } from '../../features/accounts/passwords.ts'
import { queueResetMail } from '../../features/accounts/reset-links.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { createProver } from './proof.ts'
import { ChangePassword, ForgotPassword, ForgotPasswordReply, PasswordReset, ResetPassword } from './schema.ts'
import { createAttemptLimits } from './attempt-limits.ts'

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
      const wanted = {
        hash,
        provedHash,
        keptSessionId: caller.session?.id ?? null,
        endTokens: body.end_tokens ?? false,
      }
      const change = db.transaction().execute((trx) => changePassword(trx, by, caller, wanted, new Date()))
      return { tokens_ended: await change }
    },
  })

  routes.post('/password/forgot', {
    id: 'forgotPassword',
    summary: 'Request a password reset link',
    about: 'Always succeeds, so that it reveals no address that has an account.',
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
      const given = { token, hash, ip: request.ip, requestId: request.id }
      const reset = db.transaction().execute((trx) => resetPassword(trx, secretKey, given, new Date()))
      return { tokens_ended: await reset }
    },
  })
}
