// An app's postback settings: the URL, the method and the events.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { NoSuch, OperatorError, type Problem } from '../../errors.ts'
import { deriveKey, deriveKeys, reseal, type Resealed, seal, unseal } from '../../lib/keys.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { type AddressGuard, literalRefusal } from './address-guard.ts'
import { FIRST_WIDTH } from './schedule.ts'
import { EXAMPLE_VALUES, fillTemplate, lintTemplate } from './template.ts'

export const STATUSES = ['pending', 'approved', 'rejected', 'reversed'] as const
export type Status = (typeof STATUSES)[number]
export const METHODS = ['GET', 'POST'] as const
export const SUCCESS_RULES = ['2xx', 'body'] as const

export type PostbackSettings = {
  method: (typeof METHODS)[number]
  /** With macros. */
  url: string
  events: readonly Status[]
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  /** `body`: a 2xx whose body begins with 1, OK or DUP. */
  success: (typeof SUCCESS_RULES)[number]
  negativeReversals: boolean
}

export const DEFAULTS: Omit<PostbackSettings, 'url'> = {
  method: 'GET',
  events: ['approved', 'reversed'],
  headers: {},
  timeoutMs: 15_000,
  success: '2xx',
  negativeReversals: true,
}

const MAX_HEADERS = 20
const MAX_HEADER_LENGTH = 1_000
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
// Set by the connection or the signature.
const FORBIDDEN_HEADERS = [
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
  'accept-encoding',
]

/** Problems prevent saving; warnings are shown. Each is a sentence. */
export function checkSettings(
  settings: PostbackSettings,
  guard: AddressGuard,
): { problems: Problem[]; warnings: string[] } {
  const { errors, warnings } = lintTemplate(settings.url, settings.method)
  if (errors.length === 0) {
    const refusal = literalRefusal(guard, new URL(fillTemplate(settings.url, EXAMPLE_VALUES, () => '')))
    if (refusal !== null) errors.push(refusal)
  }
  const problems = errors.map((message) => ({ field: 'url', message }))
  if (settings.events.length === 0) problems.push({ field: 'events', message: 'Choose at least one event to send.' })
  if (!settings.events.includes('reversed') && settings.events.length > 0)
    warnings.push('Reversals are not sent: you will not notice when a credited conversion is reversed.')
  if (settings.timeoutMs < 1_000 || settings.timeoutMs > 15_000)
    problems.push({ field: 'timeout_ms', message: 'The timeout must be from 1 to 15 seconds.' })
  problems.push(...checkHeaders(settings.headers).map((message) => ({ field: 'headers', message })))
  return { problems, warnings }
}

function checkHeaders(headers: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(headers)
  const errors = entries.length > MAX_HEADERS ? [`There can be at most ${MAX_HEADERS} headers.`] : []
  for (const [name, value] of entries) {
    const lower = name.toLowerCase()
    if (!HEADER_NAME.test(name) || name.length > 100) errors.push(`"${name}" is not a valid header name.`)
    else if (FORBIDDEN_HEADERS.includes(lower) || lower.startsWith('webhook-'))
      errors.push(`The header ${name} cannot be set: it is reserved.`)
    if (!HEADER_VALUE.test(value) || value.length > MAX_HEADER_LENGTH)
      errors.push(`The value of the header ${name} must be at most ${MAX_HEADER_LENGTH} printable ASCII characters.`)
  }
  const names = entries.map(([name]) => name.toLowerCase())
  if (new Set(names).size < names.length) errors.push('Each header can be set only once.')
  return errors
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
  const sealed =
    Object.keys(settings.headers).length === 0
      ? null
      : seal(headersKey(secretKey), JSON.stringify(settings.headers), String(appId))
  const row = {
    method: settings.method,
    url: settings.url,
    events: [...settings.events],
    headers_sealed: sealed,
    timeout_ms: settings.timeoutMs,
    success: settings.success,
    negative_reversals: settings.negativeReversals,
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

/** For the audit log. The rest of the URL may hold a secret. */
const describe = ({ url, method, events, headers, timeoutMs, success, negativeReversals }: PostbackSettings) => ({
  server: URL.parse(url)?.origin ?? null,
  method,
  events,
  headers: Object.keys(headers),
  timeout_ms: timeoutMs,
  success,
  negative_reversals: negativeReversals,
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
      `The headers of app ${appId} were sealed with another SECRET_KEY: remove its address and set it again.`,
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
      const headers = openHeaders(secretKey, row.app_id, row.headers_sealed)
      if (headers === null) return [row.app_id, { settings: 'unreadable', version }]
      const settings: PostbackSettings = {
        method: row.method as PostbackSettings['method'],
        url: row.url,
        events: row.events as Status[],
        headers,
        timeoutMs: row.timeout_ms,
        success: row.success as PostbackSettings['success'],
        negativeReversals: row.negative_reversals,
      }
      return [row.app_id, { settings, version }]
    }),
  )
}

const headersKey = (secretKey: string) => deriveKey(secretKey, 'postback headers')

/** Null when they were sealed with another key. */
function openHeaders(secretKey: string, appId: number, sealed: Buffer | null): Record<string, string> | null {
  if (sealed === null) return {}
  try {
    return JSON.parse(unseal(deriveKeys(secretKey, 'postback headers'), sealed, String(appId))) as Record<
      string,
      string
    >
  } catch {
    return null
  }
}

/** Seals all headers with the current key. */
export async function resealHeaders(db: Db, secretKey: string): Promise<Resealed> {
  const rows = await db.selectFrom('postback_settings').select(['app_id', 'headers_sealed']).execute()
  const count = { resealed: 0, unreadable: 0 }
  for (const { app_id, headers_sealed: before } of rows) {
    const after = before === null ? 'current' : reseal(secretKey, 'postback headers', before, String(app_id))
    if (after === 'unreadable') count.unreadable++
    if (before === null || typeof after === 'string') continue
    const query = db.updateTable('postback_settings').set({ headers_sealed: after }).where('app_id', '=', app_id)
    await query.where('headers_sealed', '=', before).execute() // not those that were saved meanwhile
    count.resealed++
  }
  return count
}
