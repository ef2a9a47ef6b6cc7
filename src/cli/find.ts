// What a command is about, by ID or by name: both are accepted wherever a command asks for a thing.
import type { Db } from '../db/open.ts'
import { NoSuch, type Noun } from '../errors.ts'
import { type Advertiser, matchAdvertisers } from '../features/accounts/advertisers.ts'
import { matchPublishers, type Publisher } from '../features/accounts/publishers.ts'
import { matchApps } from '../features/apps/apps.ts'
import { hasClick } from '../features/clicks/clicks.ts'
import { findConversion } from '../features/conversions/conversions.ts'
import { matchFeeds } from '../features/feeds/feed-list.ts'
import { matchLockers } from '../features/lockers/lockers.ts'
import { matchOffers } from '../features/offers/offers.ts'
import { parseReference } from '../lib/reference.ts'
import { UsageError } from './usage.ts'

export const findPublisher = async (db: Db, text: string): Promise<Publisher> =>
  only(text, 'publisher', await matchPublishers(db, parseReference(text)), (one) => one.publisher_id)

export const findAdvertiser = async (db: Db, text: string): Promise<Advertiser> =>
  only(text, 'advertiser', await matchAdvertisers(db, parseReference(text)), (one) => one.advertiser_id)

export const findApp = async (db: Db, text: string) =>
  only(text, 'app', await matchApps(db, parseReference(text)), (one) => one.app_id)

export const findOffer = async (db: Db, text: string) =>
  only(text, 'offer', await matchOffers(db, parseReference(text)), (one) => one.offer_id)

export const findLocker = async (db: Db, text: string) =>
  only(text, 'locker', await matchLockers(db, parseReference(text)), (one) => one.locker_id)

export const findFeed = async (db: Db, text: string) =>
  only(text, 'feed', await matchFeeds(db, parseReference(text)), (one) => one.feed_id)

/** What is not even an ID is none either. */
export async function findConversionId(db: Db, text: string): Promise<string> {
  const conversion = await findConversion(db, text, null)
  if (conversion === null) throw new NoSuch('conversion', text)
  return conversion.conversion_id
}

/** For a list that is empty: of a click that has none, or of no click at all. */
export async function checkClick(db: Db, text: string): Promise<void> {
  if (!(await hasClick(db, text))) throw new NoSuch('click', text)
}

export const findAppId = async (db: Db, text: string) => (await findApp(db, text)).app_id
export const findOfferId = async (db: Db, text: string) => (await findOffer(db, text)).offer_id

type Named = { name: string; publisher?: string }

function only<T extends Named>(text: string, kind: Noun, found: T[], idOf: (one: T) => number): T {
  const [one, other] = found
  if (one === undefined) {
    const { id, name } = parseReference(text)
    throw new NoSuch(kind, id === 0 ? name : id)
  }
  if (other === undefined) return one
  const names = found.map(({ name, publisher }) => (publisher === undefined ? `"${name}"` : `"${publisher}/${name}"`))
  const listed = found.map((each, i) => `id:${idOf(each)} (${names[i]})`)
  throw new UsageError(`"${text}" names more than one ${kind}. Use one of: ${listed.join(', ')}.`)
}
