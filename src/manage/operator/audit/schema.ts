// The shapes of the audit log.
import { Type } from 'typebox'
import { ENTITY_KINDS } from '../../../features/reports/entity-names.ts'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const AuditQuery = Type.Object({
  who: Type.Optional(text(254, 'The email address of the actor.')),
  action: Type.Optional(text(100, 'An action such as person.change, or the beginning of one, such as person.')),
  subject: Type.Optional(text(200, 'The id of what it was done to.')),
  publisher_id: Type.Optional(id),
  ...ID_PAGE_QUERY,
})

const NAMED = {
  kind: oneOf(ENTITY_KINDS),
  id: Type.String(),
  name: Type.String({ description: 'As it is called today.' }),
  publisher_id: orNull(Type.Integer({ description: 'Whose app, person or locker it is.' })),
  app_id: orNull(Type.Integer({ description: 'The app of a locker; an app’s own ID.' })),
}

export const AuditList = shape('AuditList', {
  entries: Type.Array(
    Type.Object({
      audit_id: id,
      created_at: Time,
      who: Type.String(),
      action: Type.String(),
      subject: Type.String(),
      publisher: orNull(Type.Object({ publisher_id: id, name: Type.String() })),
      target: orNull(Type.Object(NAMED, { description: 'What the subject is, where it still exists and has a name.' })),
      mentions: Type.Array(Type.Object({ field: Type.String(), ...NAMED }), {
        description: 'The names of the IDs in the details, by field.',
      }),
      details: Type.Record(Type.String(), Type.Unknown()),
      ip: orNull(Type.String()),
      via: orNull(Type.String({ description: 'The token that a program used.' })),
      request_id: orNull(Type.String({ description: 'Null for the command line.' })),
    }),
  ),
  next_cursor: NextCursor,
})
