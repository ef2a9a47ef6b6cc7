// The shapes of signing in, and of one's own account.
import { type Static, Type } from 'typebox'
import { DEFAULT_DAYS, MAX_ADDRESSES, MAX_DAYS, SCOPES } from '../../features/accounts/access-tokens.ts'
import { PUBLISHER_STATUSES } from '../../features/apps/permissions.ts'
import { ROLES } from '../../features/accounts/people.ts'
import { ShownTerms } from '../../features/accounts/sign-up/schema.ts'
import { THEMES } from '../../features/accounts/profile.ts'
import { id, name, oneOf, orNull, text, Time } from '../shapes.ts'
import { shape } from '../../http/shape.ts'

const Email = text(254)
const Password = Type.String({ minLength: 1, maxLength: 128 })

export const SignIn = shape('SignIn', { email: Email, password: Password })
export const SignInReply = shape('SignInReply', {
  two_factor: Type.Boolean({ description: 'Whether a code is required next.' }),
})
export const TwoFactorCode = shape('TwoFactorCode', {
  code: text(20, 'Code of the authenticator app, or a backup code.'),
})
export const ForgotPassword = shape('ForgotPassword', { email: Email })
export const ForgotPasswordReply = shape('ForgotPasswordReply', {
  mailed: Type.Boolean({ description: 'False without a mail server: the operator can create a link instead.' }),
})
export const ResetPassword = shape('ResetPassword', { token: text(200), password: Password })
export const ChangePassword = shape('ChangePassword', {
  current_password: Password,
  new_password: Password,
  end_tokens: Type.Optional(
    Type.Boolean({ description: 'Whether to revoke your API tokens, too. A reset link always does.' }),
  ),
})
export const PasswordReset = shape('PasswordReset', {
  tokens_ended: Type.Integer({ description: 'Number of revoked API tokens.' }),
})
export const Proof = shape('NewProof', {
  password: Type.Optional(Password),
  code: Type.Optional(text(20, 'Code of the second factor, instead of the password.')),
})

export const VerifyEmail = shape('VerifyEmail', { token: text(200) })

export const InvitationToken = shape('InvitationToken', { token: text(200) })
export const OpenInvitation = shape('OpenInvitation', {
  email: orNull(Type.String()),
  role: oneOf(ROLES),
  publisher: orNull(Type.String()),
  advertiser: orNull(Type.String()),
  expires_at: Time,
  holder: oneOf(
    ['none', 'gives way', 'taken'],
    'Whether an account has this email address: `gives way` if it never verified the address and is closed when the invitation is accepted. Only shown for links sent by mail.',
  ),
})
export const Join = shape('NewAccount', {
  token: text(200),
  name: text(200),
  email: Type.Optional(Email),
  password: Password,
})

const TimeZone = orNull(text(100, 'IANA time zone such as Europe/Berlin; null for that of the browser.'))
const Locale = orNull(text(35, 'Language tag such as de-DE, for numbers and dates; null for that of the browser.'))
const Theme = oneOf(THEMES)

export const ProfileChange = shape('ProfileChange', {
  name: Type.Optional(name(200, 'Your name as others see it.')),
  time_zone: Type.Optional(TimeZone),
  locale: Type.Optional(Locale),
  theme: Type.Optional(Theme),
})

export const Me = shape('Me', {
  id: Type.String(),
  name: Type.String(),
  time_zone: TimeZone,
  locale: Locale,
  theme: Theme,
  email: Type.String(),
  role: oneOf(ROLES),
  publisher: orNull(
    Type.Object({
      publisher_id: id,
      name: Type.String(),
      status: Type.String({ description: `One of ${PUBLISHER_STATUSES.join(', ')}.` }),
      first_app_id: orNull(Type.Integer({ description: 'Oldest app that is not revoked, if any.' })),
      refusal: orNull(Type.String({ description: 'Why the application was refused, if it was.' })),
    }),
  ),
  advertiser: orNull(Type.Object({ advertiser_id: id, name: Type.String() })),
  email_verified: Type.Boolean(),
  two_factor: Type.Boolean(),
  must_set_up_two_factor: Type.Boolean({
    description: 'Whether the account must set up a second factor before anything else.',
  }),
  terms: Type.Union([ShownTerms, Type.Null()], {
    description: 'New terms of service that you, as an owner, have yet to accept for the publisher.',
  }),
  waiting_applications: Type.Integer({ description: 'Applications that await review, for operators.' }),
  waiting_proposals: Type.Integer({ description: 'Advertiser proposals that await review, for operators.' }),
  network: Type.Object({
    public_url: Type.String(),
    is_demo: Type.Boolean(),
    has_mail: Type.Boolean(),
    version: Type.String(),
  }),
})
export type Me = Static<typeof Me>

export const SessionList = shape('SessionList', {
  sessions: Type.Array(
    Type.Object({
      id: Type.String(),
      is_current: Type.Boolean(),
      ip_address: orNull(Type.String()),
      user_agent: orNull(Type.String()),
      created_at: Time,
      last_seen_at: Time,
    }),
  ),
})
export const SessionParams = Type.Object({ session_id: Type.String() })

export const PasswordOnly = shape('PasswordConfirmation', { password: Password })
export const TwoFactorSetup = shape('TwoFactorSetup', {
  uri: Type.String({ description: 'URI to show as a QR code for the authenticator app.' }),
  backup_codes: Type.Array(Type.String()),
})

const Scopes = Type.Array(oneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length })

const TOKEN = {
  token_id: id,
  name: Type.String(),
  scopes: Scopes,
  allowed_ips: Type.Array(Type.String(), {
    description: 'IP addresses and CIDRs that may use the token. Empty for any.',
  }),
  created_at: Time,
  expires_at: Time,
  last_used_at: orNull(Time),
}
export const TokenList = shape('TokenList', { tokens: Type.Array(Type.Object(TOKEN)) })
export const NewToken = shape('NewToken', {
  name: text(100),
  scopes: Type.Optional({
    ...Scopes,
    description: '`read` can read everything; any other scope reads and changes its area. Defaults to `read`.',
  }),
  expires_in_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_DAYS,
      description: `Days until the token expires. Defaults to ${DEFAULT_DAYS}.`,
    }),
  ),
  allowed_ips: Type.Optional(
    Type.Array(text(50), {
      maxItems: MAX_ADDRESSES,
      description: 'IP addresses and CIDRs that may use the token. Defaults to any.',
    }),
  ),
})
export const IssuedToken = shape('IssuedToken', {
  ...TOKEN,
  token: Type.String({ description: 'API token. Shown only once.' }),
})
export const TokenParams = Type.Object({ token_id: id })
