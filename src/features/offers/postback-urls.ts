// The URLs that an advertiser calls to confirm conversions, ready to paste into its own system.
import type { Db } from '../../db/open.ts'
import type { Advertiser } from '../accounts/advertisers.ts'

const MAX_OFFERS = 50

export type PostbackUrls = {
  offers: {
    offer_id: number
    name: string
    /** Without {click_id} in its destination the advertiser never learns what to send back. */
    can_be_confirmed: boolean
    goals: { goal_id: number; name: string; postback_url: string }[]
  }[]
  more_offers: number
}

/** For the advertiser's first offers, one URL for each goal. */
export async function listPostbackUrls(
  db: Db,
  advertiser: Advertiser,
  { publicUrl, token }: { publicUrl: string; token: string },
): Promise<PostbackUrls> {
  const offers = await db
    .selectFrom('offers')
    .select(['offer_id', 'name', 'destination_url'])
    .select((is) => is.fn.countAll<number>().over().as('count'))
    .where('advertiser_id', '=', advertiser.advertiser_id)
    .orderBy('offer_id')
    .limit(MAX_OFFERS)
    .execute()
  const goals = await db
    .selectFrom('goals')
    .select(['offer_id', 'goal_id', 'external_id', 'name', 'is_retired', 'payout_ppm', 'revenue_ppm'])
    .where((is) => is('offer_id', '=', is.fn.any(is.val(offers.map((offer) => offer.offer_id)))))
    .orderBy('offer_id')
    .orderBy('place')
    .execute()
  const byOffer = Map.groupBy(goals, (goal) => goal.offer_id)
  return {
    offers: offers.map(({ offer_id, name, destination_url }) => ({
      offer_id,
      name,
      can_be_confirmed: destination_url.includes('{click_id}'),
      goals: (byOffer.get(offer_id) ?? [])
        .filter(({ is_retired }) => !is_retired)
        .map((goal) => ({
          goal_id: goal.goal_id,
          name: goal.name,
          postback_url: postbackUrl(advertiser, { publicUrl, token, goal, goals: byOffer.get(offer_id) ?? [] }),
        })),
    })),
    more_offers: Math.max(0, (offers[0]?.count ?? 0) - MAX_OFFERS),
  }
}

type Goal = { goal_id: number; external_id: string | null; name: string; payout_ppm: number | null; revenue_ppm: number | null } // prettier-ignore
/** `goals`: all of its offer. */
type PostbackTarget = { publicUrl: string; token: string; goal: Goal; goals: readonly Goal[] }

/** With the advertiser's own names for our parameters; what stands in braces is for its system to fill in. */
export function postbackUrl({ aliases }: Pick<Advertiser, 'aliases'>, target: PostbackTarget): string {
  const { goal, goals, publicUrl, token } = target
  const isShare = goal.payout_ppm !== null || goal.revenue_ppm !== null
  const parameters = [
    ['click_id', '{click_id}'],
    ['goal', encodeURIComponent(nameOf(goal, goals))],
    ['txn_id', '{txn_id}'],
    ...(isShare ? [['amount', '{amount}']] : []),
    ['token', token],
  ]
  const query = parameters.map(([name = '', value]) => `${encodeURIComponent(aliases[name]?.[0] ?? name)}=${value}`)
  return `${publicUrl}/postback?${query.join('&')}`
}

/** Our ID, which never changes, unless the advertiser means another goal by it. */
function nameOf({ goal_id, external_id, name }: Goal, goals: readonly Goal[]): string {
  const id = String(goal_id)
  return goals.some((one) => one.goal_id !== goal_id && one.external_id === id) ? (external_id ?? name) : id
}
