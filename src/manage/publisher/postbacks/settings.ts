// An app's postback settings.
import type { Static } from 'typebox'
import type { Db } from '../../../db/open.ts'
import { AppError, InvalidInput } from '../../../errors.ts'
import { isOperatorRole } from '../../../features/accounts/people.ts'
import type { AddressGuard } from '../../../features/postbacks/address-guard.ts'
import { createGuards } from '../../../features/postbacks/demo-receiver.ts'
import {
  checkSettings,
  DEFAULTS,
  lockSettings,
  resumeLane,
  type PostbackSettings,
  readAllSettings,
  removeSettings,
  saveSettings,
} from '../../../features/postbacks/settings.ts'
import { completeDialect } from '../../../features/postbacks/dialect-schema.ts'
import { type Dialect, PLAIN } from '../../../features/postbacks/dialect.ts'
import { PRESETS } from '../../../features/postbacks/presets.ts'
import { RECIPE_MACROS } from '../../../features/postbacks/recipe.ts'
import type { Status } from '../../../features/postbacks/statuses.ts'
import { MACROS } from '../../../features/postbacks/template.ts'
import { SCENARIOS, scenariosFor } from '../../../features/postbacks/test-sends.ts'
import type { ManageContext } from '../../context.ts'
import { type Caller, notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams, OK, Ok } from '../../shapes.ts'
import { previewPostback } from './preview.ts'
import { NewPostbackSettings, PostbackSettingsReply, Preview, PreviewBody, TAG } from './schema.ts'

const MASK = '********'

const openerOf = ({ role }: Caller) => (isOperatorRole(role) ? 'operator' : 'publisher')

export function settingsRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, secretKey, config, wakePostbacks } = context
  const guardOf = createGuards(config)
  const preview = (appId: number, settings: PostbackSettings, status: Status = 'approved') => {
    const currency = context.credentials.ofApp(appId, false)?.currency ?? {
      name: 'Coins',
      rateMicros: 1_000_000,
      rounding: null,
    }
    return previewPostback(settings, guardOf(appId, settings.url), currency, status, new Date())
  }
  const readVersioned = async (appId: number, inDb: Db = db) =>
    (await readAllSettings(inDb, secretKey, [appId])).get(appId) ?? { settings: null, version: null }
  const read = async (appId: number, inDb: Db = db) => (await readVersioned(appId, inDb)).settings

  routes.get('/apps/:app_id/postback', {
    id: 'getPostbackSettings',
    summary: 'Get postback settings',
    about: 'The endpoint, method and events of an app, with a preview of a postback.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: PostbackSettingsReply,
    run: async ({ app }) => present(await readVersioned(app.appId), (settings) => preview(app.appId, settings)),
  })

  routes.put('/apps/:app_id/postback', {
    id: 'savePostbackSettings',
    summary: 'Save postback settings',
    about: 'Fields that you leave out keep their values. Effective immediately, also for postbacks in the queue.',
    tag: TAG,
    access: 'publisher',
    sensitive: true,
    params: AppParams,
    body: NewPostbackSettings,
    reply: PostbackSettingsReply,
    async run({ app, body, by }) {
      const { seen_version, ...given } = body
      const saved = await db.transaction().execute(async (trx) => {
        await lockSettings(trx, app.appId)
        const found = await readVersioned(app.appId, trx)
        if (seen_version !== undefined && seen_version !== found.version)
          throw new AppError('CONFLICT', 'Someone else changed these settings. Review the current ones, then save again.') // prettier-ignore
        const before = found.settings === 'unreadable' ? null : found.settings
        const settings = readBody(given, before, guardOf(app.appId, given.url))
        await saveSettings(trx, by, secretKey, app.appId, settings)
        return readVersioned(app.appId, trx)
      })
      wakePostbacks()
      return present(saved, (settings) => preview(app.appId, settings))
    },
  })

  routes.delete('/apps/:app_id/postback', {
    id: 'removePostbackSettings',
    summary: 'Remove postback settings',
    about: 'Nothing more is sent. Queued postbacks are kept until there is an endpoint again.',
    tag: TAG,
    access: 'publisher',
    sensitive: true,
    params: AppParams,
    reply: Ok,
    async run({ app, by }) {
      if (!(await removeSettings(db, by, app.appId))) throw notThere('This app has no postback URL.')
      return OK
    },
  })

  routes.post('/apps/:app_id/postback/resume', {
    id: 'resumePostbacks',
    summary: 'Resume paused deliveries',
    about: 'Sends what was queued during the pause.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: Ok,
    async run({ app, by, caller }) {
      await db.transaction().execute(async (trx) => {
        // Without a URL, queued postbacks would use up their attempts.
        if ((await read(app.appId, trx)) === null)
          throw new AppError('CONFLICT', 'This app has no postback URL. Save one, and queued postbacks are sent.')
        if (!(await resumeLane(trx, by, app.appId, openerOf(caller))))
          throw new AppError('CONFLICT', 'The operator paused these postbacks. Ask the operator to resume them.')
      })
      wakePostbacks()
      return OK
    },
  })

  routes.post('/apps/:app_id/postback/preview', {
    id: 'previewPostback',
    summary: 'Preview a postback',
    about: 'Checks settings without saving them, and shows the request as it would be sent.',
    tag: TAG,
    access: 'publisher',
    changesNothing: true,
    params: AppParams,
    body: PreviewBody,
    reply: Preview,
    async run({ app, body }) {
      const { url, method = DEFAULTS.method, events = DEFAULTS.events, headers = [], status } = body
      const { negative_reversals: negativeReversals = DEFAULTS.negativeReversals } = body
      const masked = Object.fromEntries(headers.map((name) => [name, MASK]))
      const dialect = body.dialect === undefined ? PLAIN : completeDialect(body.dialect)
      const settings = { ...DEFAULTS, url, method, events, headers: masked, negativeReversals, dialect }
      return preview(app.appId, settings, status)
    },
  })
}

type Body = Omit<Static<typeof NewPostbackSettings>, 'seen_version'>

function readBody(body: Body, before: PostbackSettings | null, guard: AddressGuard): PostbackSettings {
  const base = before ?? { ...DEFAULTS, url: body.url }
  const settings: PostbackSettings = {
    url: body.url,
    method: body.method ?? base.method,
    events: body.events ?? base.events,
    headers: {},
    timeoutMs: body.timeout_ms ?? base.timeoutMs,
    success: body.success ?? base.success,
    negativeReversals: body.negative_reversals ?? base.negativeReversals,
    dialect: body.dialect === undefined ? base.dialect : completeDialect(body.dialect),
    receiverSecret: body.receiver_secret ?? base.receiverSecret,
  }
  const { headers, problem } = readHeaders(body, before)
  const { problems } = checkSettings({ ...settings, headers: problem === null ? headers : {} }, guard)
  if (problem !== null) problems.push({ field: 'headers', message: problem })
  const isKept = body.receiver_secret === undefined && settings.receiverSecret !== null
  if (isKept && settings.dialect.signature !== null && isElsewhere(body.url, before))
    problems.push({
      field: 'receiver_secret',
      message: 'The URL now points to another server: enter the secret again.',
    })
  if (problems.length > 0) throw new InvalidInput(problems)
  return { ...settings, headers }
}

function readHeaders({ url, headers: given }: Body, before: PostbackSettings | null) {
  const known = before?.headers ?? {}
  const asked = given ?? Object.fromEntries(Object.keys(known).map((name) => [name, null]))
  const headers: Record<string, string> = {}
  let problem: string | null = null
  for (const [name, value] of Object.entries(asked)) {
    const kept = Object.keys(known).find((one) => one.toLowerCase() === name.toLowerCase())
    if (value !== null) headers[name] = value
    else if (kept === undefined) problem = `The header ${name} needs a value.`
    else if (isElsewhere(url, before))
      problem = 'The URL now points to another server: enter the header values again, or remove the headers.'
    else headers[name] = known[kept] ?? ''
  }
  return { headers, problem }
}

/** Permission to change the URL must not reveal secrets, or what is signed with them. */
const isElsewhere = (url: string, before: PostbackSettings | null) =>
  URL.parse(url)?.origin !== URL.parse(before?.url ?? '')?.origin

function present(
  { settings: found, version }: { settings: PostbackSettings | 'unreadable' | null; version: number | null },
  preview: (settings: PostbackSettings) => Static<typeof Preview>,
): Static<typeof PostbackSettingsReply> {
  const settings = found === 'unreadable' ? null : found
  return {
    settings: settings && {
      method: settings.method,
      url: settings.url,
      events: [...settings.events],
      headers: Object.keys(settings.headers),
      timeout_ms: settings.timeoutMs,
      success: settings.success,
      negative_reversals: settings.negativeReversals,
      dialect: showDialect(settings.dialect),
      has_receiver_secret: settings.receiverSecret !== null,
    },
    version,
    is_unreadable: found === 'unreadable',
    preview: settings && preview(masked(settings)),
    macros: Object.entries(MACROS).map(([name, { description, example }]) => ({ name, description, example })),
    recipe_macros: Object.entries(RECIPE_MACROS).map(([name, description]) => ({ name, description })),
    presets: PRESETS.map(({ negativeReversals, ...preset }) => ({
      ...preset,
      events: [...preset.events],
      negative_reversals: negativeReversals,
      dialect: showDialect(preset.dialect),
    })),
    scenarios: scenariosFor(settings?.dialect ?? PLAIN).map((scenario) => ({ scenario, about: SCENARIOS[scenario] })),
  }
}

const showDialect = (dialect: Dialect) => ({ ...dialect, answers: [...dialect.answers] })

const masked = (settings: PostbackSettings): PostbackSettings => ({
  ...settings,
  headers: Object.fromEntries(Object.keys(settings.headers).map((name) => [name, MASK])),
})
