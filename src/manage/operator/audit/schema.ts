// The shapes of the audit log.
import { Type } from 'typebox'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const AuditQuery = Type.Object({
  who: Type.Optional(text(254, 'The e-mail address of whoever did it.')),
  action: Type.Optional(text(100, 'An action such as person.change, or the beginning of one, such as person.')),
  subject: Type.Optional(text(200, 'The id of what it was done to.')),
  publisher_id: Type.Optional(id),
  ...ID_PAGE_QUERY,
})

export const AuditList = shape('AuditList', {
  deeds: Type.Array(
    Type.Object({
      audit_id: id,
      created_at: Time,
      who: Type.String(),
      action: Type.String(),
      subject: Type.String(),
      publisher: orNull(Type.Object({ publisher_id: id, name: Type.String() })),
      details: Type.Record(Type.String(), Type.Unknown()),
      ip: orNull(Type.String()),
      via: orNull(Type.String({ description: 'The token that a program used.' })),
    }),
  ),
  next_cursor: NextCursor,
})
