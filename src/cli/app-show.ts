// Apps as commands print them: live and test side by side, under the names that the API has.
import { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { listApps } from '../features/apps/apps.ts'
import { readContentRules } from '../features/apps/content-rules.ts'
import { readApp } from '../features/apps/read-app.ts'
import { presentRewardSettings, readRewardSettings } from '../features/apps/reward-settings.ts'
import { isPlain } from '../features/postbacks/dialect.ts'
import { type Health, readHealth } from '../features/postbacks/health.ts'
import { type PostbackSettings, readSettings } from '../features/postbacks/settings.ts'
import { microsToUsd } from '../lib/money.ts'
import { rfc3339 } from '../lib/time.ts'
import { type Context, withDatabase } from './context.ts'
import { findAppId } from './find.ts'
import { fields, type OutputOptions, show, table } from './output.ts'
import { hint } from './usage.ts'

export const listAppsCommand = () =>
  new Command('list')
    .description('list apps with their API keys and postback health')
    .action(async (options: OutputOptions) => {
      const apps = await withDatabase(({ database }) => listBothModes(database.db))
      show(options, apps, () => {
        const rows = apps.map((app) => ({
          app_id: app.app_id,
          publisher: app.publisher,
          name: app.name,
          live: stateOf(app.live),
          test: stateOf(app.test),
          postbacks: describeHealth(app.postback_url !== null, app.postbacks),
          api_key: app.live?.api_key ?? null,
          test_api_key: app.test?.api_key ?? null,
          rate_limit: app.rate_limit,
        }))
        return table(rows, `No apps yet. Create one with: ${hint('app create --publisher NAME --name NAME')}`)
      })
    })

export const showAppCommand = () =>
  new Command('show')
    .description('show an app with its keys, content rules and postback settings')
    .argument('<app>', 'ID or name')
    .action(async (named: string, options: OutputOptions) => {
      const app = await withDatabase(async (context) => readWhole(context, await findAppId(context.database.db, named)))
      show(options, app, describeApp)
    })

async function listBothModes(db: Db) {
  const rows = await listApps(db)
  const health = await readHealth(db, [...new Set(rows.map((app) => app.app_id))])
  return [...Map.groupBy(rows, (row) => row.app_id).values()].flatMap((modes) => {
    const [app] = modes
    if (app === undefined) return []
    const keyOf = (mode: string) => {
      const key = modes.find((one) => one.mode === mode)
      return key === undefined
        ? null
        : {
            api_key: key.api_key,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            leak:
              key.secret_leaked_at === null
                ? null
                : { at: key.secret_leaked_at, origin: key.secret_leaked_origin, is_over: key.is_leak_over },
          }
    }
    return {
      app_id: app.app_id,
      publisher: app.publisher,
      name: app.name,
      currency: app.currency,
      rate: microsToUsd(app.rate_micros),
      rate_limit: app.rate_limit,
      postback_url: app.postback_url,
      created_at: app.created_at,
      live: keyOf('live'),
      test: keyOf('test'),
      postbacks: health.get(app.app_id) ?? null,
    }
  })
}

export async function readWhole({ database: { db }, secretKey }: Context, appId: number) {
  const { credentials, ...app } = await readApp(db, appId, new Date())
  const rules = await readContentRules(db, appId)
  const postback = await readSettings(db, secretKey, appId)
  const health = (await readHealth(db, [appId])).get(appId) ?? null
  const [live = null, test = null] = ['live', 'test'].map((wanted) => {
    const found = credentials.find(({ mode }) => mode === wanted)
    if (found === undefined) return null
    const { mode: _mode, ...credential } = found
    return credential
  })
  return {
    ...app,
    blocked_categories: rules.blockedCategories,
    blocked_keywords: rules.blockedKeywords,
    payment_offers: rules.paymentOffers,
    ...presentRewardSettings(await readRewardSettings(db, appId)),
    live,
    test,
    postback: postback === null ? null : presentPostback(postback),
    postbacks: health,
  }
}

/** Headers by name: their values may be secret. */
export const presentPostback = (settings: PostbackSettings) => ({
  url: settings.url,
  method: settings.method,
  events: settings.events,
  headers: Object.keys(settings.headers),
  timeout_ms: settings.timeoutMs,
  success: settings.success,
  negative_reversals: settings.negativeReversals,
  dialect: isPlain(settings.dialect) ? null : settings.dialect,
  has_receiver_secret: settings.receiverSecret !== null,
})

/** Without a dialect where it has none. */
export const postbackFields = ({ dialect, has_receiver_secret, ...rest }: ReturnType<typeof presentPostback>) =>
  dialect === null ? rest : { ...rest, dialect: JSON.stringify(dialect), has_receiver_secret }

export function describeApp({
  live,
  test,
  postback,
  postbacks,
  ...app
}: Awaited<ReturnType<typeof readWhole>>): string {
  const keys = [live, test].map((key) =>
    key === null
      ? 'none'
      : fields({
          api_key: key.api_key,
          state: stateOf(key),
          last_used_at: key.last_used_at,
          secrets: key.secrets.length,
          leak_warning: key.leak === null || key.leak.is_over ? null : `sent from ${key.leak.origin}`,
        }),
  )
  const sent = fields({
    ...(postback === null ? { url: null } : postbackFields(postback)),
    health: describeHealth(postback !== null, postbacks),
  })
  return [fields(app), 'Live', keys[0], 'Test', keys[1], 'Postbacks', sent]
    .map((part, i) => (i % 2 === 0 ? `${part}\n` : part))
    .join('\n')
    .trimEnd()
}

type Key = { expires_at: Date | null; revoked_at: Date | null; leak: { is_over: boolean } | null }

function stateOf(key: Key | null): string {
  if (key === null) return 'none'
  if (key.revoked_at !== null) return 'revoked'
  if (key.expires_at !== null && key.expires_at <= new Date()) return 'expired'
  const until = key.expires_at === null ? 'valid' : `until ${rfc3339(key.expires_at)}`
  return key.leak?.is_over === false ? `${until}, LEAKED` : until
}

/** In a few words, such as "paused (failing), 12 queued, 3 dead". */
export function describeHealth(hasUrl: boolean, health: Health | null): string {
  const words: string[] = []
  if (!hasUrl) words.push('none')
  else if (health?.pause_reason) words.push(`paused (${health.pause_reason})`)
  else if (health?.failing_since) words.push('failing')
  if (health?.queued) words.push(`${health.queued} queued`)
  if (health?.dead) words.push(`${health.dead} failed`)
  return words.join(', ') || 'ok'
}
