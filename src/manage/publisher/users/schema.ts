// The shapes of an app's users.
import { Type } from 'typebox'
import { BalanceEntry, User } from '../../../features/users/schema.ts'
import { ID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { freeText, id, MODES, oneOf, orNull, Time } from '../../shapes.ts'

export const UserListQuery = Type.Object({
  mode: Type.Optional(oneOf(MODES)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
export const AppUserList = shape('AppUserList', {
  users: Type.Array(Type.Object({ user_id: Type.String(), last_conversion_at: Time }), {
    description: 'Of the latest 1,000 conversions, the latest first.',
  }),
})

export const AppUserParams = Type.Object({ app_id: id, user_id: freeText(256) })
export const AppUserQuery = Type.Object({ mode: Type.Optional(oneOf(MODES)), ...ID_PAGE_QUERY })

const { balance, currency, keeps_balance, next_cursor } = User.properties
export const AppUser = shape('AppUser', {
  user_id: Type.String(),
  ban: Type.Union(
    [
      Type.Object({
        is_everywhere: Type.Boolean({ description: 'In every app of the network.' }),
        created_at: Time,
      }),
      Type.Null(),
    ],
    { description: 'Since when the network keeps the user from offers; null: it does not.' },
  ),
  clicks: Type.Array(
    Type.Object({
      click_id: Type.String(),
      clicked_at: Time,
      offer_id: id,
      offer_name: Type.String(),
      country: orNull(Type.String()),
      device: orNull(Type.String()),
      os: orNull(Type.String()),
    }),
    { description: 'The latest, newest first.' },
  ),
  balance,
  currency,
  keeps_balance,
  entries: Type.Array(BalanceEntry, { description: 'Of the balance, newest first.' }),
  next_cursor,
})
