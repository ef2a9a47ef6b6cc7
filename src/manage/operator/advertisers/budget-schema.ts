import { type Static, type TProperties, Type } from 'typebox'
import { shape } from '../../../http/shape.ts'
import { orNull, Time } from '../../shapes.ts'

const amount = Type.Number({ description: 'US dollars.' })
const spent = Type.Number({ description: 'US dollars, pending conversions included.' })
const used = <T extends TProperties>(description: string, more: T) =>
  orNull(Type.Object({ amount, spent, ...more }, { description }))

export const AdvertiserBudget = shape('AdvertiserBudget', {
  daily: used('Of a day (UTC); null: no limit.', {}),
  monthly: used('Of a month (UTC); null: no limit.', {}),
  total: used('From when it was first set; null: no limit.', { since: Time }),
  is_closed: Type.Boolean({ description: 'A budget is used up: all offers of the advertiser are closed.' }),
  opens_at: orNull(Time),
})
export type AdvertiserBudget = Static<typeof AdvertiserBudget>

const given = (description: string) => Type.Optional(orNull(Type.Number({ description })))
export const BudgetChange = shape('ChangedBudget', {
  daily: given('US dollars a day (UTC); null: no limit.'),
  monthly: given('US dollars a month (UTC); null: no limit.'),
  total: given('US dollars from now on, or from when it was first set; null: no limit.'),
})
export type BudgetChange = Static<typeof BudgetChange>
