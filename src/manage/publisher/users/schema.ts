// The shapes of an app's users.
import { Type } from 'typebox'
import { BalanceEntry, User } from '../../../features/users/schema.ts'
import { ID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { freeText, id, MODES, oneOf, orNull, Time } from '../../shapes.ts'

const { balance, currency, keeps_balance, next_cursor } = User.properties

export const UserListQuery = Type.Object({
  mode: Type.Optional(oneOf(MODES)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
})
export const AppUserList = shape('AppUserList', {
  users: Type.Array(Type.Object({ user_id: Type.String(), last_conversion_at: Time }), {
    description: 'Of the latest 1,000 conversions, the latest first.',
  }),
})

export const Erasure = shape('Erasure', {
  erasure_id: id,
  mode: oneOf(MODES),
  status: oneOf(
    ['waiting', 'settling', 'done'],
    'waiting: for its turn, or for postbacks to be delivered; settling: erased, and looked at again for what arrives late; done.',
  ),
  pseudonym: Type.String({ description: 'What takes the place of the user ID.' }),
  requested_by: Type.String(),
  requested_at: Time,
  erased_at: orNull(Time),
  done_at: orNull(Time),
  counts: Type.Record(Type.String(), Type.Integer(), { description: 'Rows erased so far, by what they are.' }),
})
export const ErasureReply = shape('ErasureReply', {
  erasure: Type.Union([Erasure, Type.Null()], { description: 'Null: nothing is known of this user.' }),
  waiting_postbacks: Type.Integer({
    description: 'Postbacks about the user that are delivered first, for up to 3 days.',
  }),
})
export const ErasureListQuery = Type.Object({ ...ID_PAGE_QUERY })
export const ErasureList = shape('ErasureList', {
  erasures: Type.Array(Erasure, { description: 'Newest first.' }),
  next_cursor,
})
export const UserMode = shape('UserMode', { mode: Type.Optional(oneOf(MODES)) })

export const AppUserParams = Type.Object({ app_id: id, user_id: freeText(256) })
export const AppUserQuery = Type.Object({ mode: Type.Optional(oneOf(MODES)), ...ID_PAGE_QUERY })

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
  erasure: Type.Union([Erasure, Type.Null()], { description: 'The erasure of this user that is under way.' }),
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
