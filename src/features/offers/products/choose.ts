// Several offers for one product: which of them is listed.
import { isEnough, type MinReward } from '../rewards.ts'
import type { Judged } from './app-rules.ts'

export const PRODUCT_RULES = ['highest_payout', 'best_epc', 'fixed_order', 'all'] as const
export type ProductRule = (typeof PRODUCT_RULES)[number]

/** `worth`: by the operator's rule, more is better. `isOpen`: it could be listed now. */
export type Rival = Judged & {
  offerId: number
  product: string
  isOpen: boolean
  worth: readonly number[]
  countries: readonly string[]
  platforms: readonly string[]
  category: string
  paymentRequired: boolean
}

/**
 * For each offer the one that it waits behind: the best that is open, better than it, and listed wherever it would be
 * itself. So no place and no app loses a product by this; where targeting overlaps in part, both are listed.
 */
export function chooseShown(
  rivals: readonly Rival[],
  minRewards: readonly MinReward[] = [],
): Map<number, number | null> {
  const behind = new Map<number, number | null>()
  for (const its of Map.groupBy(rivals, ({ product }) => product).values()) {
    const ranked = its.toSorted(compare)
    for (const [place, rival] of ranked.entries())
      behind.set(
        rival.offerId,
        ranked
          .slice(0, place)
          .find((other) => other.isOpen && covers(other, rival) && isEnoughWhere(other, rival, minRewards))?.offerId ??
          null,
      )
  }
  return behind
}

function compare(a: Rival, b: Rival): number {
  for (const [i, worth] of a.worth.entries()) if (worth !== b.worth[i]) return (b.worth[i] ?? 0) - worth
  return a.offerId - b.offerId
}

/** Whatever an app's rules leave out of `one`, they leave out of `other`. No countries: all of them. */
const covers = (one: Rival, other: Rival) =>
  one.category === other.category &&
  one.paymentRequired === other.paymentRequired &&
  one.blockedWords.isSubsetOf(other.blockedWords) &&
  (one.countries.length === 0 ||
    (other.countries.length > 0 && other.countries.every((code) => one.countries.includes(code)))) &&
  other.platforms.every((platform) => one.platforms.includes(platform))

/** Every reward that `other` reaches, `one` does, too. */
function isEnoughWhere(one: Rival, other: Rival, minRewards: readonly MinReward[]): boolean {
  const paysMore = one.payouts.length === other.payouts.length && one.payouts.every((payout, i) => payout >= (other.payouts[i] ?? 0)) // prettier-ignore
  return paysMore || minRewards.every((wanted) => isEnough(one.payouts, wanted) || !isEnough(other.payouts, wanted))
}
