// What the operator lets a publisher do: use its keys, run offers, earn a share.
import { createHash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { recordAudit } from '../../features/accounts/audit.ts'
import { lockPermissions, permit, type Permissions as Found, readPermissions } from '../../features/apps/permissions.ts'
import { PPM_PER_PERCENT } from '../../lib/money.ts'
import type { ManageContext } from '../context.ts'
import { notThere } from '../gate.ts'
import type { ManageRoutes } from '../route.ts'
import { PublisherParams } from '../shapes.ts'
import { NewPermissions, Permissions } from './schema.ts'

const TAG = 'Publishers'

export function permissionRoutes(routes: ManageRoutes, { db, refresh }: ManageContext): void {
  function describe(found: Found | null) {
    if (found === null) throw notThere()
    return {
      status: found.status,
      margin_percent: (100 * PPM_PER_PERCENT - found.sharePpm) / PPM_PER_PERCENT,
      only_listed_offers: found.onlyListed,
      allowed_offers: found.allowed,
      denied_offers: found.denied,
    }
  }
  const withVersion = (shown: ReturnType<typeof describe>) => ({
    ...shown,
    version: createHash('sha256').update(JSON.stringify(shown)).digest('base64url'),
  })

  routes.get('/publishers/:publisher_id/permissions', {
    id: 'getPermissions',
    summary: "Get a publisher's permissions",
    about: 'Status, revenue share, and which offers it can run.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    reply: Permissions,
    run: async ({ publisherId }) => withVersion(describe(await readPermissions(db, publisherId))),
  })

  routes.patch('/publishers/:publisher_id/permissions', {
    id: 'changePermissions',
    summary: "Change a publisher's permissions",
    about: 'Approve or suspend it, set its revenue share, allow or block offers. Effective within a second.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    body: NewPermissions,
    reply: Permissions,
    bodyLimit: 1024 * 1024,
    async run({ publisherId, body, by }) {
      const { status, margin_percent, offers, seen_version } = body
      const after = await db.transaction().execute(async (trx) => {
        const before = describe(await lockPermissions(trx, publisherId))
        if (seen_version !== undefined && seen_version !== withVersion(before).version)
          throw new AppError('CONFLICT', 'Someone else changed these permissions. Review the current ones, then save again.') // prettier-ignore
        await permit(trx, publisherId, {
          ...(status === undefined ? {} : { status }),
          ...(margin_percent === undefined ? {} : { sharePpm: Math.round((100 - margin_percent) * PPM_PER_PERCENT) }),
          ...(offers === undefined
            ? {}
            : { offers: { onlyListed: offers.only_listed, allowed: offers.allowed, denied: offers.denied } }),
        })
        const details = { before, after: describe(await readPermissions(trx, publisherId)) }
        await recordAudit(trx, by, { action: 'publisher.permit', subject: publisherId, publisherId, details })
        return details.after
      })
      await refresh()
      return withVersion(after)
    },
  })
}
