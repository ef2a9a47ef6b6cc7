// An app's postback settings: the URL, the method, the events, and the dialect of its receiver.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { NoSuch, OperatorError, type Problem } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { type AddressGuard, literalRefusal } from './address-guard.ts'
import { canSay, checkDialect, type Dialect, isPlain, PLAIN } from './dialect.ts'
import { checkHeaders } from './headers.ts'
import { FIRST_WIDTH } from './schedule.ts'
import { openSecrets, sealSecrets } from './sealed-settings.ts'
import type { Status } from './statuses.ts'
import { EXAMPLE_VALUES, fillTemplate, lintTemplate, type LintOptions } from './template.ts'

export const METHODS = ['GET', 'POST'] as const
export const SUCCESS_RULES = ['2xx', 'body'] as const

export type PostbackSettings = {
  method: (typeof METHODS)[number]
  /** With macros. */
  url: string
  events: readonly Status[]
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  /** `body`: a 2xx whose body begins with an answer of the dialect. */
  success: (typeof SUCCESS_RULES)[number]
  negativeReversals: boolean
  dialect: Dialect
  /** For the signature of the dialect; null where that has none. */
  receiverSecret: string | null
}

export const DEFAULTS: Omit<PostbackSettings, 'url'> = {
  method: 'GET',
  events: ['approved', 'reversed'],
  headers: {},
  timeoutMs: 15_000,
  success: '2xx',
  negativeReversals: true,
  dialect: PLAIN,
  receiverSecret: null,
}

/** What is looked for in the URL. */
export const lintOptions = ({ method, dialect, negativeReversals, events }: PostbackSettings): LintOptions => ({
  method: dialect.post_body === 'form' ? 'GET' : method, // the body of a form says no more than a URL
  isByRecipe: dialect.signature !== null,
  isReversedByAmount:
    !isPlain(dialect) && negativeReversals && !events.some((event) => event === 'pending' || event === 'rejected'),
})

/** Problems prevent saving; warnings are shown. Each is a sentence. */
export function checkSettings(
  settings: PostbackSettings,
  guard: AddressGuard,
): { problems: Problem[]; warnings: string[] } {
  const { errors, warnings } = lintTemplate(settings.url, lintOptions(settings))
  const { dialect } = settings
  const isByRecipe = dialect.signature !== null
  if (errors.length === 0) {
    const filled = fillTemplate(settings.url, EXAMPLE_VALUES, () => '', isByRecipe)
    const refusal = literalRefusal(guard, new URL(filled))
    if (refusal !== null) errors.push(refusal)
  }
  if (!isByRecipe && settings.method === 'POST' && dialect.post_body === 'form' && settings.url.includes('{signature}'))
    errors.push('{signature} signs a URL, not a form: remove it and check the headers, or use a signature of your own.')
  if (dialect.signature?.header === null && !settings.url.includes('{signature}'))
    errors.push('Add the signature to the URL, such as &signature={signature}, or send it in a header.')
  const problems = errors.map((message) => ({ field: 'url', message }))
  if (settings.events.length === 0) problems.push({ field: 'events', message: 'Choose at least one event to send.' })
  if (!settings.events.includes('reversed') && settings.events.length > 0)
    warnings.push('Reversals are not sent: you will not notice when a credited conversion is reversed.')
  if (settings.timeoutMs < 1_000 || settings.timeoutMs > 15_000)
    problems.push({ field: 'timeout_ms', message: 'The timeout must be from 1 to 15 seconds.' })
  problems.push(...checkHeaders(settings.headers).map((message) => ({ field: 'headers', message })))
  const spoken = checkDialect(dialect, settings.receiverSecret)
  problems.push(...spoken.problems)
  for (const event of settings.events.filter((one) => !canSay(dialect, one)))
    problems.push({ field: 'events', message: `Enter your server's word for ${event}, or do not send this event.` })
  const header = dialect.signature?.header?.toLowerCase()
  if (Object.keys(settings.headers).some((name) => name.toLowerCase() === header))
    problems.push({ field: 'headers', message: `The header ${header} carries the signature: remove it here.` })
  return { problems, warnings: [...warnings, ...spoken.warnings] }
}

/**
 * Saves checked settings, and resumes a lane that failures have paused: saving means that a person has looked at it.
 * What an operator holds stays held. Queued postbacks that are no longer wanted are removed by a worker (`sift.ts`).
 */
export async function saveSettings(
  db: Db,
  by: Actor,
  secretKey: string,
  appId: number,
  settings: PostbackSettings,
): Promise<void> {
  const row = {
    method: settings.method,
    url: settings.url,
    events: [...settings.events],
    ...sealSecrets(secretKey, appId, settings.headers, settings.dialect.signature && settings.receiverSecret),
    timeout_ms: settings.timeoutMs,
    success: settings.success,
    negative_reversals: settings.negativeReversals,
    dialect: isPlain(settings.dialect) ? null : JSON.stringify(settings.dialect),
  }
  await inTransaction(db, async (trx) => {
    const app = await trx
      .selectFrom('apps')
      .leftJoin('postback_settings as s', 's.app_id', 'apps.app_id')
      .select(['publisher_id', 's.url'])
      .where('apps.app_id', '=', appId)
      .executeTakeFirst()
    if (app === undefined) throw new NoSuch('app', appId)
    await trx
      .insertInto('postback_settings')
      .values({ app_id: appId, ...row })
      .onConflict((on) => on.column('app_id').doUpdateSet({ ...row, updated_at: sql`now()` }))
      .execute()
    await trx
      .insertInto('postback_lanes')
      .values({ app_id: appId, publisher_id: app.publisher_id })
      .onConflict((on) =>
        on.column('app_id').doUpdateSet((is) => ({
          settings_version: is('postback_lanes.settings_version', '+', 1),
          is_sifted: false,
        })),
      )
      .execute()
    await openLane(trx, appId, 'publisher')
    const details = { ...describe(settings), address_changed: settings.url !== app.url }
    const { publisher_id: publisherId } = app
    await recordAudit(trx, by, { action: 'postback_settings.save', subject: appId, publisherId, details })
  })
}

/** For the audit log. The rest of the URL, and constants in what is signed, may hold a secret. */
const describe = ({
  url,
  method,
  events,
  headers,
  timeoutMs,
  success,
  negativeReversals,
  dialect,
}: PostbackSettings) => ({
  server: URL.parse(url)?.origin ?? null,
  method,
  events,
  headers: Object.keys(headers),
  timeout_ms: timeoutMs,
  success,
  negative_reversals: negativeReversals,
  dialect: isPlain(dialect) ? null : { ...dialect, signature: dialect.signature?.algorithm ?? null },
})

/** Serializes two saves, each based on what the other left. */
export async function lockSettings(trx: Trx, appId: number): Promise<void> {
  await trx.selectFrom('apps').select('app_id').where('app_id', '=', appId).forNoKeyUpdate().execute()
}

/** No more postbacks are created for the app; queued ones stay until it has a URL again. */
export async function removeSettings(db: Db, by: Actor, appId: number): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const removed = await trx.deleteFrom('postback_settings').where('app_id', '=', appId).executeTakeFirst()
    await trx
      .updateTable('postback_lanes')
      .set({ paused_at: sql`now()`, pause_reason: 'no address' })
      .where('app_id', '=', appId)
      .where((is) => is.or([is('pause_reason', 'is', null), is('pause_reason', '<>', 'operator')]))
      .execute()
    if (removed.numDeletedRows === 0n) return false
    const owner = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
    const publisherId = owner?.publisher_id ?? null
    await recordAudit(trx, by, { action: 'postback_settings.remove', subject: appId, publisherId })
    return true
  })
}

/** Only the operator can resume what the operator holds. */
export type LaneOpener = 'operator' | 'publisher'

/** Resumes a lane as if it were new. False when the caller may not do that. */
export async function openLane(trx: Trx | Db, appId: number, by: LaneOpener = 'operator'): Promise<boolean> {
  const opened = await trx
    .updateTable('postback_lanes')
    .set({
      width: FIRST_WIDTH,
      failures: 0,
      failing_since: null,
      last_failure_at: null,
      open_until: null,
      paused_at: null,
      pause_reason: null,
    })
    .where('app_id', '=', appId)
    .$if(by === 'publisher', (query) =>
      query.where((is) => is.or([is('pause_reason', 'is', null), is('pause_reason', '<>', 'operator')])),
    )
    .executeTakeFirst()
  return opened.numUpdatedRows > 0n
}

/** False when the caller may not do that. */
export async function resumeLane(trx: Trx, by: Actor, appId: number, opener: LaneOpener): Promise<boolean> {
  const isOpen = await openLane(trx, appId, opener)
  const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
  const publisherId = app?.publisher_id ?? null
  if (isOpen) await recordAudit(trx, by, { action: 'postback_lane.resume', subject: appId, publisherId })
  return isOpen
}

export async function readSettings(db: Db, secretKey: string, appId: number): Promise<PostbackSettings | null> {
  const settings = (await readAllSettings(db, secretKey, [appId])).get(appId)?.settings ?? null
  if (settings === 'unreadable')
    throw new OperatorError(
      `The headers or the receiver's secret of app ${appId} were sealed with another SECRET_KEY: remove its postback URL and set it again.`,
    )
  return settings
}

/** With the version of what was read: it changes with every save. */
export type VersionedSettings = { settings: PostbackSettings | 'unreadable'; version: number }

export async function readAllSettings(
  db: Db,
  secretKey: string,
  appIds: readonly number[],
): Promise<Map<number, VersionedSettings>> {
  const rows = await db
    .selectFrom('postback_settings as s')
    .innerJoin('postback_lanes as l', 'l.app_id', 's.app_id')
    .selectAll('s')
    .select('l.settings_version as version')
    .where((is) => is('s.app_id', '=', is.fn.any(is.val(appIds))))
    .execute()
  return new Map(
    rows.map(({ version, ...row }): [number, VersionedSettings] => {
      const secrets = openSecrets(secretKey, row)
      if (secrets === null) return [row.app_id, { settings: 'unreadable', version }]
      const settings: PostbackSettings = {
        method: row.method as PostbackSettings['method'],
        url: row.url,
        events: row.events as Status[],
        ...secrets,
        timeoutMs: row.timeout_ms,
        success: row.success as PostbackSettings['success'],
        negativeReversals: row.negative_reversals,
        dialect: row.dialect === null ? PLAIN : { ...PLAIN, ...(row.dialect as Partial<Dialect>) },
      }
      return [row.app_id, { settings, version }]
    }),
  )
}
