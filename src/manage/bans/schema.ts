// The shapes of bans.
import { Type } from 'typebox'
import { freeText, id, orNull, Time } from '../shapes.ts'

export const BanListQuery = Type.Object({
  app_id: Type.Optional(id),
  user_id: Type.Optional(freeText(256)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  cursor: Type.Optional(id),
})
export const BanList = Type.Object({
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
export const NewBan = Type.Object({
  app_id: Type.Optional(id),
  user_id: freeText(256),
  reason: freeText(500),
})
export const BanReply = Type.Object({ is_new: Type.Boolean({ description: 'False: the user was banned already.' }) })
export const BanParams = Type.Object({ ban_id: id })
