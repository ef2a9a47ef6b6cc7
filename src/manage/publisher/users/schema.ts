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
    description: 'Users of the latest 1,000 conversions, latest first.',
  }),
})

export const Erasure = shape('Erasure', {
  erasure_id: id,
  mode: oneOf(MODES),
  status: oneOf(
    ['waiting', 'settling', 'done'],
    '`waiting`: for its turn, or for postbacks to be delivered. `settling`: erased, and checked again for late data.',
  ),
  pseudonym: Type.String({ description: 'Replaces the user ID.' }),
  requested_by: Type.String(),
  requested_at: Time,
  erased_at: orNull(Time),
  done_at: orNull(Time),
  counts: Type.Record(Type.String(), Type.Integer(), { description: 'Rows erased so far, by kind.' }),
})
export const ErasureReply = shape('ErasureReply', {
  erasure: Type.Union([Erasure, Type.Null()], { description: 'Null if nothing is known about this user.' }),
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
  ban: Type.Union([
    Type.Object({
      is_everywhere: Type.Boolean({ description: 'Whether the ban covers every app of the network.' }),
      created_at: Time,
    }),
    Type.Null(),
  ]),
  erasure: Type.Union([Erasure, Type.Null()], { description: 'Erasure of this user in progress, or null.' }),
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
    { description: 'Latest clicks, newest first.' },
  ),
  balance,
  currency,
  keeps_balance,
  entries: Type.Array(BalanceEntry, { description: 'Balance entries, newest first.' }),
  next_cursor,
})
