// Commands about an app's postback settings.
import { readFileSync } from 'node:fs'
import { Command, Option } from 'commander'
import type { Trx } from '../db/open.ts'
import { cannotRead, InvalidInput, OperatorError } from '../errors.ts'
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
  SUCCESS_RULES,
} from '../features/postbacks/settings.ts'
import { readDialect } from '../features/postbacks/dialect-schema.ts'
import { exampleUrl } from '../features/postbacks/message.ts'
import { applyQuery, presetOf, PRESETS } from '../features/postbacks/presets.ts'
import { type Status, STATUSES } from '../features/postbacks/statuses.ts'
import { parseDuration } from '../lib/duration.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { type Context, withChange } from './context.ts'
import { postbackFields, presentPostback } from './app-show.ts'
import { findAppId } from './find.ts'
import { collect, fields, type OutputOptions, show } from './output.ts'
import { byOption, UsageError } from './usage.ts'

type SetOptions = OutputOptions &
  ConfirmOptions & {
    url?: string
    method?: PostbackSettings['method']
    event: string[]
    header: string[]
    timeout?: string
    success?: PostbackSettings['success']
    reversals?: 'negative' | 'positive'
    preset?: string
    dialect?: string
    receiverSecret?: string
    resume?: boolean
    remove?: boolean
  }

/** Of each field of the settings. */
const OPTIONS = {
  url: '--url',
  events: '--event',
  timeout_ms: '--timeout',
  headers: '--header',
  dialect: '--dialect',
  receiver_secret: '--receiver-secret',
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
      new Option(
        '--success <rule>',
        'count as delivered: any 2xx, or a body that begins with an answer of the dialect, such as OK',
      ).choices(SUCCESS_RULES),
    )
    .addOption(new Option('--reversals <sign>', 'sign of reversed amounts').choices(['negative', 'positive']))
    .addOption(
      new Option('--preset <receiver>', 'settings for a receiver that was written for another network').choices(
        PRESETS.map(({ preset }) => preset),
      ),
    )
    .option('--dialect <file>', 'JSON file with a dialect: see docs/postbacks.md; - for standard input')
    .option('--receiver-secret <file>', "file that holds the receiver's secret; - for standard input")
    .option('--resume', 'resume paused deliveries')
    .option('--remove', 'stop sending postbacks')
    .addOption(yesOption())
    .action(async (named: string, options: SetOptions) => {
      if (options.remove === true) await confirm(`App "${named}" will be sent no more postbacks.`, options)
      const result = await byOption(OPTIONS, () =>
        withChange(async (context) => setPostback(context, await findAppId(context.database.db, named), options)),
      )
      show(options, result.shown, () =>
        [fields(result.text), ...result.warnings.map((warning) => `Warning: ${warning}`)].join('\n'),
      )
    })

async function setPostback({ config, database: { db }, secretKey, by }: Context, appId: number, options: SetOptions) {
  if (options.remove === true) {
    if (!(await removeSettings(db, by, appId))) throw new OperatorError(`App ${appId} has no postback URL.`)
    return {
      shown: { app_id: appId, removed: true, warnings: [] },
      text: { app_id: appId, removed: true },
      warnings: [],
    }
  }
  const before = await readSettings(db, secretKey, appId)
  const settings = readOptions(options, before)
  const { problems, warnings } = checkSettings(settings, createGuards(config)(appId, settings.url))
  if (problems.length > 0) throw new InvalidInput(problems)
  await saveSettings(db, by, secretKey, appId, settings)
  if (options.resume === true) await resumeLane(db as Trx, by, appId, 'operator')
  const [saved, example] = [presentPostback(settings), exampleUrl(settings)]
  const shown = { app_id: appId, ...saved, example, warnings }
  return { shown, text: { app_id: appId, ...postbackFields(saved), example }, warnings }
}

function readOptions(options: SetOptions, before: PostbackSettings | null): PostbackSettings {
  const url = options.url ?? before?.url
  if (url === undefined) throw new UsageError('This app has no postback URL yet. Set one with --url.')
  const unknown = options.event.filter((event) => !STATUSES.some((status) => status === event))
  if (unknown.length > 0) throw new UsageError(`--event must be one of ${STATUSES.join(', ')}.`)
  const timeoutMs = options.timeout === undefined ? undefined : parseDuration(options.timeout)
  if (timeoutMs === null) throw new UsageError('--timeout must be a duration such as 10s.')
  const preset = presetOf(options.preset ?? '')
  const base = { ...(before ?? DEFAULTS), ...preset }
  return {
    url: preset === undefined ? url : applyQuery(url, preset.query),
    method: options.method ?? base.method,
    events: options.event.length > 0 ? (options.event as Status[]) : base.events,
    headers: readHeaders(options.header, base.headers),
    timeoutMs: timeoutMs ?? base.timeoutMs,
    success: options.success ?? base.success,
    negativeReversals: options.reversals === undefined ? base.negativeReversals : options.reversals === 'negative',
    dialect: options.dialect === undefined ? base.dialect : readDialect(readJson(options.dialect)),
    receiverSecret:
      options.receiverSecret === undefined ? base.receiverSecret : readText(options.receiverSecret).trim(),
  }
}

/** From a file, so that a secret is in no history and in no list of processes. */
function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw cannotRead(file, error)
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readText(file)) as unknown
  } catch (error) {
    throw error instanceof SyntaxError ? new UsageError('--dialect is not JSON.') : error
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
