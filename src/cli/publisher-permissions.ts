// What a publisher may do, as the operator says: use its keys, earn a share, run offers.
import { Command, Option } from 'commander'
import { type Db, inTransaction } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import {
  lockPermissions,
  type PermissionChange,
  type Permissions,
  permit,
  PUBLISHER_STATUSES,
  type PublisherStatus,
  readPermissions,
} from '../features/apps/permissions.ts'
import { PPM_PER_PERCENT, WHOLE_PPM } from '../lib/money.ts'
import { withChange } from './context.ts'
import { collect, fields, type OutputOptions, readId, show } from './output.ts'

type PermitOptions = OutputOptions & {
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
    .argument('<id>', 'publisher_id')
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
    .option('--all-offers', 'show all offers except denied ones')
    .action(async (id: string, options: PermitOptions) => {
      const sharePpm = options.margin === undefined ? null : readShare(options.margin)
      const permissions = await withChange(({ database }) => showOrSet(database.db, readId(id), options, sharePpm))
      show(options, { publisher_id: readId(id), ...present(permissions) }, fields)
    })

/** Locked from the first look on: two who add an offer to a list at once both find theirs there. */
const showOrSet = (db: Db, publisherId: number, options: PermitOptions, sharePpm: number | null) =>
  inTransaction(db, async (trx) => {
    const before = known(publisherId, await lockPermissions(trx, publisherId))
    const wanted = change(before, options)
    const given: PermissionChange = {
      ...(wanted === null ? {} : { offers: wanted }),
      ...(sharePpm === null ? {} : { sharePpm }),
      ...(options.status === undefined ? {} : { status: options.status }),
    }
    if (Object.keys(given).length > 0) await permit(trx, publisherId, given)
    return known(publisherId, await readPermissions(trx, publisherId))
  })

function known(publisherId: number, found: Permissions | null): Permissions {
  if (found === null)
    throw new OperatorError(`There is no publisher ${publisherId}. List publishers with: offerdeck publisher list`)
  return found
}

/** The lists with what was said of single offers. Null: nothing was. */
function change(before: Permissions, { allow, deny, unlist, onlyListed, allOffers }: PermitOptions) {
  if (onlyListed === undefined && allOffers === undefined && [...allow, ...deny, ...unlist].length === 0) return null
  const [allowed, denied] = [allow.map(readId), deny.map(readId)]
  const named = new Set([...allowed, ...denied, ...unlist.map(readId)])
  const isLeft = (offerId: number) => !named.has(offerId)
  return {
    onlyListed: onlyListed ?? (allOffers === undefined ? before.onlyListed : false),
    allowed: [...before.allowed.filter(isLeft), ...allowed],
    denied: [...before.denied.filter(isLeft), ...denied],
  }
}

function readShare(margin: string): number {
  const percent = /^\d{1,3}(\.\d{1,4})?$/.test(margin) ? Number(margin) : NaN
  if (!(percent <= 100)) throw new OperatorError('--margin must be a number from 0 to 100 with at most 4 decimals.')
  return WHOLE_PPM - Math.round(percent * PPM_PER_PERCENT)
}

const present = ({ status, sharePpm, onlyListed, allowed, denied }: Permissions) => ({
  status,
  margin_percent: (WHOLE_PPM - sharePpm) / PPM_PER_PERCENT,
  only_listed_offers: onlyListed,
  allowed_offers: allowed,
  denied_offers: denied,
})
