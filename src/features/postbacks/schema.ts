// The shapes of the postbacks API.
import { type Static, type TSchema, Type } from 'typebox'
import { NextCursor, UUID_PAGE_QUERY } from '../../http/paging.ts'
import { STATES } from './postbacks.ts'
import { STATUSES } from './statuses.ts'
import { SCENARIO_NAMES } from './test-sends.ts'
import { oneOf, shape } from '../../http/shape.ts'

const orNull = <T extends TSchema>(schema: T, description = '') =>
  Type.Union([schema, Type.Null()], description === '' ? {} : { description })
const text = (description?: string) => orNull(Type.String(), description)
const time = (description?: string) => orNull(Type.String({ format: 'date-time' }), description)
const integer = (description?: string) => orNull(Type.Integer(), description)

const POSTBACK = {
  postback_id: Type.String({
    description:
      'Equals the event ID and the `webhook-id` of every attempt. Test sends have an ID of their own; their `webhook-id` is that of the sample event, which the scenario `duplicate` sends twice.',
  }),
  conversion_id: Type.String(),
  sequence: Type.Integer(),
  status: oneOf(STATUSES, { description: 'Conversion status that the postback reports.' }),
  state: oneOf(STATES, { description: '`dead`: delivery failed for three days. You can resend it.' }),
  attempts: Type.Integer(),
  next_attempt_at: time('Time of the next attempt, or null if none is scheduled.'),
  last_status: integer('HTTP status of the last response.'),
  last_error: text('Why the last attempt failed.'),
  created_at: Type.String({ format: 'date-time' }),
  settled_at: time('When the postback was delivered or finally failed.'),
  scenario: text('Scenario of a test send; null for other postbacks.'),
  is_test: Type.Boolean(),
}

export const Postback = shape('Postback', POSTBACK)

const Attempts = Type.Object({
  tries: Type.Array(
    Type.Object({
      attempt: Type.Integer(),
      started_at: Type.String({ format: 'date-time' }),
      duration_ms: Type.Integer(),
      ok: Type.Boolean(),
      phase: text(
        'Phase in which the attempt failed: dns, connect, tls, send, headers or body. Null if the response was read completely.',
      ),
      status: integer(),
      error: text(),
      remote_address: text(),
      request: Type.String({ description: 'The request as sent, with secrets masked.' }),
      response: Type.String({ description: 'The first 8 KiB of the response.' }),
    }),
    { description: 'Oldest first.' },
  ),
})
export const PostbackWithAttempts = Type.Intersect([Postback, Attempts], { title: 'PostbackWithAttempts' })

export const PostbackListQuery = Type.Object({
  state: Type.Optional(oneOf(STATES, { description: 'Filter by state.' })),
  conversionId: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Filter by conversion.' })),
  ...UUID_PAGE_QUERY,
})
export type PostbackListQuery = Static<typeof PostbackListQuery> & { limit: number }

export const PostbackList = shape('PostbackList', {
  postbacks: Type.Array(Postback, { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

export const PostbackParams = Type.Object({
  postback_id: Type.String({ description: 'ID of the postback.' }),
})
export const REPLAY_WARNING = text(
  'Set if a later event of the conversion was already delivered: your server must order events by `sequence`.',
)
export const PostbackReply = shape('PostbackReply', { postback: Postback, warning: REPLAY_WARNING })
export const PostbackDetailReply = shape('PostbackWithAttemptsReply', { postback: PostbackWithAttempts })

export const NewTestSends = shape('NewPostbackTest', {
  scenarios: Type.Optional(
    Type.Array(oneOf(SCENARIO_NAMES), {
      minItems: 1,
      maxItems: SCENARIO_NAMES.length,
      description: 'Scenarios to send. Defaults to all.',
    }),
  ),
})
export type NewTestSends = Static<typeof NewTestSends>

export const TestSendsReply = shape('PostbackTest', {
  test: Type.Object({
    test_id: Type.String(),
    result: oneOf(['waiting', 'pass', 'fail']),
    results: Type.Array(
      Type.Object({
        scenario: oneOf(SCENARIO_NAMES),
        about: Type.String(),
        seen: Type.String({ description: 'How your server responded.' }),
        result: oneOf(['waiting', 'pass', 'fail']),
        postbacks: Type.Array(Postback),
      }),
    ),
  }),
})
export const TestSendsParams = Type.Object({ test_id: Type.String({ description: 'ID of the test run.' }) })
