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
const events = Type.Array(oneOf(STATUSES), { maxItems: STATUSES.length, description: 'The events to send.' })
const timeout = Type.Integer({
  minimum: 1_000,
  maximum: 15_000,
  description: 'How long a response may take, in milliseconds.',
})
const success = Type.Unsafe<(typeof SUCCESS_RULES)[number]>({
  type: 'string',
  enum: [...SUCCESS_RULES],
  description: 'What counts as delivered: any 2xx, or a 2xx whose body begins with an answer of the dialect.',
})
const negative = Type.Boolean({ description: 'Whether reversed amounts are sent as negative.' })

export const Preview = shape('PostbackPreview', {
  errors: Type.Array(Type.String(), { description: 'These forbid saving.' }),
  warnings: Type.Array(Type.String(), { description: 'These do not prevent saving.' }),
  request: orNull(
    Type.Object({
      method,
      url: Type.String(),
      headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String(), about: orNull(Type.String()) })),
      body: orNull(Type.String()),
      parameters: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
        description: 'Of the query or the form, decoded: as your server reads them.',
      }),
      signed_text: orNull(
        Type.String({ description: 'What the signature of the dialect is a hash of, with a sample secret.' }),
      ),
    }),
  ),
})

const PresetShape = shape('PostbackPreset', {
  preset: Type.String(),
  title: Type.String(),
  about: Type.String(),
  query: Type.String({ description: 'The query of the URL, with macros.' }),
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
      url: Type.String({ description: 'With macros.' }),
      events,
      headers: Type.Array(Type.String(), { description: 'Their names. Values are never shown.' }),
      timeout_ms: timeout,
      success,
      negative_reversals: negative,
      dialect: DialectShape,
      has_receiver_secret: Type.Boolean({ description: 'The secret itself is never shown.' }),
    }),
  ),
  version: orNull(
    Type.Integer({ description: 'Changes with every save; null without settings. Send it back as seen_version.' }),
  ),
  is_unreadable: Type.Boolean({ description: 'There are settings, but they were sealed with another SECRET_KEY.' }),
  preview: orNull(Preview),
  macros: Type.Array(Type.Object({ name: Type.String(), description: Type.String(), example: Type.String() })),
  recipe_macros: Type.Array(Type.Object({ name: Type.String(), description: Type.String() }), {
    description: 'Macros that can only be in what a signature is a hash of.',
  }),
  presets: Type.Array(PresetShape, { description: 'Settings for known receivers, to start from.' }),
  scenarios: Type.Array(Type.Object({ scenario: oneOf(SCENARIO_NAMES), about: Type.String() })),
})

export const NewPostbackSettings = shape('NewPostbackSettings', {
  url: text(2_000, 'With macros.'),
  method: Type.Optional(method),
  events: Type.Optional(events),
  headers: Type.Optional(
    Type.Record(Type.String(), orNull(Type.String({ format: SAFE_TEXT })), {
      description: 'All of them, by name. Null keeps the value that one has. Without this, all stay as they are.',
    }),
  ),
  timeout_ms: Type.Optional(timeout),
  success: Type.Optional(success),
  negative_reversals: Type.Optional(negative),
  dialect: Type.Optional(NewDialect),
  receiver_secret: Type.Optional(
    text(MAX_SECRET, 'The secret of the signature of the dialect. Without this, it stays as it is.'),
  ),
  seen_version: Type.Optional(
    orNull(
      Type.Integer({
        description: 'The version that was shown. If the settings changed since, nothing is saved: 409.',
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
  user_id: Type.String({ description: 'Who is credited.' }),
  offer_id: id,
  offer_name: Type.String(),
  reward: Type.Number({ description: 'As it is sent, in `currency`; may be negative for reversals.' }),
  currency: Type.String(),
})
/** One in the log, with what it sends to the publisher's server. */
const LoggedPostback = Type.Intersect(
  [
    Postback,
    Type.Object({ what: orNull(What) }, { description: 'What the event says; null if it is no longer kept.' }),
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
  is_more: Type.Boolean({ description: 'There are more than were counted.' }),
})
export const ReplayParams = Type.Object({ app_id: id, replay_id: id })
export const Replay = shape('Replay', {
  replay_id: id,
  state: oneOf(['running', 'done', 'cancelled']),
  filter: Type.Object(REPLAY_FILTER),
  queued: Type.Integer({ description: 'How many it has put into the queue so far.' }),
  skipped: Type.Integer({
    description: 'How many it left out, because a later event of their conversion was delivered and is not sent again.',
  }),
  waiting: Type.Integer({ description: 'Of what it has queued, how many are not settled yet.' }),
  remaining: Type.Integer({ description: 'How many it has yet to put into the queue; at most 10,000 are counted.' }),
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
  failed_24h: Type.Integer({ description: 'Those that were attempted and not delivered so far.' }),
  attempts: Type.Integer({ description: 'Of the last 24 hours, of the 5,000 newest live postbacks.' }),
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
