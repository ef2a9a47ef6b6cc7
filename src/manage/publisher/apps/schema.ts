// The shapes of apps, their credentials and their first steps.
import { type Static, Type } from 'typebox'
import { StatsTotals } from '../../../features/reports/schema.ts'
import { STEPS } from '../../../features/reports/checklist.ts'
import { DATE_OR_TIME } from '../../../http/validation.ts'
import { id, MODES, name, oneOf, orNull, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const MAX_GRACE_HOURS = 7 * 24

const rate = Type.Number({
  exclusiveMinimum: 0,
  description: 'Units of the currency for one US dollar: above 0, at most 4 decimals.',
})
const APP = {
  app_id: id,
  publisher_id: id,
  name: Type.String(),
  currency: Type.String(),
  rate,
  created_at: Time,
}

export const AppList = shape('AppList', {
  apps: Type.Array(Type.Object({ ...APP, revoked_at: orNull(Time) })),
})

export const NewApp = shape('NewApp', {
  name: name(200, "Unique among the publisher's apps."),
  currency: name(40, "Name of the app's currency."),
  rate,
})
export const ChangedApp = Type.Pick(NewApp, ['name'], { title: 'ChangedApp' })
export const NewCurrency = Type.Pick(NewApp, ['currency', 'rate'], { title: 'NewCurrency' })

const Issued = shape('IssuedCredential', {
  api_key: Type.String(),
  api_secret: Type.String({ description: 'Shown only once.' }),
  signing_secret: Type.String({ description: 'Secret that postbacks are signed with. Shown only once.' }),
})
export const IssuedApp = shape('IssuedApp', { app_id: id, live: Issued, test: Issued })

const Credential = shape('Credential', {
  mode: oneOf(MODES),
  api_key: Type.String(),
  created_at: Time,
  expires_at: orNull(Time),
  revoked_at: orNull(Time),
  first_used_at: orNull(Time),
  last_used_at: Type.Union([Time, Type.Null()], { description: 'Time of the last use, to the minute.' }),
  secrets: Type.Array(Type.Object({ created_at: Time, expires_at: orNull(Time) }), {
    description: 'Valid secrets, newest first.',
  }),
  old_signing_secret_expires_at: Type.Union([Time, Type.Null()], {
    description: 'Until then, postbacks are also signed with the old signing secret.',
  }),
  allowance: Type.Object({
    limit: Type.Integer({ description: 'Requests per minute.' }),
    used: Type.Integer({ description: 'Requests in the current minute, as seen by this server.' }),
    resets_at: orNull(Time),
  }),
  leak: Type.Union(
    [
      Type.Object({
        at: Time,
        origin: Type.String(),
        is_over: Type.Boolean({
          description: 'Whether the key, or every secret of that time, has expired or been revoked since.',
        }),
      }),
      Type.Null(),
    ],
    { description: 'Last time that a secret of this key came from a browser.' },
  ),
})

export const App = shape('App', {
  ...APP,
  publisher: Type.String(),
  api_url: Type.String(),
  credentials: Type.Array(Credential),
})

export const CredentialParams = Type.Object({ app_id: id, mode: oneOf(MODES) })
export const Grace = shape('GracePeriod', {
  grace_hours: Type.Integer({
    minimum: 0,
    maximum: MAX_GRACE_HOURS,
    description: 'Hours for which the old secret keeps working; 0 revokes it immediately.',
  }),
})
export const RotatedSecret = shape('RotatedSecret', {
  api_key: Type.String(),
  api_secret: Type.String({ description: 'Shown only once.' }),
  old_secret_expires_at: orNull(Time),
})
export const RotatedSigningSecret = shape('RotatedSigningSecret', {
  api_key: Type.String(),
  signing_secret: Type.String({ description: 'Shown only once.' }),
  old_signing_secret_expires_at: orNull(Time),
})
export const Ended = shape('EndedSecrets', { ended: Type.Integer() })
export const Expiry = shape('KeyExpiry', {
  expires_at: Type.Optional(
    Type.String({ format: DATE_OR_TIME, description: 'When the key expires. Leave it out for never.' }),
  ),
})

export const Checklist = shape('Checklist', {
  is_complete: Type.Boolean(),
  steps: Type.Array(Type.Object({ step: oneOf(STEPS), done_at: orNull(Time) })),
  last_test: Type.Union([Type.Object({ state: Type.String(), error: orNull(Type.String()) }), Type.Null()], {
    description: 'Result of the latest test postback.',
  }),
  example_offer_id: Type.Union([id, Type.Null()]),
  first_conversion_id: Type.Union([Type.String(), Type.Null()], { description: 'First conversion, live or test.' }),
})
export type Checklist = Static<typeof Checklist>

export const OverviewQuery = Type.Object({
  timezone: Type.Optional(
    Type.String({
      maxLength: 64,
      default: 'UTC',
      description: 'IANA time zone in which days begin, such as Europe/Berlin.',
    }),
  ),
})
export const Overview = shape('Overview', {
  today: StatsTotals,
  week: StatsTotals,
  postbacks: Type.Object({
    is_set: Type.Boolean(),
    paused_at: orNull(Time),
    pause_reason: orNull(Type.String()),
    failing_since: orNull(Time),
    queued: Type.Integer(),
    oldest_due_at: orNull(Time),
    dead: Type.Integer(),
  }),
})
