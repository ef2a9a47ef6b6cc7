// The offers of a locker, as the visitor of it may complete them.
import type { Db } from '../../db/open.ts'
import type { Visitor } from '../clicks/visitor.ts'
import { type AppCredential, currencyAt } from '../apps/credentials.ts'
import { WHOLE_PPM } from '../../lib/money.ts'
import type { Catalogue } from '../offers/catalogue.ts'
import { type OfferSources, recommendedTo } from '../offers/offer-answers.ts'
import { fillRewards, TOKEN } from '../offers/offer-text.ts'
import type { Language } from '../../lib/languages.ts'
import { problemOf } from './admission.ts'
import { findLocker, type KnownLocker } from './lockers.ts'
import type { LockerOffer } from './schema.ts'

const MAX_SHOWN = 20
const MICROS_PER_USD = 1_000_000

type Asked = {
  locker: KnownLocker
  credential: AppCredential
  userId: string
  visitor: Visitor
  requestId: string
  language: Language
}

/** Null: on this one, or on any. */
export function platformsElsewhere({ settings: { platforms } }: KnownLocker, { platform }: Visitor) {
  return platforms.length === 0 || (platform !== null && platforms.includes(platform)) ? null : platforms
}

/** The offers that a locker may show: those that its publisher chose. */
function wantedBy(
  { settings: { categories, min_payout, max_payout } }: KnownLocker,
  credential: AppCredential,
  nowMs: number,
) {
  const { sharePpm } = currencyAt(credential, nowMs)
  // In plain numbers: it is asked of every offer of the list.
  const isPaid = (payoutMicros: number) => {
    const payout = Math.floor((payoutMicros * sharePpm) / WHOLE_PPM) / MICROS_PER_USD
    return payout >= (min_payout ?? 0) && payout <= (max_payout ?? Infinity)
  }
  return { categories, isPaid }
}

/**
 * For clicks. The token of a link names the locker, but not the offer, which is beside it in the URL: anyone could put
 * another one there. A locker that is closed meanwhile starts nothing either, as it would unlock nothing.
 */
export const createLockerCheck =
  (db: Db, catalogue: Catalogue) =>
  async (lockerId: number, offerId: number, credential: AppCredential, visitor: Visitor): Promise<boolean> => {
    const locker = await findLocker(db, { lockerId })
    const nowMs = Date.now()
    if (locker === null) return true // nothing is chosen, and nothing unlocks
    if (problemOf(locker, credential, nowMs) !== null) return false
    if (platformsElsewhere(locker, visitor) !== null) return false
    return catalogue.isOf(offerId, wantedBy(locker, credential, nowMs))
  }

/** Those that are recommended to the visitor and fit. */
export async function listLockerOffers(sources: OfferSources, asked: Asked, nowMs: number): Promise<LockerOffer[]> {
  const { catalogue, completions, links, isBanned } = sources
  const { locker, credential, userId, visitor, requestId, language } = asked
  const { appId, isTest, rules } = credential
  const { country, platform } = visitor
  if (isBanned(credential, userId)) return []
  if (platformsElsewhere(locker, visitor) !== null) return []
  const filter = { rules, ...(country === null ? {} : { country }), ...(platform === null ? {} : { platform }) }
  const list = await catalogue.list(filter, recommendedTo(credential, { userId }, nowMs))
  const completed = catalogue.completedOffers(await completions.of({ appId, isTest, userId }))
  const currency = currencyAt(credential, nowMs)
  const hidden = catalogue.within(list, completed)
  const offers = await catalogue.pick(list, hidden, wantedBy(locker, credential, nowMs), { limit: MAX_SHOWN, language })
  const token = links.sign({ appId, isTest, issuedAt: Math.floor(nowMs / 1000), requestId, userId, subIds: null, lockerId: locker.lockerId }) // prettier-ignore
  return offers.map(({ template, payouts }) => {
    const text = fillRewards(template, payouts, currency).replaceAll(TOKEN, token)
    const { offer_id, name, description, image_url, link, reward } = JSON.parse(text) as LockerOffer
    return { offer_id, name, description, image_url, link, reward }
  })
}
