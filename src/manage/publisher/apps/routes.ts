// A publisher's apps: creating and changing them, integration progress, and health.
import { badRequest } from '../../../errors.ts'
import type { Actor } from '../../../features/accounts/audit.ts'
import { type AppChange, changeApp, createApp } from '../../../features/apps/apps.ts'
import { revokeApp } from '../../../features/apps/keys.ts'
import { listAppsOf, readApp } from '../../../features/apps/read-app.ts'
import { readHealth } from '../../../features/postbacks/health.ts'
import { readAllSettings } from '../../../features/postbacks/settings.ts'
import { readChecklist } from '../../../features/reports/checklist.ts'
import { readRecent } from '../../../features/reports/recent.ts'
import { parseUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import type { ManagedApp } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams, OK, Ok, PublisherParams } from '../../shapes.ts'
import { credentialRoutes } from './credential-routes.ts'
import {
  App,
  AppList,
  ChangedApp,
  Checklist,
  IssuedApp,
  NewApp,
  NewCurrency,
  Overview,
  OverviewQuery,
} from './schema.ts'

const TAG = 'Apps'
const RATE_LIMIT = 100 // requests a minute; the operator may allow more
const MAX_APPS = 100 // every process has all of them in memory

const NO_POSTBACKS = {
  paused_at: null,
  pause_reason: null,
  failing_since: null,
  queued: 0,
  oldest_due_at: null,
  dead: 0,
}

export function appRoutes(routes: ManageRoutes, context: ManageContext): void {
  listAndMake(routes, context)
  showAndChange(routes, context)
  credentialRoutes(routes, context)
}

function listAndMake(routes: ManageRoutes, { db, secretKey, refresh }: ManageContext): void {
  routes.get('/publishers/:publisher_id/apps', {
    id: 'listApps',
    summary: 'List the apps of a publisher',
    about: 'Includes revoked apps.',
    tag: TAG,
    access: 'publisher',
    params: PublisherParams,
    reply: AppList,
    run: async ({ publisherId }) => ({ apps: await listAppsOf(db, publisherId) }),
  })

  routes.post('/publishers/:publisher_id/apps', {
    id: 'createApp',
    summary: 'Create an app',
    about: 'Returns live and test credentials. Their secrets are shown only here.',
    tag: TAG,
    access: 'owner',
    sensitive: true,
    params: PublisherParams,
    body: NewApp,
    reply: IssuedApp,
    async run({ publisherId, by, body }) {
      const { name, currency, rate } = body
      const rateMicros = readRate(rate)
      const app = {
        publisherId,
        name: name.trim(),
        currency: currency.trim(),
        rateMicros,
        rateLimit: RATE_LIMIT,
        expiresAt: null,
        blockedCategories: [],
        blockedKeywords: [],
        paymentOffers: true,
      }
      const made = await createApp(db, by, secretKey, app, MAX_APPS)
      await refresh()
      return made
    },
  })
}

function showAndChange(routes: ManageRoutes, { db, secretKey, config, limiter, refresh }: ManageContext): void {
  routes.get('/apps/:app_id', {
    id: 'getApp',
    summary: 'Get an app with its credentials',
    about: 'Keys with their status, expiry, rate limit and last use. Secrets are never returned.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: App,
    async run({ app }) {
      const { rate_limit, credentials, ...shown } = await readApp(db, app.appId, new Date())
      return {
        ...shown,
        api_url: `${config.publicUrl}/api/v1`,
        credentials: credentials.map((credential) => {
          const { remaining, resetAtMs } = limiter.peek(credential.api_key, rate_limit)
          const used = rate_limit - remaining
          return {
            ...credential,
            allowance: { limit: rate_limit, used, resets_at: used === 0 ? null : new Date(resetAtMs) },
          }
        }),
      }
    },
  })

  routes.patch('/apps/:app_id', {
    id: 'changeApp',
    summary: "Change an app's name",
    about: 'The name is shown in the dashboard only.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: ChangedApp,
    reply: Ok,
    run: ({ app, by, body }) => change(app, by, { name: body.name.trim() }),
  })

  routes.put('/apps/:app_id/currency', {
    id: 'setCurrency',
    summary: "Set an app's currency and exchange rate",
    about: 'Users see payouts in this currency. Clicks keep the rate that applied when they were made.',
    tag: TAG,
    access: 'finance',
    sensitive: true,
    params: AppParams,
    body: NewCurrency,
    reply: Ok,
    run: ({ app, by, body: { currency, rate } }) =>
      change(app, by, { currency: currency.trim(), rateMicros: readRate(rate) }),
  })

  async function change({ appId }: ManagedApp, by: Actor, wanted: AppChange) {
    await changeApp(db, by, appId, wanted)
    await refresh()
    return OK
  }

  routes.post('/apps/:app_id/revoke', {
    id: 'revokeApp',
    summary: 'Revoke an app',
    about: 'Permanently revokes both keys.',
    tag: TAG,
    access: 'owner',
    params: AppParams,
    reply: Ok,
    async run({ app, by }) {
      await revokeApp(db, by, app.appId)
      await refresh()
      return OK
    },
  })

  routes.get('/apps/:app_id/checklist', {
    id: 'getChecklist',
    summary: 'Get the integration checklist of an app',
    about: 'Which steps of the integration are done. Steps complete automatically.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: Checklist,
    run: ({ app }) => readChecklist(db, app),
  })

  routes.get('/apps/:app_id/overview', {
    id: 'getOverview',
    summary: "Get today's figures of an app",
    about: 'Clicks, conversions and payout of today and the last seven days, with the health of postbacks.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: OverviewQuery,
    reply: Overview,
    async run({ app: { appId }, query }) {
      const now = new Date()
      const [recent, health, settings] = await Promise.all([
        readRecent(db, appId, query.timezone ?? 'UTC', now),
        readHealth(db, [appId]),
        readAllSettings(db, secretKey, [appId]),
      ])
      return { ...recent, postbacks: { is_set: settings.has(appId), ...(health.get(appId) ?? NO_POSTBACKS) } }
    },
  })
}

function readRate(rate: number): number {
  const micros = parseUsd(rate)
  if (micros === null) throw badRequest({ rate: 'rate must be below 1,000,000,000 and have at most 4 decimals.' })
  return micros
}
