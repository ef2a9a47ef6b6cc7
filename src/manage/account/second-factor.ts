// Turning one's own second factor on and off.
import { AppError } from '../../errors.ts'
import { recordAudit } from '../../features/accounts/audit.ts'
import { endSessionsOf } from '../../features/accounts/passwords.ts'
import { isOperatorRole, noteCodeGiven } from '../../features/accounts/people.ts'
import { enableSecondFactor, removeSecondFactor } from '../../features/accounts/second-factor.ts'
import { authHeaders } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import type { Caller } from '../gate.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { createProver } from './proof.ts'
import { PasswordOnly, TwoFactorCode, TwoFactorSetup } from './schema.ts'

const TAG = 'Your account'

export function secondFactorRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, auth, config } = context
  const prove = createProver(context)
  const ofSelf = ({ id, publisherId }: Caller, action: string) => ({ action, subject: id, publisherId })

  routes.post('/me/two-factor', {
    id: 'startTwoFactor',
    summary: 'Start setting up a second factor',
    about:
      'Returns the URI for the authenticator app and the backup codes. Nothing is required at sign-in until it is confirmed.',
    tag: TAG,
    access: 'session',
    forSetUp: true,
    body: PasswordOnly,
    reply: TwoFactorSetup,
    async run({ caller, body, request }) {
      await prove.password(caller, body.password, request)
      const answer = await auth.api.enableTwoFactor({ body, headers: authHeaders(request), asResponse: true })
      if (!answer.ok) throw new AppError('CONFLICT', 'Two-factor sign-in is already on.')
      const { totpURI, backupCodes } = (await answer.json()) as { totpURI: string; backupCodes: string[] }
      return { uri: totpURI, backup_codes: backupCodes }
    },
  })

  routes.post('/me/two-factor/confirm', {
    id: 'confirmTwoFactor',
    summary: 'Enable the second factor',
    about: 'Takes the first code of the authenticator app. Your other sessions end.',
    tag: TAG,
    access: 'session',
    forSetUp: true,
    body: TwoFactorCode,
    reply: Ok,
    async run({ caller, by, body, request }) {
      if (caller.hasSecondFactor) throw new AppError('CONFLICT', 'Two-factor sign-in is already on.')
      await prove.authenticator(caller, body.code, request, async (trx) => {
        await enableSecondFactor(trx, caller.id)
        if (caller.session !== null) await noteCodeGiven(trx, caller.session)
        await endSessionsOf(trx, caller.id, caller.session?.id ?? null)
        await recordAudit(trx, by, ofSelf(caller, 'two_factor.enable'))
      })
      return OK
    },
  })

  routes.post('/me/two-factor/disable', {
    id: 'disableTwoFactor',
    summary: 'Disable the second factor',
    about: 'Your other sessions end.',
    tag: TAG,
    access: 'session',
    sensitive: true,
    body: PasswordOnly,
    reply: Ok,
    async run({ caller, by, body, request }) {
      if (config.require2fa && isOperatorRole(caller.role))
        throw new AppError(
          'CONFLICT',
          'This network requires two-factor sign-in for operators, so it cannot be turned off.',
        )
      await prove.password(caller, body.password, request)
      await db.transaction().execute(async (trx) => {
        if (!(await removeSecondFactor(trx, caller.id)))
          throw new AppError('CONFLICT', 'Two-factor sign-in is already off.')
        await endSessionsOf(trx, caller.id, caller.session?.id ?? null)
        await recordAudit(trx, by, ofSelf(caller, 'two_factor.disable'))
      })
      return OK
    },
  })
}
