// One's own account: who one is, sessions, tokens.
import type { Db } from '../../db/open.ts'
import {
  createAccessToken,
  DEFAULT_DAYS,
  listAccessTokens,
  revokeAccessToken,
} from '../../features/accounts/access-tokens.ts'
import { findAdvertiserName } from '../../features/accounts/advertisers.ts'
import { isOperatorRole } from '../../features/accounts/people.ts'
import { countWaiting as countWaitingProposals } from '../../features/offers/proposals/proposals.ts'
import { countWaiting, readApplication } from '../../features/accounts/sign-up/applications.ts'
import { findTermsToAccept } from '../../features/accounts/sign-up/service-terms.ts'
import { changeProfile, readProfile } from '../../features/accounts/profile.ts'
import { endSession, listSessions } from '../../features/accounts/sessions.ts'
import { listAppsOf } from '../../features/apps/read-app.ts'
import { plainAddress } from '../../lib/ip-address.ts'
import { isUuid } from '../../lib/uuid7.ts'
import { VERSION } from '../../lib/project.ts'
import { readPublisher } from '../../features/accounts/publishers.ts'
import type { ManageContext } from '../context.ts'
import { notThere } from '../gate.ts'
import type { ManageRoutes } from '../route.ts'
import { OK, Ok } from '../shapes.ts'
import {
  IssuedToken,
  Me,
  NewToken,
  SessionList,
  SessionParams,
  ProfileChange,
  TokenList,
  TokenParams,
} from './schema.ts'

const TAG = 'Your account'

async function describePublisher(db: Db, publisherId: number) {
  const apps = await listAppsOf(db, publisherId)
  const first = apps.find(({ revoked_at }) => revoked_at === null) ?? apps[0]
  const publisher = await readPublisher(db, publisherId)
  if (publisher === null) throw notThere('There is no such publisher.')
  const { name, status } = publisher
  const application = status === 'suspended' ? await readApplication(db, publisherId) : null
  const refusal = application?.status === 'refused' ? application.reason : null
  return { publisher_id: publisherId, name, status, first_app_id: first?.app_id ?? null, refusal }
}

const describeAdvertiser = async (db: Db, advertiserId: number) => ({
  advertiser_id: advertiserId,
  name: (await findAdvertiserName(db, advertiserId)) ?? '', // none is ever deleted
})

export function accountRoutes(routes: ManageRoutes, { db, secretKey, config, sendMails }: ManageContext): void {
  const network = {
    public_url: config.publicUrl,
    is_demo: config.demo,
    has_mail: sendMails !== null,
    version: VERSION,
  }

  routes.get('/me', {
    id: 'getMe',
    summary: 'Get your account',
    about:
      'Who is signed in, with role, publisher or advertiser, and the facts about this installation that a client needs.',
    tag: TAG,
    access: 'person',
    forSetUp: true,
    reply: Me,
    async run({ caller: { id, name, email, role, publisherId, advertiserId, hasSecondFactor } }) {
      const publisher = publisherId === null ? null : await describePublisher(db, publisherId)
      const advertiser = advertiserId === null ? null : await describeAdvertiser(db, advertiserId)
      const profile = await readProfile(db, id)
      const mustSetUp = config.require2fa && isOperatorRole(role) && !hasSecondFactor
      return {
        id,
        name,
        email,
        role,
        publisher,
        advertiser,
        ...profile,
        two_factor: hasSecondFactor,
        must_set_up_two_factor: mustSetUp,
        terms: role === 'publisher_owner' && publisherId !== null ? await findTermsToAccept(db, publisherId) : null,
        waiting_applications: isOperatorRole(role) ? await countWaiting(db) : 0,
        waiting_proposals: isOperatorRole(role) ? await countWaitingProposals(db) : 0,
        network,
      }
    },
  })

  routes.patch('/me', {
    id: 'changeProfile',
    summary: 'Change your profile',
    about: 'Your name, and how the dashboard looks to you: time zone, language of numbers and dates, theme.',
    tag: TAG,
    access: 'session',
    body: ProfileChange,
    reply: Ok,
    async run({ caller, by, body }) {
      await db.transaction().execute((trx) => changeProfile(trx, { ...by, id: caller.id }, caller.publisherId, body))
      return OK
    },
  })

  routes.get('/me/sessions', {
    id: 'listSessions',
    summary: 'List your sessions',
    about: 'Every browser in which you are signed in, with IP address and time of last use.',
    tag: TAG,
    access: 'session',
    reply: SessionList,
    async run({ caller }) {
      const sessions = await listSessions(db, caller.id, new Date())
      return {
        sessions: sessions.map(({ updated_at, ip_address, ...session }) => ({
          ...session,
          ip_address: ip_address === null ? null : (plainAddress(ip_address) ?? ip_address),
          is_current: session.id === caller.session?.id,
          last_seen_at: updated_at,
        })),
      }
    },
  })

  routes.delete('/me/sessions/:session_id', {
    id: 'endSession',
    summary: 'End one of your sessions',
    about: 'Signs you out in another browser, effective immediately.',
    tag: TAG,
    access: 'session',
    params: SessionParams,
    reply: Ok,
    async run({ caller, by, params: { session_id } }) {
      if (!isUuid(session_id)) throw notThere()
      const isEnded = await db.transaction().execute((trx) => endSession(trx, by, caller, session_id))
      if (!isEnded) throw notThere()
      return OK
    },
  })

  routes.get('/me/tokens', {
    id: 'listTokens',
    summary: 'List your API tokens',
    about: 'Your tokens that have not been revoked. The tokens themselves are shown only when they are created.',
    tag: TAG,
    access: 'session',
    reply: TokenList,
    run: async ({ caller }) => ({ tokens: await listAccessTokens(db, caller.id, new Date()) }),
  })

  routes.post('/me/tokens', {
    id: 'createToken',
    summary: 'Create an API token',
    about: 'Returns the token once. It can do what you can, limited to its scopes and allowed IP addresses.',
    tag: TAG,
    access: 'session',
    sensitive: true,
    body: NewToken,
    reply: IssuedToken,
    async run({ caller, by, body }) {
      const { name, scopes = ['read'], expires_in_days: days = DEFAULT_DAYS, allowed_ips: allowedIps = [] } = body
      const wanted = { personId: caller.id, name, scopes, days, allowedIps }
      return db.transaction().execute((trx) => createAccessToken(trx, by, secretKey, wanted, new Date()))
    },
  })

  routes.delete('/me/tokens/:token_id', {
    id: 'revokeToken',
    summary: 'Revoke an API token',
    about: 'Requests with this token are refused from now on.',
    tag: TAG,
    access: 'session',
    params: TokenParams,
    reply: Ok,
    async run({ caller, by, params: { token_id } }) {
      const isRevoked = await db
        .transaction()
        .execute((trx) => revokeAccessToken(trx, by, caller, token_id, new Date()))
      if (!isRevoked) throw notThere()
      return OK
    },
  })
}
