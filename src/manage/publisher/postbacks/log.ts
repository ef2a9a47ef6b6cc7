// The postback log of an app: all postbacks, each with every attempt, and a summary.
import type { Static } from 'typebox'
import { readMessages } from '../../../features/conversions/messages.ts'
import { readDay, readDelivery, readHealth } from '../../../features/postbacks/health.ts'
import type { EventContent } from '../../../features/postbacks/message.ts'
import { listNotices } from '../../../features/postbacks/notices.ts'
import {
  findPostback,
  type Postback,
  type PostbackFilter,
  presentAttempt,
  presentPostback,
  readAttempts,
  searchPostbacks,
} from '../../../features/postbacks/postbacks.ts'
import { replayPostback } from '../../../features/postbacks/replay-postback.ts'
import { readTestContents } from '../../../features/postbacks/test-sends.ts'
import { parseSpan } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { Log, LogQuery, OnePostback, PostbackHealth, PostbackParams, ReplayedPostback, TAG } from './schema.ts'

const NOTICES = 5

export function logRoutes(routes: ManageRoutes, { db, wakePostbacks }: ManageContext): void {
  routes.get('/apps/:app_id/postbacks', {
    id: 'listPostbacksOfApp',
    summary: 'List the postbacks of an app',
    about: 'The delivery log, newest first. A page may be short; continue with its cursor.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: LogQuery,
    reply: Log,
    async run({ app, query }) {
      const { limit = 20 } = query
      const { rows, next } = await searchPostbacks(db, filterOf(app.appId, query), limit)
      const contents = await readContents(rows)
      const postbacks = rows.map((row) => ({ ...presentPostback(row), what: whatOf(contents.get(row.postback_id)) }))
      return { postbacks, next_cursor: next }
    },
  })

  routes.get('/apps/:app_id/postbacks/:postback_id', {
    id: 'getPostbackOfApp',
    summary: 'Get a postback with every attempt',
    about: 'Requests and responses in full, as far as they are still kept.',
    tag: TAG,
    access: 'publisher',
    params: PostbackParams,
    reply: OnePostback,
    async run({ app, params }) {
      const postback = await findPostback(db, params.postback_id, { appId: app.appId })
      if (postback === null) throw noPostback()
      return { postback: await withTries(postback) }
    },
  })

  routes.post('/apps/:app_id/postbacks/:postback_id/replay', {
    id: 'replayPostbackOfApp',
    summary: 'Resend a postback',
    about: 'Uses the same `webhook-id`, so that a receiver that already processed it can ignore it.',
    tag: TAG,
    access: 'publisher',
    params: PostbackParams,
    reply: ReplayedPostback,
    async run({ app, params, by }) {
      const replayed = await replayPostback(db, by, params.postback_id, { appId: app.appId })
      if (replayed === null) throw noPostback()
      const { postback, warning } = replayed
      wakePostbacks()
      return { postback: await withTries(postback), warning }
    },
  })

  routes.get('/apps/:app_id/postback/health', {
    id: 'getPostbackHealth',
    summary: 'Get the postback health of an app',
    about: 'How deliveries went in the last 24 hours, with the queue and the latest failure.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: PostbackHealth,
    run: ({ app }) => readWhole(app.appId, new Date()),
  })

  /** Test sends have their own contents, the others those of their events. */
  async function readContents(postbacks: readonly Postback[]): Promise<Map<string, EventContent>> {
    const [tests, events] = [true, false].map((isTest) =>
      postbacks.filter(({ scenario }) => (scenario !== null) === isTest),
    )
    const found = await Promise.all([readTestContents(db, tests ?? []), readMessages(db, events ?? [])])
    return new Map(found.flatMap((contents) => [...contents]))
  }

  async function withTries(postback: Postback) {
    const attempts = await readAttempts(db, postback.postback_id)
    return { ...presentPostback(postback), tries: attempts.map(presentAttempt) }
  }

  async function readWhole(appId: number, now: Date): Promise<Static<typeof PostbackHealth>> {
    const [health, { open_until, has_address, ...delivery }, day, notices] = await Promise.all([
      readHealth(db, [appId]).then((all) => all.get(appId)),
      readDelivery(db, appId, now),
      readDay(db, [appId], now).then((all) => all.get(appId)),
      listNotices(db, { appId }, NOTICES),
    ])
    const { paused_at = null, failing_since = null, queued = 0, oldest_due_at = null, dead = 0 } = health ?? {}
    const isOpen = open_until !== null && open_until > now
    const lane = paused_at !== null ? 'paused' : isOpen ? 'open' : failing_since !== null ? 'failing' : 'ok'
    return {
      lane: has_address ? lane : 'none',
      paused_at,
      pause_reason: (health?.pause_reason ?? null) as Static<typeof PostbackHealth>['pause_reason'],
      failing_since,
      open_until: isOpen ? open_until : null,
      queued,
      oldest_due_at,
      dead,
      delivered_24h: day?.delivered_24h ?? 0,
      failed_24h: day?.failed_24h ?? 0,
      ...delivery,
      notices: notices.map(({ notice_id, message, created_at }) => ({ notice_id, message, created_at })),
    }
  }
}

function whatOf(content: EventContent | undefined) {
  if (content === undefined) return null
  const { user_id, offer_id, offer_name, reward, currency } = content.macros
  return {
    user_id: String(user_id),
    offer_id: Number(offer_id),
    offer_name: String(offer_name),
    reward: Number(reward),
    currency: String(currency),
  }
}

const noPostback = () => notThere('No postback of this app has this ID.')

function filterOf(appId: number, query: Static<typeof LogQuery>): PostbackFilter {
  const { mode = 'live', state, status, conversion_id, cursor } = query
  const filter: PostbackFilter = { appId, isTest: mode === 'test', ...parseSpan(query) }
  if (state !== undefined) filter.state = state
  if (status !== undefined) filter.status = status
  if (conversion_id !== undefined) filter.conversionId = conversion_id
  if (cursor !== undefined) filter.before = cursor
  return filter
}
