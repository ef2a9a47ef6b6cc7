// The keys of an app and their secrets: renewing and ending them.
import type { Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { type AuditEntry, type Actor, recordAudit } from '../../features/accounts/audit.ts'
import { isOperatorRole } from '../../features/accounts/people.ts'
import { endOldSecrets, revokeApp, rotateSecret, setExpiry } from '../../features/apps/keys.ts'
import { rotateSigningSecret } from '../../features/apps/signing-secrets.ts'
import { parseTime } from '../../lib/time.ts'
import type { ManageContext } from '../context.ts'
import type { ManagedApp } from '../gate.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import { CredentialParams, Ended, Expiry, Grace, RotatedSecret, RotatedSigningSecret } from './schema.ts'

const TAG = 'Apps'
const HOUR_MS = 3_600_000

export function credentialRoutes(routes: ManageRoutes, { db, secretKey, refresh }: ManageContext): void {
  /** The change and its entry in the audit log, both or neither. */
  const change = <T>(
    by: Actor,
    { appId, publisherId }: ManagedApp,
    work: (trx: Trx) => Promise<T>,
    describe: (result: T) => Pick<AuditEntry, 'action' | 'details'>,
  ) =>
    db.transaction().execute(async (trx) => {
      const result = await work(trx)
      await recordAudit(trx, by, { ...describe(result), subject: appId, publisherId })
      return result
    })

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
      const { api_key, api_secret, old_secret_expires_at } = await change(
        by,
        app,
        (trx) => rotateSecret(trx, secretKey, app.appId, mode, grace_hours * HOUR_MS),
        () => ({ action: 'app.rotate_secret', details: { mode, grace_hours } }),
      )
      await refresh()
      return { api_key, api_secret, old_secret_expires_at }
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
      const ended = await change(
        by,
        app,
        (trx) => endOldSecrets(trx, app.appId, mode),
        (count) => ({ action: 'app.end_old_secret', details: { mode, ended: count } }),
      )
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
      const { api_key, signing_secret, old_signing_secret_expires_at } = await change(
        by,
        app,
        (trx) => rotateSigningSecret(trx, secretKey, app.appId, mode, grace_hours * HOUR_MS),
        () => ({ action: 'app.rotate_signing_secret', details: { mode, grace_hours } }),
      )
      return { api_key, signing_secret, old_signing_secret_expires_at }
    },
  })

  routes.post('/apps/:app_id/credentials/:mode/revoke', {
    id: 'revokeKey',
    summary: 'Revoke one key of an app',
    about: 'Revokes the live or the test key for good. The other key keeps working.',
    tag: TAG,
    access: 'owner',
    params: CredentialParams,
    reply: Ok,
    async run({ app, by, params: { mode } }) {
      await change(
        by,
        app,
        (trx) => revokeApp(trx, app.appId, mode),
        () => ({ action: 'app.revoke_key', details: { mode } }),
      )
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
      await change(
        by,
        app,
        (trx) => setExpiry(trx, app.appId, mode, expiresAt, isOperatorRole(caller.role) ? 'operator' : 'publisher'),
        () => ({ action: 'app.set_expiry', details: { mode, expires_at: expiresAt?.toISOString() ?? null } }),
      )
      await refresh()
      return OK
    },
  })
}
