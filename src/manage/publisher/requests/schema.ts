// The shapes of an app's API request log.
import { Type } from 'typebox'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { MODES, oneOf, orNull, text, Time } from '../../shapes.ts'

export const OUTCOMES = ['success', 'error'] as const

export const RequestQuery = Type.Object({
  mode: Type.Optional(oneOf(MODES, 'Requests with the live or the test key. Live by default.')),
  outcome: Type.Optional(oneOf(OUTCOMES, 'Only successful requests, or only errors (status 400 and above).')),
  request_id: Type.Optional(text(60, 'The X-Request-Id of a response.')),
  ...UUID_PAGE_QUERY,
})

const ApiRequest = shape('ApiRequest', {
  request_id: Type.String({ description: 'As in the X-Request-Id header of the response.' }),
  received_at: Time,
  method: Type.String(),
  path: Type.String(),
  parameters: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
    description: 'Of the query, as sent. Secrets are masked and long values cut.',
  }),
  body: orNull(Type.String({ description: 'JSON. Secrets are masked, and a long body is cut.' })),
  status: Type.Integer(),
  error: orNull(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      details: orNull(Type.Record(Type.String(), Type.Unknown())),
    }),
  ),
  duration_ms: Type.Number({ description: 'Time that the server took.' }),
  is_verified: Type.Boolean({ description: 'False if the request named this API key with a wrong or missing secret.' }),
  skipped: Type.Integer({
    description:
      'How many similar requests came before this one and are not in the log: of a busy app it has a sample.',
  }),
})

export const RequestList = shape('ApiRequestList', { requests: Type.Array(ApiRequest), next_cursor: NextCursor })
