import { type Static, type TProperties, Type } from 'typebox'
import { shape } from '../../../http/shape.ts'
import { orNull, Time } from '../../shapes.ts'

const amount = Type.Number({ description: 'Budget in US dollars.' })
const spent = Type.Number({ description: 'Spend in US dollars, pending conversions included.' })
const used = <T extends TProperties>(description: string, more: T) =>
  orNull(Type.Object({ amount, spent, ...more }, { description }))

export const AdvertiserBudget = shape('AdvertiserBudget', {
  daily: used('Budget per UTC day; null for no limit.', {}),
  monthly: used('Budget per UTC month; null for no limit.', {}),
  total: used('Total budget since it was first set; null for no limit.', { since: Time }),
  is_closed: Type.Boolean({
    description: 'Whether all offers of the advertiser are closed because a budget is used up.',
  }),
  opens_at: orNull(Time),
})
export type AdvertiserBudget = Static<typeof AdvertiserBudget>

const given = (description: string) => Type.Optional(orNull(Type.Number({ description })))
export const BudgetChange = shape('ChangedBudget', {
  daily: given('US dollars per UTC day; null for no limit.'),
  monthly: given('US dollars per UTC month; null for no limit.'),
  total: given('US dollars in total, since this budget was first set; null for no limit.'),
})
export type BudgetChange = Static<typeof BudgetChange>
