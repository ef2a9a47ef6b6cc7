// The offers of a locker, as the visitor of it may complete them.
import type { Visitor } from '../clicks/visitor.ts'
import { type AppCredential, currencyAt } from '../apps/credentials.ts'
import { takeShare } from '../../lib/money.ts'
import type { OfferSources } from '../offers/offer-answers.ts'
import { fillRewards, TOKEN } from '../offers/offer-text.ts'
import type { KnownLocker } from './lockers.ts'
import type { LockerOffer } from './schema.ts'

const MAX_SHOWN = 20
const MAX_READ = 500
const MICROS_PER_USD = 1_000_000

type Asked = { locker: KnownLocker; credential: AppCredential; userId: string; visitor: Visitor; requestId: string }

/** The most popular that fit. */
export async function listLockerOffers(sources: OfferSources, asked: Asked, nowMs: number): Promise<LockerOffer[]> {
  const { catalogue, completions, links, isBanned } = sources
  const { locker, credential, userId, visitor, requestId } = asked
  const { categories, platforms, min_payout, max_payout } = locker.settings
  const { appId, isTest, rules } = credential
  const { country, platform } = visitor
  if (isBanned(credential, userId)) return []
  if (platforms.length > 0 && (platform === null || !platforms.includes(platform))) return []
  const filter = { rules, ...(country === null ? {} : { country }), ...(platform === null ? {} : { platform }) }
  const list = await catalogue.list(filter, 'popular')
  const completed = catalogue.completedOffers(await completions.of({ appId, isTest, userId }))
  const { offers } = await catalogue.slice(list, catalogue.within(list, completed), 0, MAX_READ)
  const currency = currencyAt(credential, nowMs)
  const isWanted = ({ template, payouts }: (typeof offers)[number]) => {
    const payout = takeShare(payouts[0] ?? 0, currency.sharePpm) / MICROS_PER_USD
    // Within a text of the offer, the quotation marks would be escaped.
    const isInCategory = categories.length === 0 || categories.some((one) => template.includes(`"category":"${one}",`))
    return isInCategory && payout >= (min_payout ?? 0) && payout <= (max_payout ?? Infinity)
  }
  const token = links.sign({ appId, isTest, issuedAt: Math.floor(nowMs / 1000), requestId, userId, subIds: null, lockerId: locker.lockerId }) // prettier-ignore
  return offers
    .filter(isWanted)
    .slice(0, MAX_SHOWN)
    .map(({ template, payouts }) => {
      const text = fillRewards(template, payouts, currency).replaceAll(TOKEN, token)
      const { offer_id, name, description, image_url, link, reward } = JSON.parse(text) as LockerOffer
      return { offer_id, name, description, image_url, link, reward }
    })
}
