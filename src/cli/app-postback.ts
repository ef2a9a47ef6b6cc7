// Commands about an app's postback settings.
import { Command, Option } from 'commander'
import type { Trx } from '../db/open.ts'
import { OperatorError, InvalidInput } from '../errors.ts'
import { createGuards } from '../features/postbacks/demo-receiver.ts'
import {
  checkSettings,
  DEFAULTS,
  METHODS,
  type PostbackSettings,
  readSettings,
  removeSettings,
  resumeLane,
  saveSettings,
  type Status,
  STATUSES,
  SUCCESS_RULES,
} from '../features/postbacks/settings.ts'
import { previewTemplate } from '../features/postbacks/template.ts'
import { parseDuration } from '../lib/duration.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { type Context, withChange } from './context.ts'
import { presentPostback } from './app-show.ts'
import { findAppId } from './find.ts'
import { collect, fields, type OutputOptions, show } from './output.ts'
import { UsageError } from './usage.ts'

type SetOptions = OutputOptions &
  ConfirmOptions & {
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
    .argument('<app>', 'ID or name')
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
    .addOption(yesOption())
    .action(async (named: string, options: SetOptions) => {
      if (options.remove === true) await confirm(`App "${named}" will be sent no more postbacks.`, options)
      const result = await withChange(async (context) =>
        setPostback(context, await findAppId(context.database.db, named), options),
      )
      show(options, result, ({ warnings, ...rest }) =>
        [fields(rest), ...warnings.map((warning) => `Warning: ${warning}`)].join('\n'),
      )
    })

async function setPostback({ config, database: { db }, secretKey, by }: Context, appId: number, options: SetOptions) {
  if (options.remove === true) {
    if (!(await removeSettings(db, by, appId))) throw new OperatorError(`App ${appId} has no postback URL.`)
    return { app_id: appId, removed: true, warnings: [] }
  }
  const before = await readSettings(db, secretKey, appId)
  const settings = readOptions(options, before)
  const { problems, warnings } = checkSettings(settings, createGuards(config)(appId, settings.url))
  if (problems.length > 0) throw new InvalidInput(problems)
  await saveSettings(db, by, secretKey, appId, settings)
  if (options.resume === true) await resumeLane(db as Trx, by, appId, 'operator')
  return { app_id: appId, ...presentPostback(settings), example: previewTemplate(settings.url), warnings }
}

function readOptions(options: SetOptions, before: PostbackSettings | null): PostbackSettings {
  const url = options.url ?? before?.url
  if (url === undefined) throw new UsageError('This app has no postback URL yet. Set one with --url.')
  const unknown = options.event.filter((event) => !STATUSES.some((status) => status === event))
  if (unknown.length > 0) throw new UsageError(`--event must be one of ${STATUSES.join(', ')}.`)
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout)
  if (timeoutMs === null) throw new UsageError('--timeout must be a duration such as 10s.')
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
    if (name === '') throw new UsageError(`--header must be "Name: value", not "${line}".`)
    for (const known of Object.keys(headers)) if (known.toLowerCase() === name.toLowerCase()) delete headers[known]
    if (value !== '') headers[name.trim()] = value
  }
  return headers
}
