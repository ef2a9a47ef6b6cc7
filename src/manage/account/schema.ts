// The shapes of signing in, and of one's own account.
import { type Static, Type } from 'typebox'
import { ROLES } from '../../features/accounts/people.ts'
import { id, oneOf, orNull, text, Time } from '../shapes.ts'

const Email = text(254)
const Password = Type.String({ minLength: 1, maxLength: 128 })

export const SignIn = Type.Object({ email: Email, password: Password })
export const SignInReply = Type.Object({
  two_factor: Type.Boolean({ description: 'A code is asked for next.' }),
})
export const TwoFactorCode = Type.Object({
  code: text(20, 'Of the authenticator, or one of the backup codes.'),
})
export const ForgotPassword = Type.Object({ email: Email })
export const ForgotPasswordReply = Type.Object({
  mailed: Type.Boolean({ description: 'False where no mail server is set: then the operator can make a link.' }),
})
export const ResetPassword = Type.Object({ token: text(200), password: Password })
export const ChangePassword = Type.Object({ current_password: Password, new_password: Password })

export const InvitationToken = Type.Object({ token: text(200) })
export const OpenInvitation = Type.Object({
  email: orNull(Type.String()),
  role: oneOf(ROLES),
  publisher: orNull(Type.String()),
  expires_at: Time,
})
export const Join = Type.Object({
  token: text(200),
  name: text(200),
  email: Type.Optional(Email),
  password: Password,
})

export const Me = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: oneOf(ROLES),
  publisher: orNull(
    Type.Object({
      publisher_id: id,
      name: Type.String(),
      first_app_id: orNull(Type.Integer({ description: 'Its oldest app that is not revoked, where there is one.' })),
    }),
  ),
  two_factor: Type.Boolean(),
  network: Type.Object({
    public_url: Type.String(),
    is_demo: Type.Boolean(),
    has_mail: Type.Boolean(),
    version: Type.String(),
  }),
})
export type Me = Static<typeof Me>

export const SessionList = Type.Object({
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

export const PasswordOnly = Type.Object({ password: Password })
export const TwoFactorSetup = Type.Object({
  uri: Type.String({ description: 'For the authenticator, as a QR code.' }),
  backup_codes: Type.Array(Type.String()),
})

const TOKEN = {
  token_id: id,
  name: Type.String(),
  created_at: Time,
  expires_at: orNull(Time),
  last_used_at: orNull(Time),
}
export const TokenList = Type.Object({ tokens: Type.Array(Type.Object(TOKEN)) })
export const NewToken = Type.Object({
  name: text(100),
  expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
})
export const IssuedToken = Type.Object({ ...TOKEN, token: Type.String({ description: 'Shown once.' }) })
export const TokenParams = Type.Object({ token_id: id })
