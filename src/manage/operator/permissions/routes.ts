// What the operator lets a publisher do: use its keys, run offers, earn a share.
import { AppError } from '../../../errors.ts'
import {
  lockPermissions,
  permit,
  type Permissions as Found,
  presentPermissions,
  readPermissions,
} from '../../../features/apps/permissions.ts'
import { readOfferNames } from '../../../features/offers/offers.ts'
import { PPM_PER_PERCENT } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { PublisherParams } from '../../shapes.ts'
import { NewPermissions, Permissions } from './schema.ts'
import { versionOf } from '../../../lib/version-of.ts'

const TAG = 'Publishers'

export function permissionRoutes(routes: ManageRoutes, { db, refresh }: ManageContext): void {
  function withVersion(found: Found | null) {
    if (found === null) throw notThere()
    const shown = presentPermissions(found)
    return { ...shown, version: versionOf(shown) }
  }
  const present = async (found: Found | null) => {
    const shown = withVersion(found)
    const offer_names = await readOfferNames(db, [...shown.allowed_offers, ...shown.denied_offers])
    return { ...shown, offer_names }
  }

  routes.get('/publishers/:publisher_id/permissions', {
    id: 'getPermissions',
    summary: "Get a publisher's permissions",
    about: 'Status, revenue share, and which offers it can run.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    reply: Permissions,
    run: async ({ publisherId }) => present(await readPermissions(db, publisherId)),
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
        const { version } = withVersion(await lockPermissions(trx, publisherId))
        if (seen_version !== undefined && seen_version !== version)
          throw new AppError('CONFLICT', 'Someone else changed these permissions. Review the current ones, then save again.') // prettier-ignore
        return permit(trx, by, publisherId, {
          ...(status === undefined ? {} : { status }),
          ...(margin_percent === undefined ? {} : { sharePpm: readShare(margin_percent) }),
          ...(offers === undefined
            ? {}
            : { offers: { onlyListed: offers.only_listed, allowed: offers.allowed, denied: offers.denied } }),
        })
      })
      await refresh()
      return present(after)
    },
  })
}

/** Exactly, or not at all: a margin that was rounded would be another one than was asked for. */
function readShare(marginPercent: number): number {
  const share = (100 - marginPercent) * PPM_PER_PERCENT
  if (Math.abs(share - Math.round(share)) > 1e-6)
    throw new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', {
      margin_percent: 'margin_percent must have at most 4 decimals.',
    })
  return Math.round(share)
}
