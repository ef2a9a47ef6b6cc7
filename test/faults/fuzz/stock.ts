// Requests that are known to be right, for operations whose values no name or shape tells: what a link in a mail has, what
// belongs together, codes of second factors. For each episode, what they need is prepared.
import { randomUUID } from 'node:crypto'
import { PRESETS } from '../../../src/features/feeds/presets/presets.ts'
import { DEFAULTS } from '../../../src/features/accounts/sign-up/schema.ts'
import { createConversion } from '../../conversion-rows.ts'
import { createFeedOf, createRefusedRun } from '../../feed-rows.ts'
import type { MailServer } from '../../mail-server.ts'
import { TERMS } from '../../sign-ups.ts'
import type { World } from '../../world.ts'
import type { Callers } from './callers.ts'
import type { Row } from './ids.ts'
import type { Header } from './request.ts'
import { addPeople } from './stock-people.ts'
import { addVisitors } from './stock-visitors.ts'

/** What is not said is drawn as for every other request. `headers`: the caller. */
export type Sample = { path?: Row; query?: [string, string][]; headers?: Header[]; body?: unknown }

export type Place = { world: World; url: string; receiverUrl: string; mail: MailServer; episode: number }

/** By the ID of the operation. */
export class Stock {
  readonly #samples = new Map<string, (() => Sample)[]>()

  add(id: string, ...samples: (Sample | (() => Sample))[]): void {
    const all = this.of(id)
    this.#samples.set(id, [...all, ...samples.map((one) => (typeof one === 'function' ? one : () => one))])
  }

  of(id: string): readonly (() => Sample)[] {
    return this.#samples.get(id) ?? []
  }
}

export async function createStock(place: Place, callers: Callers): Promise<Stock> {
  const stock = new Stock()
  await addFeeds(place, callers, stock)
  await addOffers(place, callers, stock)
  await addMoney(place, callers, stock)
  await addPeople(place, callers, stock)
  await addVisitors(place, callers, stock)
  return stock
}

async function addFeeds({ world, receiverUrl }: Place, { advertiser }: Callers, stock: Stock): Promise<void> {
  const offers = await offersOf(world, advertiser.id)
  for (const offer of offers.slice(0, 4)) {
    const deal = { offerId: offer.offerId, advertiserId: advertiser.id }
    const feed_id = String(await createFeedOf(world, deal, `Feed of ${offer.offerId}`))
    for (const id of ['showFeed', 'pauseFeed', 'resumeFeed', 'runFeed', 'previewFeed', 'listFeedRuns', 'listHeldPayouts']) stock.add(id, { path: { feed_id } }) // prettier-ignore
    stock.add('changeFeed', { path: { feed_id }, body: { name: `Renamed ${feed_id}` } })
    stock.add('approveHeldPayouts', { path: { feed_id }, body: { external_ids: ['held'] } })
    stock.add('releasePinnedFields', { path: { offer_id: String(offer.offerId) }, body: { fields: ['name'] } })
    const { feedId, runId } = await createRefusedRun(world, deal, `Refused of ${offer.offerId}`)
    const path = { feed_id: String(feedId), feed_run_id: String(runId) }
    for (const id of ['applyRefusedFeedRun', 'showFeedRun', 'listFeedChanges']) stock.add(id, { path })
  }
  const kind = { preset: 'cpalead', credentials: { publisher: '1' } }
  stock.add('createFeed', () => ({ body: { name: `Feed ${randomUUID()}`, ...kind, settings: { share_percent: 70 } } }))
  const request = PRESETS.find(({ key }) => key === kind.preset)?.request
  stock.add('fetchFeedSample', { body: { request: { ...request, url: `${receiverUrl}/feed` }, credentials: kind.credentials } }) // prettier-ignore
  stock.add('setCurrencyRates', { body: { rates: [{ currency: 'EUR', day: '2026-11-01', usd: '1.1' }] } })
}

async function addOffers({ world }: Place, { advertiser, spareAdvertiser }: Callers, stock: Stock): Promise<void> {
  const path = { advertiser_id: String(advertiser.id) }
  for (const { offerId } of await offersOf(world, advertiser.id)) {
    stock.add('proposeOffer', () => ({ path, body: { offer_id: offerId, name: `Proposed ${randomUUID()}` } }))
    const offer = { ...path, offer_id: String(offerId) }
    stock.add('pauseOfferOfAdvertiser', { path: offer })
    stock.add('resumeOfferOfAdvertiser', { path: offer })
  }
  stock.add('approveOfferProposal', { body: {} })
  const signature = { algorithm: 'hmac-sha1', of: '{url}', encoding: 'hex', parameter: 'hash', header: null }
  stock.add('setCallbackSignature', { path: { advertiser_id: String(spareAdvertiser.id) }, body: { signature, secret: 'x' } }) // prettier-ignore
}

async function addMoney({ world }: Place, { publisher, advertiser }: Callers, stock: Stock): Promise<void> {
  const [offer] = await offersOf(world, advertiser.id)
  const appId = publisher.apps[0]?.appId ?? 0
  const deal = { ...offer!, appId, publisherId: publisher.id, publisher: '', advertiserId: advertiser.id }
  const earned = { payoutMicros: 900_000_000, revenueMicros: 950_000_000 }
  await createConversion(world, deal, { status: 'approved', ...earned, at: new Date() })
  const to = { publisher_id: publisher.id }
  stock.add('recordPayout', () => ({ body: { ...to, amount: 1, reference: randomUUID() } }))
  stock.add('recordAdjustment', () => ({
    body: { ...to, amount: 5, reference: randomUUID(), reason: 'A good month.' },
  }))
  stock.add('setSignUpSettings', { body: { ...DEFAULTS, is_open: true, terms: { ...TERMS, version: '2' } } })
}

async function offersOf({ database: { db } }: World, advertiserId: number) {
  const rows = await db
    .selectFrom('offers')
    .innerJoin('goals', 'goals.offer_id', 'offers.offer_id')
    .select(['offers.offer_id', 'goal_id'])
    .where('advertiser_id', '=', advertiserId)
    .orderBy('offers.offer_id')
    .execute()
  return rows.map(({ offer_id, goal_id }) => ({ offerId: offer_id, goalId: goal_id }))
}
