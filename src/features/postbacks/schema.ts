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
      'The ID of its event, and the webhook-id of every attempt. A test send has its own ID here: its webhook-id is that of the sample event, which the scenario `duplicate` sends twice.',
  }),
  conversion_id: Type.String(),
  sequence: Type.Integer(),
  status: oneOf(STATUSES, { description: 'The new status of the conversion.' }),
  state: oneOf(STATES, { description: 'dead: delivery failed for three days. It can be resent.' }),
  attempts: Type.Integer(),
  next_attempt_at: time('When it is sent next; null while it waits for an earlier event or is paused.'),
  last_status: integer('The HTTP status of the last response.'),
  last_error: text('Why the last attempt failed.'),
  created_at: Type.String({ format: 'date-time' }),
  settled_at: time('When it was delivered or finally failed.'),
  scenario: text('The scenario of a test send.'),
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
      phase: text('Where it ended: dns, connect, tls, send, headers or body. Null: the response was read completely.'),
      status: integer(),
      error: text(),
      remote_address: text(),
      request: Type.String({ description: 'As it was sent; secrets are masked.' }),
      response: Type.String({ description: 'The first 8 KiB of the response.' }),
    }),
    { description: 'First to last.' },
  ),
})
export const PostbackWithAttempts = Type.Intersect([Postback, Attempts], { title: 'PostbackWithAttempts' })

export const PostbackListQuery = Type.Object({
  state: Type.Optional(oneOf(STATES, { description: 'Only postbacks in this state.' })),
  conversionId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only postbacks of this conversion.' }),
  ),
  ...UUID_PAGE_QUERY,
})
export type PostbackListQuery = Static<typeof PostbackListQuery> & { limit: number }

export const PostbackList = shape('PostbackList', {
  postbacks: Type.Array(Postback, { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

export const PostbackParams = Type.Object({
  postback_id: Type.String({ description: 'The postback_id of a postback.' }),
})
export const REPLAY_WARNING = text(
  'Set when a later event of the conversion was already delivered: your server must go by the sequence.',
)
export const PostbackReply = shape('PostbackReply', { postback: Postback, warning: REPLAY_WARNING })
export const PostbackDetailReply = shape('PostbackWithAttemptsReply', { postback: PostbackWithAttempts })

export const NewTestSends = shape('NewPostbackTest', {
  scenarios: Type.Optional(
    Type.Array(oneOf(SCENARIO_NAMES), {
      minItems: 1,
      maxItems: SCENARIO_NAMES.length,
      description: 'Without it: all.',
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
        seen: Type.String({ description: 'How your server responded, which is all we can see.' }),
        result: oneOf(['waiting', 'pass', 'fail']),
        postbacks: Type.Array(Postback),
      }),
    ),
  }),
})
export const TestSendsParams = Type.Object({ test_id: Type.String({ description: 'The test_id of a test run.' }) })
