// The shapes of the postbacks API.
import { type Static, type TSchema, Type } from 'typebox'
import { NextCursor, UUID_PAGE_QUERY } from '../../http/paging.ts'
import { oneOf } from '../offers/schema.ts'
import { STATES } from './postbacks.ts'
import { STATUSES } from './settings.ts'
import { SCENARIO_NAMES } from './trials.ts'

const orNull = <T extends TSchema>(schema: T, description = '') =>
  Type.Union([schema, Type.Null()], description === '' ? {} : { description })
const text = (description?: string) => orNull(Type.String(), description)
const time = (description?: string) => orNull(Type.String({ format: 'date-time' }), description)
const integer = (description?: string) => orNull(Type.Integer(), description)

const POSTBACK = {
  postback_id: Type.String({
    description:
      'The id of its event, and the webhook-id of every try. A test send has an id of its own here: its webhook-id is that of the event it makes up, which the scenario `duplicate` sends twice.',
  }),
  conversion_id: Type.String(),
  sequence: Type.Integer(),
  status: oneOf(STATUSES, { description: 'What the conversion became.' }),
  state: oneOf(STATES, { description: 'dead: it was tried for three days. It can be replayed.' }),
  attempts: Type.Integer(),
  next_attempt_at: time(
    'When it is sent next; null when that is not known: it waits for an earlier event, or is paused.',
  ),
  last_status: integer('The HTTP status of the last answer.'),
  last_error: text('What went wrong the last time.'),
  created_at: Type.String({ format: 'date-time' }),
  settled_at: time('When it was delivered, or given up.'),
  scenario: text('Of a test send: which one.'),
  is_test: Type.Boolean(),
}

export const Postback = Type.Object(POSTBACK)

export const PostbackWithAttempts = Type.Object({
  ...POSTBACK,
  tries: Type.Array(
    Type.Object({
      attempt: Type.Integer(),
      started_at: Type.String({ format: 'date-time' }),
      duration_ms: Type.Integer(),
      ok: Type.Boolean(),
      phase: text('Where it ended: dns, connect, tls, send, headers or body. Null: the answer was read whole.'),
      status: integer(),
      error: text(),
      remote_address: text(),
      request: Type.String({ description: 'As it was sent; secrets are masked.' }),
      response: Type.String({ description: 'The first 8 KiB of the answer.' }),
    }),
    { description: 'First to last.' },
  ),
})

export const PostbackListQuery = Type.Object({
  state: Type.Optional(oneOf(STATES, { description: 'Only those in this state.' })),
  conversionId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only those of this conversion.' }),
  ),
  ...UUID_PAGE_QUERY,
})
export type PostbackListQuery = Static<typeof PostbackListQuery> & { limit: number }

export const PostbackList = Type.Object({
  postbacks: Type.Array(Postback, { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

export const PostbackParams = Type.Object({ postback_id: Type.String() })
export const REPLAY_WARNING = text(
  'Where a later event of the conversion was delivered before: your server must go by the sequence.',
)
export const PostbackReply = Type.Object({ postback: Postback, warning: REPLAY_WARNING })
export const PostbackDetailReply = Type.Object({ postback: PostbackWithAttempts })

export const NewTrial = Type.Object({
  scenarios: Type.Optional(
    Type.Array(oneOf(SCENARIO_NAMES), {
      minItems: 1,
      maxItems: SCENARIO_NAMES.length,
      description: 'Without it: all.',
    }),
  ),
})
export type NewTrial = Static<typeof NewTrial>

export const TrialReply = Type.Object({
  test: Type.Object({
    test_id: Type.String(),
    result: oneOf(['waiting', 'pass', 'fail']),
    results: Type.Array(
      Type.Object({
        scenario: oneOf(SCENARIO_NAMES),
        about: Type.String(),
        seen: Type.String({ description: 'What your server answered: that is all that can be seen from here.' }),
        result: oneOf(['waiting', 'pass', 'fail']),
        postbacks: Type.Array(Postback),
      }),
    ),
  }),
})
export const TrialParams = Type.Object({ test_id: Type.String() })
