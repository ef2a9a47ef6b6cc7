// One's own account: password, second factor, sessions, tokens.
import type { Db } from '../../db/open.ts'
import { createAccessToken, listAccessTokens, revokeAccessToken } from '../../features/accounts/access-tokens.ts'
import { type Doer, recordDeedAlone } from '../../features/accounts/audit.ts'
import { endSession, findPersonByEmail, listSessions } from '../../features/accounts/people.ts'
import { voidResetLinks } from '../../features/accounts/reset-links.ts'
import { listAppsOf } from '../../features/apps/read-app.ts'
import { VERSION } from '../../lib/version.ts'
import { isUuid } from '../../lib/uuid7.ts'
import { authHeaders } from '../auth.ts'
import type { ManageContext } from '../context.ts'
import { type Caller, notThere } from '../gate.ts'
import { publisherName } from '../publisher-name.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import {
  ChangePassword,
  IssuedToken,
  Me,
  NewToken,
  PasswordOnly,
  SessionList,
  SessionParams,
  TokenList,
  TokenParams,
  TwoFactorCode,
  TwoFactorSetup,
} from './schema.ts'
import { refusal } from './sign-in.ts'
import { createTries } from './tries.ts'

const DAY_MS = 86_400_000
const TAG = 'Your account'

async function describePublisher(db: Db, publisherId: number) {
  const apps = await listAppsOf(db, publisherId)
  const first = apps.find(({ revoked_at }) => revoked_at === null) ?? apps[0]
  return { publisher_id: publisherId, name: await publisherName(db, publisherId), first_app_id: first?.app_id ?? null }
}

export function accountRoutes(
  routes: ManageRoutes,
  { db, auth, secretKey, config, limiter, sendMail }: ManageContext,
): void {
  const tries = createTries(limiter)
  const network = {
    public_url: config.publicUrl,
    is_demo: config.demo,
    has_mail: sendMail !== null,
    version: VERSION,
  }
  const note = (by: Doer, caller: Caller, action: string, details = {}) =>
    recordDeedAlone(db, by, { action, subject: caller.id, publisherId: caller.publisherId, details })

  routes.get('/me', {
    id: 'getMe',
    summary: 'Who is signed in',
    tag: TAG,
    access: 'person',
    reply: Me,
    async run({ caller: { id, name, email, role, publisherId } }) {
      const person = await findPersonByEmail(db, email)
      const publisher = publisherId === null ? null : await describePublisher(db, publisherId)
      return { id, name, email, role, publisher, two_factor: person?.two_factor_enabled ?? false, network }
    },
  })

  routes.get('/me/sessions', {
    id: 'listSessions',
    summary: 'Where you are signed in',
    tag: TAG,
    access: 'person',
    reply: SessionList,
    async run({ caller }) {
      const sessions = await listSessions(db, caller.id, new Date())
      return {
        sessions: sessions.map(({ updated_at, ...session }) => ({
          ...session,
          is_current: session.id === caller.sessionId,
          last_seen_at: updated_at,
        })),
      }
    },
  })

  routes.delete('/me/sessions/:session_id', {
    id: 'endSession',
    summary: 'Sign out somewhere else',
    tag: TAG,
    access: 'session',
    params: SessionParams,
    reply: Ok,
    async run({ caller, by, params }) {
      if (!isUuid(params.session_id) || !(await endSession(db, caller.id, params.session_id))) throw notThere()
      await note(by, caller, 'session.end', { session_id: params.session_id })
      return OK
    },
  })

  routes.post('/me/password', {
    id: 'changePassword',
    summary: 'Change your password; other sessions end',
    tag: TAG,
    access: 'session',
    body: ChangePassword,
    reply: Ok,
    async run({ caller, by, body, request, cookies }) {
      await tries.countOf(caller)
      const answer = await auth.api.changePassword({
        body: {
          currentPassword: body.current_password,
          newPassword: body.new_password,
          revokeOtherSessions: true,
        },
        headers: authHeaders(request),
        asResponse: true,
      })
      if (!answer.ok) throw await refusal(answer)
      cookies.push(...answer.headers.getSetCookie())
      await voidResetLinks(db, caller.id)
      await note(by, caller, 'password.change')
      return OK
    },
  })

  routes.post('/me/two-factor', {
    id: 'startTwoFactor',
    summary: 'Begin to use a second factor',
    tag: TAG,
    access: 'session',
    body: PasswordOnly,
    reply: TwoFactorSetup,
    async run({ caller, body, request }) {
      await tries.countOf(caller)
      const answer = await auth.api.enableTwoFactor({ body, headers: authHeaders(request), asResponse: true })
      if (!answer.ok) throw await refusal(answer)
      const { totpURI, backupCodes } = (await answer.json()) as { totpURI: string; backupCodes: string[] }
      return { uri: totpURI, backup_codes: backupCodes }
    },
  })

  routes.post('/me/two-factor/confirm', {
    id: 'confirmTwoFactor',
    summary: 'Turn the second factor on, with its first code',
    tag: TAG,
    access: 'session',
    body: TwoFactorCode,
    reply: Ok,
    async run({ caller, by, body, request, cookies }) {
      await tries.countOf(caller)
      const code = body.code.replaceAll(' ', '')
      const answer = await auth.api.verifyTOTP({ body: { code }, headers: authHeaders(request), asResponse: true })
      if (!answer.ok) throw await refusal(answer)
      cookies.push(...answer.headers.getSetCookie())
      await note(by, caller, 'two_factor.enable')
      return OK
    },
  })

  routes.post('/me/two-factor/disable', {
    id: 'disableTwoFactor',
    summary: 'Turn the second factor off',
    tag: TAG,
    access: 'session',
    body: PasswordOnly,
    reply: Ok,
    async run({ caller, by, body, request, cookies }) {
      await tries.countOf(caller)
      const answer = await auth.api.disableTwoFactor({ body, headers: authHeaders(request), asResponse: true })
      if (!answer.ok) throw await refusal(answer)
      cookies.push(...answer.headers.getSetCookie())
      await note(by, caller, 'two_factor.disable')
      return OK
    },
  })

  routes.get('/me/tokens', {
    id: 'listTokens',
    summary: 'Your tokens for programs',
    tag: TAG,
    access: 'person',
    reply: TokenList,
    run: async ({ caller }) => ({ tokens: await listAccessTokens(db, caller.id) }),
  })

  routes.post('/me/tokens', {
    id: 'createToken',
    summary: 'Make a token for a program',
    tag: TAG,
    access: 'session',
    body: NewToken,
    reply: IssuedToken,
    async run({ caller, by, body }) {
      const days = body.expires_in_days
      const expiresAt = days === undefined ? null : new Date(Date.now() + days * DAY_MS)
      const token = await createAccessToken(db, secretKey, { personId: caller.id, name: body.name, expiresAt })
      await note(by, caller, 'token.create', { name: body.name })
      return token
    },
  })

  routes.delete('/me/tokens/:token_id', {
    id: 'revokeToken',
    summary: 'Revoke a token',
    tag: TAG,
    access: 'session',
    params: TokenParams,
    reply: Ok,
    async run({ caller, by, params }) {
      if (!(await revokeAccessToken(db, caller.id, params.token_id, new Date()))) throw notThere()
      await note(by, caller, 'token.revoke', { token_id: params.token_id })
      return OK
    },
  })
}
