// Imports an offer again, with something changed.
import type { NewOffer } from '../src/features/offers/fields.ts'
import { showOffer } from '../src/features/offers/offers.ts'
import { upsertOffers } from '../src/features/offers/upsert.ts'
import type { World } from './world.ts'

export async function editOffer(world: World, offerId: number, change: (offer: NewOffer) => Partial<NewOffer>) {
  const { goals, ...recorded } = await showOffer(world.database.db, offerId)
  const offer = { ...recorded, goals: goals.filter((goal) => !goal.is_retired) }
  const { problems } = await upsertOffers(world.database.db, [{ line: 1, offer: { ...offer, ...change(offer) } }])
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  await world.app.refresh()
}

export const renamed = (name: string) => (offer: NewOffer) => ({
  goals: offer.goals.map((goal, i) => (i === 0 ? { ...goal, name } : goal)),
})

/** A step before all others. */
export const prefixed = (offer: NewOffer) => {
  const [first] = offer.goals
  if (first === undefined) throw new Error('An offer without goals.')
  return { goals: [{ ...first, external_id: null, name: 'A new first step' }, ...offer.goals] }
}

export const repeatable = (is_repeatable: boolean) => (offer: NewOffer) => ({
  goals: offer.goals.map((goal) => ({ ...goal, is_repeatable })),
})
