// Commands about an app's postback settings.
import { Command, Option } from 'commander'
import { OperatorError } from '../errors.ts'
import { createGuards } from '../features/postbacks/demo-receiver.ts'
import type { Health } from '../features/postbacks/health.ts'
import {
  checkSettings,
  DEFAULTS,
  METHODS,
  openLane,
  type PostbackSettings,
  readSettings,
  removeSettings,
  saveSettings,
  type Status,
  STATUSES,
  SUCCESS_RULES,
} from '../features/postbacks/settings.ts'
import { previewTemplate } from '../features/postbacks/template.ts'
import { parseDuration } from '../lib/duration.ts'
import { type Context, withChange } from './context.ts'
import { collect, fields, type OutputOptions, readId, show } from './output.ts'

type SetOptions = OutputOptions & {
  url?: string
  method?: PostbackSettings['method']
  event: string[]
  header: string[]
  timeout?: string
  success?: PostbackSettings['success']
  reversals?: 'negative' | 'positive'
  resume?: boolean
  remove?: boolean
}

export const setPostbackCommand = () =>
  new Command('set-postback')
    .description("set where and how an app's postbacks are sent; options you leave out stay unchanged")
    .argument('<id>', 'app_id')
    .option('--url <template>', 'the postback URL, with macros such as {user_id}: see docs/postbacks.md')
    .addOption(new Option('--method <method>', 'GET, or POST with the event as JSON').choices(METHODS))
    .option('--event <status>', `statuses to send: ${STATUSES.join(', ')} (can be repeated)`, collect, [])
    .option('--header <line>', 'a custom header, "Name: value" (can be repeated; "Name:" removes it)', collect, [])
    .option('--timeout <time>', 'response timeout, such as 10s; at most 15s')
    .addOption(
      new Option('--success <rule>', 'count as delivered: any 2xx, or a body that begins with 1, OK or DUP').choices(
        SUCCESS_RULES,
      ),
    )
    .addOption(new Option('--reversals <sign>', 'sign of reversed amounts').choices(['negative', 'positive']))
    .option('--resume', 'resume paused deliveries')
    .option('--remove', 'stop sending postbacks')
    .action(async (id: string, options: SetOptions) => {
      const result = await withChange((context) => setPostback(context, readId(id), options))
      show(options, result, ({ warnings, ...rest }) =>
        [fields(rest), ...warnings.map((warning) => `Warning: ${warning}`)].join('\n'),
      )
    })

/** In a few words, such as "paused (failing), 12 queued, 3 dead". */
export function describeHealth(hasAddress: boolean, health: Health | null): string {
  const words: string[] = []
  if (!hasAddress) words.push('none')
  else if (health?.pause_reason) words.push(`paused (${health.pause_reason})`)
  else if (health?.failing_since) words.push('failing')
  if (health?.queued) words.push(`${health.queued} queued`)
  if (health?.dead) words.push(`${health.dead} dead`)
  return words.join(', ') || 'ok'
}

async function setPostback({ config, database: { db }, secretKey }: Context, appId: number, options: SetOptions) {
  if (options.remove === true) {
    if (!(await removeSettings(db, appId))) throw new OperatorError(`App ${appId} has no postback URL.`)
    return { app_id: appId, removed: true, warnings: [] }
  }
  const before = await readSettings(db, secretKey, appId)
  const settings = readOptions(options, before)
  const { errors, warnings } = checkSettings(settings, createGuards(config)(appId, settings.url))
  if (errors.length > 0) throw new OperatorError(errors.join('\n'))
  await saveSettings(db, secretKey, appId, settings)
  if (options.resume === true) await openLane(db, appId)
  return {
    app_id: appId,
    method: settings.method,
    url: settings.url,
    example: previewTemplate(settings.url),
    events: settings.events.join(', '),
    headers: Object.keys(settings.headers).join(', ') || null,
    timeout_s: settings.timeoutMs / 1000,
    success: settings.success,
    reversals: settings.negativeReversals ? 'negative' : 'positive',
    warnings,
  }
}

function readOptions(options: SetOptions, before: PostbackSettings | null): PostbackSettings {
  const url = options.url ?? before?.url
  if (url === undefined) throw new OperatorError('This app has no postback URL yet. Set one with --url.')
  const unknown = options.event.filter((event) => !STATUSES.some((status) => status === event))
  if (unknown.length > 0) throw new OperatorError(`--event must be one of ${STATUSES.join(', ')}.`)
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout)
  if (timeoutMs === null) throw new OperatorError('--timeout must be a duration such as 10s.')
  const base = before ?? { ...DEFAULTS, url }
  return {
    url,
    method: options.method ?? base.method,
    events: options.event.length > 0 ? (options.event as Status[]) : base.events,
    headers: readHeaders(options.header, base.headers),
    timeoutMs: timeoutMs ?? base.timeoutMs,
    success: options.success ?? base.success,
    negativeReversals: options.reversals === undefined ? base.negativeReversals : options.reversals === 'negative',
  }
}

function readHeaders(lines: string[], before: Readonly<Record<string, string>>): Record<string, string> {
  const headers = { ...before }
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? []
    if (name === '') throw new OperatorError(`--header must be "Name: value", not "${line}".`)
    for (const known of Object.keys(headers)) if (known.toLowerCase() === name.toLowerCase()) delete headers[known]
    if (value !== '') headers[name.trim()] = value
  }
  return headers
}
