// The shapes of an app's API request log.
import { Type } from 'typebox'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { MODES, oneOf, orNull, text, Time } from '../../shapes.ts'

export const OUTCOMES = ['success', 'error'] as const

export const RequestQuery = Type.Object({
  mode: Type.Optional(oneOf(MODES, 'Requests with the live or the test key. Defaults to live.')),
  outcome: Type.Optional(oneOf(OUTCOMES, 'Only successful requests, or only errors (status 400 and above).')),
  request_id: Type.Optional(text(60, 'Filter by the X-Request-Id of a response.')),
  ...UUID_PAGE_QUERY,
})

const ApiRequest = shape('ApiRequest', {
  request_id: Type.String({ description: 'X-Request-Id of the response.' }),
  received_at: Time,
  method: Type.String(),
  path: Type.String(),
  parameters: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
    description: 'Query parameters as sent, with secrets masked and long values cut.',
  }),
  body: orNull(Type.String({ description: 'JSON body, with secrets masked; cut if long.' })),
  status: Type.Integer(),
  error: orNull(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      details: orNull(Type.Record(Type.String(), Type.Unknown())),
    }),
  ),
  duration_ms: Type.Number(),
  is_verified: Type.Boolean({ description: 'False if the request named this API key with a wrong or missing secret.' }),
  skipped: Type.Integer({
    description: 'Similar requests before this one that are not in the log: busy apps are sampled.',
  }),
})

export const RequestList = shape('ApiRequestList', { requests: Type.Array(ApiRequest), next_cursor: NextCursor })
