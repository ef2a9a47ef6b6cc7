// The shapes of the audit log.
import { Type } from 'typebox'
import { ENTITY_KINDS } from '../../../features/reports/entity-names.ts'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const AuditQuery = Type.Object({
  who: Type.Optional(text(254, 'Email address of the actor.')),
  action: Type.Optional(text(100, 'Action such as person.change, or its beginning, such as person.')),
  subject: Type.Optional(text(200, 'ID of the target.')),
  publisher_id: Type.Optional(id),
  ...ID_PAGE_QUERY,
})

const NAMED = {
  kind: oneOf(ENTITY_KINDS),
  id: Type.String(),
  name: Type.String({ description: 'Current name.' }),
  publisher_id: orNull(Type.Integer({ description: 'Publisher that the app, person or locker belongs to.' })),
  app_id: orNull(Type.Integer({ description: 'App of a locker, or the ID of an app itself.' })),
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
      target: orNull(Type.Object(NAMED, { description: 'Target of the action, if it still exists and has a name.' })),
      mentions: Type.Array(Type.Object({ field: Type.String(), ...NAMED }), {
        description: 'Names of the IDs in `details`, by field.',
      }),
      details: Type.Record(Type.String(), Type.Unknown()),
      ip: orNull(Type.String()),
      via: orNull(Type.String({ description: 'API token that was used, if any.' })),
      request_id: orNull(Type.String({ description: 'Null for the command line.' })),
    }),
  ),
  next_cursor: NextCursor,
})
