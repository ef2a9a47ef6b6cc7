// What a publisher may do, as the operator says: use its keys, earn a share, run offers.
import { Command, Option } from 'commander'
import { type Db, inTransaction } from '../db/open.ts'
import { NoSuch } from '../errors.ts'
import type { Actor } from '../features/accounts/audit.ts'
import {
  lockPermissions,
  type PermissionChange,
  type Permissions,
  permit,
  presentPermissions,
  PUBLISHER_STATUSES,
  type PublisherStatus,
} from '../features/apps/permissions.ts'
import { PPM_PER_PERCENT, WHOLE_PPM } from '../lib/money.ts'
import { withChange } from './context.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { findOfferId, findPublisher } from './find.ts'
import { collect, fields, type OutputOptions, show } from './output.ts'
import { UsageError } from './usage.ts'

type PermitOptions = OutputOptions &
  ConfirmOptions & {
    status?: PublisherStatus
    margin?: string
    onlyListed?: boolean
    allOffers?: boolean
    allow: string[]
    deny: string[]
    unlist: string[]
  }

export const permitCommand = () =>
  new Command('permit')
    .description("set a publisher's permissions; without options, show them")
    .argument('<publisher>', 'ID or name')
    .addOption(
      new Option('--status <status>', 'pending: only test keys work; suspended: no keys work').choices(
        PUBLISHER_STATUSES,
      ),
    )
    .option('--margin <percent>', "the network's margin in percent, from 0 to 100; the publisher gets the rest")
    .option('--allow <offer>', 'allow this offer (can be repeated)', collect, [])
    .option('--deny <offer>', 'block this offer (can be repeated)', collect, [])
    .option('--unlist <offer>', 'remove this offer from both lists (can be repeated)', collect, [])
    .addOption(new Option('--only-listed', 'show only allowed offers').conflicts('allOffers'))
    .option('--all-offers', 'show all offers except blocked ones')
    .addOption(yesOption())
    .action(async (named: string, options: PermitOptions) => {
      const sharePpm = options.margin === undefined ? null : readShare(options.margin)
      if (options.status === 'suspended')
        await confirm(`All keys of publisher "${named}" stop working within a second.`, options)
      const permissions = await withChange(async ({ database: { db }, by }) => {
        const { publisher_id } = await findPublisher(db, named)
        return { publisher_id, ...presentPermissions(await showOrSet(db, by, publisher_id, options, sharePpm)) }
      })
      show(options, permissions, ({ denied_offers, ...shown }) => fields({ ...shown, blocked_offers: denied_offers }))
    })

/** Locked from the first look on: two who add an offer to a list at once both find theirs there. */
const showOrSet = (db: Db, by: Actor, publisherId: number, options: PermitOptions, sharePpm: number | null) =>
  inTransaction(db, async (trx) => {
    const before = known(publisherId, await lockPermissions(trx, publisherId))
    const wanted = await change(trx, before, options)
    const given: PermissionChange = {
      ...(wanted === null ? {} : { offers: wanted }),
      ...(sharePpm === null ? {} : { sharePpm }),
      ...(options.status === undefined ? {} : { status: options.status }),
    }
    return Object.keys(given).length > 0 ? permit(trx, by, publisherId, given) : before
  })

function known(publisherId: number, found: Permissions | null): Permissions {
  if (found === null) throw new NoSuch('publisher', publisherId)
  return found
}

/** The lists with what was said of single offers. Null: nothing was. */
async function change(db: Db, before: Permissions, { allow, deny, unlist, onlyListed, allOffers }: PermitOptions) {
  if (onlyListed === undefined && allOffers === undefined && [...allow, ...deny, ...unlist].length === 0) return null
  const idsOf = (offers: string[]) => Promise.all(offers.map((offer) => findOfferId(db, offer)))
  const [allowed, denied, unlisted] = [await idsOf(allow), await idsOf(deny), await idsOf(unlist)]
  const named = new Set([...allowed, ...denied, ...unlisted])
  const isLeft = (offerId: number) => !named.has(offerId)
  return {
    onlyListed: onlyListed ?? (allOffers === undefined ? before.onlyListed : false),
    allowed: [...before.allowed.filter(isLeft), ...allowed],
    denied: [...before.denied.filter(isLeft), ...denied],
  }
}

function readShare(margin: string): number {
  const percent = /^\d{1,3}(\.\d{1,4})?$/.test(margin) ? Number(margin) : NaN
  if (!(percent <= 100)) throw new UsageError('--margin must be a number from 0 to 100 with at most 4 decimals.')
  return WHOLE_PPM - Math.round(percent * PPM_PER_PERCENT)
}
