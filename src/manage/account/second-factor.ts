// Turning one's own second factor on and off.
import { AppError } from '../../errors.ts'
import { isOperatorRole } from '../../features/accounts/people.ts'
import { disableSecondFactor, enableSecondFactor } from '../../features/accounts/second-factor.ts'
import { startSecondFactor } from '../../features/accounts/second-factor-setup.ts'
import { seal } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { createProver } from './proof.ts'
import { PasswordOnly, TwoFactorCode, TwoFactorSetup } from './schema.ts'

const TAG = 'Your account'

export function secondFactorRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, auth, config } = context
  const prove = createProver(context)

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
    async run({ caller, by, body, request }) {
      await prove.password(caller, body.password, request)
      const started = await db
        .transaction()
        .execute((trx) => startSecondFactor(trx, { ...by, id: caller.id }, seal(auth)))
      if (started === null) throw new AppError('CONFLICT', 'Two-factor sign-in is already on.')
      return { uri: started.uri, backup_codes: started.backupCodes }
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
      const { session } = caller
      await prove.authenticator(caller, body.code, request, (trx) => enableSecondFactor(trx, by, caller, session))
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
      const { session } = caller
      const isDisabled = await db.transaction().execute((trx) => disableSecondFactor(trx, by, caller, session))
      if (!isDisabled) throw new AppError('CONFLICT', 'Two-factor sign-in is already off.')
      return OK
    },
  })
}
