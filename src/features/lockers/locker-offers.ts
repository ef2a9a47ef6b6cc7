// The offers of a locker, as the visitor of it may complete them.
import type { Visitor } from '../clicks/visitor.ts'
import { type AppCredential, currencyAt } from '../apps/credentials.ts'
import { WHOLE_PPM } from '../../lib/money.ts'
import { type OfferSources, recommendedTo } from '../offers/offer-answers.ts'
import { fillRewards, TOKEN } from '../offers/offer-text.ts'
import type { Language } from '../../lib/languages.ts'
import type { KnownLocker } from './lockers.ts'
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

/** Those that are recommended to the visitor and fit. */
export async function listLockerOffers(sources: OfferSources, asked: Asked, nowMs: number): Promise<LockerOffer[]> {
  const { catalogue, completions, links, isBanned } = sources
  const { locker, credential, userId, visitor, requestId, language } = asked
  const { categories, min_payout, max_payout } = locker.settings
  const { appId, isTest, rules } = credential
  const { country, platform } = visitor
  if (isBanned(credential, userId)) return []
  if (platformsElsewhere(locker, visitor) !== null) return []
  const filter = { rules, ...(country === null ? {} : { country }), ...(platform === null ? {} : { platform }) }
  const list = await catalogue.list(filter, recommendedTo(credential, { userId }, nowMs))
  const completed = catalogue.completedOffers(await completions.of({ appId, isTest, userId }))
  const currency = currencyAt(credential, nowMs)
  // In plain numbers: it is asked of every offer of the list.
  const isPaid = (payoutMicros: number) => {
    const payout = Math.floor((payoutMicros * currency.sharePpm) / WHOLE_PPM) / MICROS_PER_USD
    return payout >= (min_payout ?? 0) && payout <= (max_payout ?? Infinity)
  }
  const hidden = catalogue.within(list, completed)
  const offers = await catalogue.pick(list, hidden, { categories, isPaid }, { limit: MAX_SHOWN, language })
  const token = links.sign({ appId, isTest, issuedAt: Math.floor(nowMs / 1000), requestId, userId, subIds: null, lockerId: locker.lockerId }) // prettier-ignore
  return offers.map(({ template, payouts }) => {
    const text = fillRewards(template, payouts, currency).replaceAll(TOKEN, token)
    const { offer_id, name, description, image_url, link, reward } = JSON.parse(text) as LockerOffer
    return { offer_id, name, description, image_url, link, reward }
  })
}
