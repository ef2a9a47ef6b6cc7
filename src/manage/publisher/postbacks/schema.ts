// The schemas of an app's postbacks: settings, test sends, and the log.
import { Type } from 'typebox'
import { DialectShape, NewDialect } from '../../../features/postbacks/dialect-schema.ts'
import { MAX_SECRET } from '../../../features/postbacks/dialect.ts'
import { Postback, PostbackWithAttempts, REPLAY_WARNING } from '../../../features/postbacks/schema.ts'
import { STATES } from '../../../features/postbacks/postbacks.ts'
import { METHODS, SUCCESS_RULES } from '../../../features/postbacks/settings.ts'
import { STATUSES } from '../../../features/postbacks/statuses.ts'
import { SCENARIO_NAMES } from '../../../features/postbacks/test-sends.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { DATE_OR_TIME, SAFE_TEXT } from '../../../http/validation.ts'
import { id, MODES, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const TAG = 'Postbacks of an app'

/** Which of an app's keys. */
const RESULTS = ['waiting', 'pass', 'fail'] as const
const LANES = ['none', 'ok', 'failing', 'open', 'paused'] as const

const method = oneOf(METHODS)
const events = Type.Array(oneOf(STATUSES), { maxItems: STATUSES.length })
const timeout = Type.Integer({
  minimum: 1_000,
  maximum: 15_000,
  description: 'Response timeout in milliseconds.',
})
const success = Type.Unsafe<(typeof SUCCESS_RULES)[number]>({
  type: 'string',
  enum: [...SUCCESS_RULES],
  description: 'What counts as delivered: any 2xx, or a 2xx whose body begins with one of the dialect’s `answers`.',
})
const negative = Type.Boolean({ description: 'Whether reversed amounts are sent as negative.' })

export const Preview = shape('PostbackPreview', {
  errors: Type.Array(Type.String(), { description: 'Errors that prevent saving.' }),
  warnings: Type.Array(Type.String(), { description: 'Warnings that do not prevent saving.' }),
  request: orNull(
    Type.Object({
      method,
      url: Type.String(),
      headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String(), about: orNull(Type.String()) })),
      body: orNull(Type.String()),
      parameters: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
        description: 'Decoded query or form parameters, as your server reads them.',
      }),
      signed_text: orNull(
        Type.String({ description: 'Text that the dialect’s signature hashes, with a sample secret.' }),
      ),
    }),
  ),
})

const PresetShape = shape('PostbackPreset', {
  preset: Type.String(),
  title: Type.String(),
  about: Type.String(),
  query: Type.String({ description: 'Query of the URL, with macros.' }),
  method,
  events,
  success,
  negative_reversals: negative,
  dialect: DialectShape,
})

export const PostbackSettingsReply = shape('PostbackSettings', {
  settings: orNull(
    Type.Object({
      method,
      url: Type.String({ description: 'Postback URL, with macros.' }),
      events,
      headers: Type.Array(Type.String(), { description: 'Names of the custom headers. Values are never shown.' }),
      timeout_ms: timeout,
      success,
      negative_reversals: negative,
      dialect: DialectShape,
      has_receiver_secret: Type.Boolean({ description: 'Whether a receiver secret is set. It is never shown.' }),
    }),
  ),
  version: orNull(
    Type.Integer({
      description: 'Changes with every save; null without settings. Send it as `seen_version` when you save.',
    }),
  ),
  is_unreadable: Type.Boolean({
    description: 'Whether the settings cannot be read because they were encrypted with another SECRET_KEY.',
  }),
  preview: orNull(Preview),
  macros: Type.Array(Type.Object({ name: Type.String(), description: Type.String(), example: Type.String() })),
  recipe_macros: Type.Array(Type.Object({ name: Type.String(), description: Type.String() }), {
    description: 'Macros that only work in the text of a signature.',
  }),
  presets: Type.Array(PresetShape, { description: 'Settings for known receivers, to start from.' }),
  scenarios: Type.Array(Type.Object({ scenario: oneOf(SCENARIO_NAMES), about: Type.String() })),
})

export const NewPostbackSettings = shape('NewPostbackSettings', {
  url: text(2_000, 'Postback URL, with macros.'),
  method: Type.Optional(method),
  events: Type.Optional(events),
  headers: Type.Optional(
    Type.Record(Type.String(), orNull(Type.String({ format: SAFE_TEXT })), {
      description:
        'Custom headers by name, replacing all others. Null keeps the current value of a header. Leave it out to change nothing.',
    }),
  ),
  timeout_ms: Type.Optional(timeout),
  success: Type.Optional(success),
  negative_reversals: Type.Optional(negative),
  dialect: Type.Optional(NewDialect),
  receiver_secret: Type.Optional(
    text(MAX_SECRET, 'Secret for the dialect’s signature. Leave it out to keep the current one.'),
  ),
  seen_version: Type.Optional(
    orNull(
      Type.Integer({
        description: 'The `version` you read. If the settings have changed since, nothing is saved (409).',
      }),
    ),
  ),
})

export const PreviewBody = shape('NewPostbackPreview', {
  url: Type.String({ maxLength: 4_000, format: SAFE_TEXT }),
  method: Type.Optional(method),
  events: Type.Optional(events),
  headers: Type.Optional(Type.Array(Type.String({ maxLength: 200, format: SAFE_TEXT }), { maxItems: 50 })),
  negative_reversals: Type.Optional(negative),
  dialect: Type.Optional(NewDialect),
  status: Type.Optional(oneOf(STATUSES)),
})

export const NewTestSends = shape('NewPostbackTestOfApp', {
  mode: Type.Optional(oneOf(MODES)),
  scenarios: Type.Optional(Type.Array(oneOf(SCENARIO_NAMES), { minItems: 1, maxItems: SCENARIO_NAMES.length })),
})
export const TestSendsParams = Type.Object({ app_id: id, test_id: Type.String() })
export const TestSends = shape('PostbackTestOfApp', {
  test_id: Type.String(),
  result: oneOf(RESULTS),
  results: Type.Array(
    Type.Object({
      scenario: oneOf(SCENARIO_NAMES),
      about: Type.String(),
      seen: Type.String(),
      result: oneOf(RESULTS),
      postbacks: Type.Array(PostbackWithAttempts),
    }),
  ),
})

const dateOrTime = Type.String({ maxLength: 50, format: DATE_OR_TIME })
export const LogQuery = Type.Object({
  mode: Type.Optional(oneOf(MODES)),
  state: Type.Optional(oneOf(STATES)),
  status: Type.Optional(oneOf(STATUSES)),
  conversion_id: Type.Optional(text(100)),
  from: Type.Optional(dateOrTime),
  to: Type.Optional(dateOrTime),
  ...UUID_PAGE_QUERY,
})
const What = Type.Object({
  user_id: Type.String({ description: 'User who is credited.' }),
  offer_id: id,
  offer_name: Type.String(),
  reward: Type.Number({ description: 'Reward as sent, in `currency`; may be negative for reversals.' }),
  currency: Type.String(),
})
/** One in the log, with what it sends to the publisher's server. */
const LoggedPostback = Type.Intersect(
  [
    Postback,
    Type.Object(
      { what: orNull(What) },
      { description: '`what` is the content of the event, or null if it is no longer stored.' },
    ),
  ],
  { title: 'LoggedPostback' },
)
export const Log = shape('PostbackLog', { postbacks: Type.Array(LoggedPostback), next_cursor: NextCursor })
export const PostbackParams = Type.Object({ app_id: id, postback_id: Type.String() })
export const OnePostback = shape('PostbackOfApp', { postback: PostbackWithAttempts })
export const ReplayedPostback = shape('ReplayedPostback', { postback: PostbackWithAttempts, warning: REPLAY_WARNING })

const REPLAY_FILTER = {
  mode: Type.Optional(oneOf(MODES)),
  state: Type.Optional(oneOf(['delivered', 'dead'])),
  status: Type.Optional(oneOf(STATUSES)),
  from: Type.Optional(dateOrTime),
  to: Type.Optional(dateOrTime),
}
export const NewReplay = shape('NewReplay', REPLAY_FILTER)
export const ReplayCount = shape('ReplayCount', {
  count: Type.Integer(),
  is_more: Type.Boolean({ description: 'Whether there are more than were counted.' }),
})
export const ReplayParams = Type.Object({ app_id: id, replay_id: id })
export const Replay = shape('Replay', {
  replay_id: id,
  state: oneOf(['running', 'done', 'cancelled']),
  filter: Type.Object(REPLAY_FILTER),
  queued: Type.Integer({ description: 'Postbacks queued so far.' }),
  skipped: Type.Integer({
    description: 'Postbacks skipped because a later event of their conversion was delivered and is not resent.',
  }),
  waiting: Type.Integer({ description: 'Queued postbacks that are not delivered or failed yet.' }),
  remaining: Type.Integer({ description: 'Postbacks still to be queued, counted up to 10,000.' }),
  created_at: Time,
  finished_at: orNull(Time),
})
export const ReplayList = shape('ReplayList', { replays: Type.Array(Replay) })

export const PostbackHealth = shape('PostbackHealth', {
  lane: oneOf(LANES),
  paused_at: orNull(Time),
  pause_reason: orNull(oneOf(['gone', 'failing', 'operator', 'no address'])),
  failing_since: orNull(Time),
  open_until: orNull(Time),
  queued: Type.Integer(),
  oldest_due_at: orNull(Time),
  dead: Type.Integer(),
  delivered_24h: Type.Integer({ description: 'Live postbacks of the last 24 hours that were delivered.' }),
  failed_24h: Type.Integer({
    description: 'Live postbacks of the last 24 hours that were attempted but not delivered.',
  }),
  attempts: Type.Integer({ description: 'Attempts in the last 24 hours, for the 5,000 newest live postbacks.' }),
  p95_ms: orNull(Type.Number()),
  last_failure: orNull(
    Type.Object({
      postback_id: Type.String(),
      started_at: Time,
      status: orNull(Type.Integer()),
      error: orNull(Type.String()),
    }),
  ),
  notices: Type.Array(Type.Object({ notice_id: id, message: Type.String(), created_at: Time })),
})
