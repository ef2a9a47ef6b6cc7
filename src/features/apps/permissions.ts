// What the operator lets a publisher do: whether its keys work, and which offers it may run.
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { PPM_PER_PERCENT, WHOLE_PPM } from '../../lib/money.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { settleApplication } from '../accounts/sign-up/applications.ts'

/**
 * pending: only its test keys work. suspended: none do, and its links lead nowhere; what its users have begun is still
 * recorded when advertisers confirm it.
 */
export const PUBLISHER_STATUSES = ['pending', 'active', 'suspended'] as const
export type PublisherStatus = (typeof PUBLISHER_STATUSES)[number]

/** Which offers: all but those that are not allowed, or only those that are. */
export type OfferPermissions = { onlyListed: boolean; allowed: number[]; denied: number[] }

export type Permissions = OfferPermissions & { status: PublisherStatus; sharePpm: number }

/** One at a time for each publisher. */
export async function lockPublisher(trx: Trx, publisherId: number): Promise<void> {
  await trx
    .selectFrom('publishers')
    .select('publisher_id')
    .where('publisher_id', '=', publisherId)
    .forNoKeyUpdate()
    .execute()
}

/** What a publisher may do, until this transaction changes it. */
export async function lockPermissions(trx: Trx, publisherId: number): Promise<Permissions | null> {
  await lockPublisher(trx, publisherId)
  return readPermissions(trx, publisherId)
}

/** Null when there is no such publisher. */
export async function readPermissions(db: Db, publisherId: number): Promise<Permissions | null> {
  const publisher = await db
    .selectFrom('publishers')
    .select(['status', 'share_ppm', 'only_listed_offers'])
    .where('publisher_id', '=', publisherId)
    .executeTakeFirst()
  if (publisher === undefined) return null
  const rows = await db
    .selectFrom('publisher_offers')
    .select(['offer_id', 'is_allowed'])
    .where('publisher_id', '=', publisherId)
    .orderBy('offer_id')
    .execute()
  const idsOf = (isAllowed: boolean) => rows.filter((row) => row.is_allowed === isAllowed).map((row) => row.offer_id)
  return {
    status: publisher.status as PublisherStatus,
    sharePpm: publisher.share_ppm,
    onlyListed: publisher.only_listed_offers,
    allowed: idsOf(true),
    denied: idsOf(false),
  }
}

/**
 * What is absent stays; offers replace what was said of them before. `sharePpm` is of what offers pay, in parts of a
 * million: the rest is the network's margin. Clicks keep the share that they were promised. `refusal` is why a publisher
 * that signed up is suspended in place of being approved.
 */
export type PermissionChange = {
  status?: PublisherStatus
  refusal?: string
  sharePpm?: number
  offers?: OfferPermissions
}

/** Returns what the publisher may do afterwards. */
export async function permit(db: Db, by: Actor, publisherId: number, change: PermissionChange): Promise<Permissions> {
  const { status, sharePpm, offers } = change
  if (sharePpm !== undefined && (!Number.isInteger(sharePpm) || sharePpm < 0 || sharePpm > WHOLE_PPM))
    throw new OperatorError('The share must be from 0 to 100 percent.')
  const both = offers?.allowed.filter((id) => offers.denied.includes(id)) ?? []
  if (both.length > 0) throw new OperatorError(`Offer ${both.join(', ')} cannot be both allowed and blocked.`, 'offers')
  return inTransaction(db, async (trx) => {
    const before = await lockPermissions(trx, publisherId)
    if (before === null) throw new NoSuch('publisher', publisherId)
    await trx
      .updateTable('publishers')
      .set((is) => ({
        status: status ?? is.ref('status'),
        share_ppm: sharePpm ?? is.ref('share_ppm'),
        only_listed_offers: offers?.onlyListed ?? is.ref('only_listed_offers'),
      }))
      .where('publisher_id', '=', publisherId)
      .execute()
    if (offers !== undefined) await listOffers(trx, publisherId, offers)
    // Its apps are stamped as changed, which every API process looks for.
    await trx
      .updateTable('apps')
      .set((is) => ({ name: is.ref('name') }))
      .where('publisher_id', '=', publisherId)
      .execute()
    const after = (await readPermissions(trx, publisherId)) ?? before
    const details = { before: presentPermissions(before), after: presentPermissions(after) }
    await recordAudit(trx, by, { action: 'publisher.permit', subject: publisherId, publisherId, details })
    if (status !== undefined) await settleApplication(trx, by, publisherId, { status, reason: change.refusal ?? null })
    return after
  })
}

/** As operators see it: what the publisher does not get is the network's margin. */
export const presentPermissions = ({ status, sharePpm, onlyListed, allowed, denied }: Permissions) => ({
  status,
  margin_percent: (WHOLE_PPM - sharePpm) / PPM_PER_PERCENT,
  only_listed_offers: onlyListed,
  allowed_offers: allowed,
  denied_offers: denied,
})

async function listOffers(trx: Trx, publisherId: number, { allowed, denied }: OfferPermissions): Promise<void> {
  const rows = [
    ...new Set(allowed).values().map((offer_id) => ({ offer_id, is_allowed: true })),
    ...new Set(denied).values().map((offer_id) => ({ offer_id, is_allowed: false })),
  ].map((row) => ({ ...row, publisher_id: publisherId }))
  await checkOffers(
    trx,
    rows.map((row) => row.offer_id),
  )
  await trx.deleteFrom('publisher_offers').where('publisher_id', '=', publisherId).execute()
  if (rows.length > 0) await trx.insertInto('publisher_offers').values(rows).execute()
}

async function checkOffers(trx: Trx, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const found = await trx.selectFrom('offers').select('offer_id').where('offer_id', 'in', ids).execute()
  const known = new Set(found.map((row) => row.offer_id))
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length > 0) throw new OperatorError(`There is no offer ${missing.join(', ')}.`, 'offers')
}
