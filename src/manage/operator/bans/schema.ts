// The shapes of bans.
import { Type } from 'typebox'
import { freeText, id, orNull, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const BanListQuery = Type.Object({
  app_id: Type.Optional(id),
  user_id: Type.Optional(freeText(256)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  cursor: Type.Optional(id),
})
export const BanList = shape('BanList', {
  bans: Type.Array(
    Type.Object({
      ban_id: id,
      app_id: orNull(id),
      app: orNull(Type.String()),
      user_id: Type.String(),
      reason: Type.String(),
      created_at: Time,
    }),
  ),
  next_cursor: orNull(Type.String()),
})
export const NewBan = shape('NewBan', {
  app_id: Type.Optional(id),
  user_id: freeText(256),
  reason: freeText(500),
})
export const BanReply = shape('BanReply', {
  is_new: Type.Boolean({ description: 'False if the user was banned already.' }),
})
export const BanParams = Type.Object({ ban_id: id })
