// The keys of an app and their secrets: renewing and ending them.
import { AppError } from '../../../errors.ts'
import { isOperatorRole } from '../../../features/accounts/people.ts'
import { endOldSecrets, revokeApp, rotateSecret, setExpiry } from '../../../features/apps/keys.ts'
import { rotateSigningSecret } from '../../../features/apps/signing-secrets.ts'
import { parseTime } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { CredentialParams, Ended, Expiry, Grace, RotatedSecret, RotatedSigningSecret } from './schema.ts'

const TAG = 'Apps'
const HOUR_MS = 3_600_000

export function credentialRoutes(routes: ManageRoutes, { db, secretKey, refresh }: ManageContext): void {
  routes.post('/apps/:app_id/credentials/:mode/rotate', {
    id: 'rotateSecret',
    summary: 'Rotate the API secret',
    about: 'Returns a new secret once. The old one keeps working for the grace period.',
    tag: TAG,
    access: 'owner',
    sensitive: true,
    params: CredentialParams,
    body: Grace,
    reply: RotatedSecret,
    async run({ app, by, params: { mode }, body: { grace_hours } }) {
      const { app_id: _, ...rotated } = await rotateSecret(db, by, secretKey, app.appId, mode, grace_hours * HOUR_MS)
      await refresh()
      return rotated
    },
  })

  routes.post('/apps/:app_id/credentials/:mode/end-old-secret', {
    id: 'endOldSecret',
    summary: 'End the grace period of the old API secret',
    about: 'The old secret stops working immediately.',
    tag: TAG,
    access: 'owner',
    params: CredentialParams,
    reply: Ended,
    async run({ app, by, params: { mode } }) {
      const ended = await endOldSecrets(db, by, app.appId, mode)
      await refresh()
      return { ended }
    },
  })

  routes.post('/apps/:app_id/credentials/:mode/signing-secret/rotate', {
    id: 'rotateSigningSecret',
    summary: 'Rotate the signing secret',
    about: 'Returns a new secret once. Postbacks carry both signatures during the grace period.',
    tag: TAG,
    access: 'owner',
    sensitive: true,
    params: CredentialParams,
    body: Grace,
    reply: RotatedSigningSecret,
    async run({ app, by, params: { mode }, body: { grace_hours } }) {
      const graceMs = grace_hours * HOUR_MS
      const { app_id: _, ...rotated } = await rotateSigningSecret(db, by, secretKey, app.appId, mode, graceMs)
      return rotated
    },
  })

  routes.post('/apps/:app_id/credentials/:mode/revoke', {
    id: 'revokeKey',
    summary: 'Revoke one key of an app',
    about: 'Permanently revokes the live or the test key. The other key keeps working.',
    tag: TAG,
    access: 'owner',
    params: CredentialParams,
    reply: Ok,
    async run({ app, by, params: { mode } }) {
      await revokeApp(db, by, app.appId, mode)
      await refresh()
      return OK
    },
  })

  routes.put('/apps/:app_id/credentials/:mode/expiry', {
    id: 'setKeyExpiry',
    summary: 'Set when a key expires',
    about: 'Without `expires_at` the key never expires.',
    tag: TAG,
    access: 'owner',
    sensitive: true,
    params: CredentialParams,
    body: Expiry,
    reply: Ok,
    async run({ app, by, caller, params: { mode }, body }) {
      const expiresAt = body.expires_at === undefined ? null : parseTime(body.expires_at)
      if (expiresAt !== null && expiresAt <= new Date())
        throw new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', {
          expires_at: 'expires_at must be in the future. To end the key now, revoke it.',
        })
      const as = isOperatorRole(caller.role) ? 'operator' : 'publisher'
      await setExpiry(db, by, app.appId, mode, expiresAt, as)
      await refresh()
      return OK
    },
  })
}
