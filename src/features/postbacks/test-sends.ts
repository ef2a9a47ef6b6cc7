// Test sends: a run of made-up postbacks through the real delivery engine, to check that a receiver handles each
// correctly.
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { rfc3339 } from '../../lib/time.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { canSay, type Dialect, PLAIN } from './dialect.ts'
import type { EventContent } from './message.ts'
import { listTestSends, type Owner, type Postback, presentPostback } from './postbacks.ts'
import { EXAMPLE_VALUES } from './template.ts'

/** In the order they are sent. */
export const SCENARIOS = {
  pending: 'A pending conversion. Passes with the expected answer; check that nothing was credited.',
  approved: 'The conversion is approved. Passes with the expected answer; check that it was credited once.',
  duplicate:
    'The same postback again, with the same ID. Passes with the expected answer; check that nothing was credited again.',
  reversed: 'The conversion is reversed. Passes with the expected answer; check that the credit was taken back.',
  out_of_order:
    'Another conversion, whose reversal arrives before its approval. Passes with the expected answer to both; check that nothing stays credited.',
  wrong_signature:
    'A postback signed with another secret. Passes if your server refuses it: with a status from 400 to 499 or, if the body is checked, with an unexpected answer.',
} as const
export type Scenario = keyof typeof SCENARIOS
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as Scenario[]

/** Those that a receiver can be sent. */
export const scenariosFor = (dialect: Dialect): Scenario[] =>
  SCENARIO_NAMES.filter((scenario) => scenario !== 'pending' || canSay(dialect, scenario))

const RUNS_A_MINUTE = 20 // each is several requests to a publisher's server

type Made = { scenario: Scenario; content: EventContent; status: string; conversionId: string }

/** One limit for the API and the dashboard together. */
export async function limitTestSends(limiter: RateLimiter, appId: number): Promise<void> {
  const { exceeded } = await limiter.take(`postback tests ${appId}`, RUNS_A_MINUTE)
  if (exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many tests. Wait a minute and try again.')
}

/** Queues a run; returns its id. `by` is null for the app itself, which asks by its API key. */
export async function startTestSends(
  db: Db,
  by: Actor | null,
  app: { appId: number; isTest: boolean },
  scenarios: readonly Scenario[],
  now: Date,
): Promise<string> {
  const settings = await db
    .selectFrom('postback_settings')
    .innerJoin('postback_lanes', 'postback_lanes.app_id', 'postback_settings.app_id')
    .select(['negative_reversals', 'paused_at', 'dialect'])
    .where('postback_settings.app_id', '=', app.appId)
    .executeTakeFirst()
  if (settings === undefined) throw new AppError('INVALID_REQUEST', 'This app has no postback URL yet. Set one first.')
  if (settings.paused_at !== null)
    throw new AppError('INVALID_REQUEST', 'Postbacks of this app are paused. Save its postback URL again to resume.')
  const made = composeTestSends(scenarios, settings.negative_reversals, now).filter(({ status }) =>
    canSay((settings.dialect ?? PLAIN) as Dialect, status),
  )
  if (made.length === 0)
    throw new AppError('INVALID_REQUEST', 'The dialect of this app has no word for these statuses. Choose others.')
  const testId = uuid7(now.getTime())
  const rows = made.map(({ scenario, content, status, conversionId }, i) => ({
    postback_id: uuid7(now.getTime()),
    app_id: app.appId,
    is_test: app.isTest,
    conversion_id: conversionId,
    sequence: i + 1, // the order they are sent in, which differs from the order of the events for some scenarios
    status,
    state: 'queued',
    created_at: now,
    test_id: testId,
    scenario,
    content: JSON.stringify(content),
  }))
  await inTransaction(db, async (trx) => {
    await trx.insertInto('postbacks').values(rows).execute()
    if (by !== null) await recordStart(trx, by, testId, { ...app, scenarios })
  })
  return testId
}

type Started = { appId: number; isTest: boolean; scenarios: readonly Scenario[] }

async function recordStart(trx: Trx, by: Actor, subject: string, { appId, isTest, scenarios }: Started): Promise<void> {
  const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
  const details = { app_id: appId, mode: isTest ? 'test' : 'live', scenarios }
  const publisherId = app?.publisher_id ?? null
  await recordAudit(trx, by, { action: 'postback_test.start', subject, publisherId, details })
}

function composeTestSends(scenarios: readonly Scenario[], isNegative: boolean, now: Date): Made[] {
  const row = uuid7(now.getTime()) // one conversion for the queue, so that all are sent in order
  const [first, second, third] = [uuid7(now.getTime()), uuid7(now.getTime()), uuid7(now.getTime())]
  const compose = (conversionId: string, status: string, sequence: number) =>
    contentOf({ conversionId, status, sequence, eventId: uuid7(now.getTime()), isNegative, now })
  const approved = compose(first, 'approved', 2)
  const contents: Record<Scenario, EventContent[]> = {
    pending: [compose(first, 'pending', 1)],
    approved: [approved],
    duplicate: [approved],
    reversed: [compose(first, 'reversed', 3)],
    out_of_order: [compose(second, 'reversed', 2), compose(second, 'approved', 1)],
    wrong_signature: [compose(third, 'approved', 1)],
  }
  return SCENARIO_NAMES.filter((name) => scenarios.includes(name)).flatMap((scenario) =>
    contents[scenario].map((content) => ({
      scenario,
      content,
      status: String(content.macros.status),
      conversionId: row,
    })),
  )
}

type EventSeed = {
  conversionId: string
  eventId: string
  status: string
  sequence: number
  isNegative: boolean
  now: Date
}

function contentOf({ conversionId, eventId, status, sequence, isNegative, now }: EventSeed): EventContent {
  const sign = status === 'reversed' && isNegative ? -1 : 1
  const [payout, reward] = [sign * 0.5, sign * 50]
  const at = rfc3339(now)
  const macros = {
    ...EXAMPLE_VALUES,
    conversion_id: conversionId,
    transaction_id: eventId,
    event_id: eventId,
    sequence,
    status,
    status_reason: status === 'reversed' ? 'advertiser_reversed' : null,
    payout,
    reward,
    payout_local: reward,
    multiplier: 1,
    locker_id: null,
    timestamp: Math.floor(now.getTime() / 1000),
    is_test: true,
    request_id: null,
  }
  const data = {
    conversion_id: conversionId,
    publisher_transaction_id: null,
    offer_id: macros.offer_id,
    goal_id: macros.goal_id,
    user_id: macros.user_id,
    status,
    status_reason: macros.status_reason,
    payout,
    payout_local: reward,
    currency: macros.currency,
    multiplier: 1,
    locker_id: null,
    aff_sub: macros.aff_sub,
    aff_sub2: macros.aff_sub2,
    aff_sub3: macros.aff_sub3,
    aff_sub4: macros.aff_sub4,
    source: 'advertiser',
    country: macros.country,
    device: macros.device,
    click_at: at,
    created_at: at,
    approved_at: status === 'pending' ? null : at,
    rejected_at: null,
    reversed_at: status === 'reversed' ? at : null,
    hold_until: null,
    is_test: true,
  }
  return { body: { id: eventId, type: `conversion.${status}`, created_at: at, sequence, data }, macros }
}

/** The contents of these test sends, by their ids. */
export async function readTestContents(
  db: Db,
  sends: readonly { postback_id: string }[],
): Promise<Map<string, EventContent>> {
  if (sends.length === 0) return new Map()
  const rows = await db
    .selectFrom('postbacks')
    .select(['postback_id', 'content'])
    .where((is) => is('postback_id', '=', is.fn.any(is.val(sends.map((one) => one.postback_id)))))
    .execute()
  return new Map(rows.map((row) => [row.postback_id, row.content as EventContent]))
}

export type Verdict = 'waiting' | 'pass' | 'fail'

/** The results of a run, scenario by scenario; null when there is no such run. */
export async function readTestSends(db: Db, testId: string, owner: Owner) {
  const rows = await listTestSends(db, testId, owner)
  if (rows.length === 0) return null
  const results = [...Map.groupBy(rows, (row) => row.scenario as Scenario)].map(([scenario, ofOne]) => ({
    scenario,
    about: SCENARIOS[scenario],
    result: verdictOf(scenario, ofOne),
    seen: ofOne.map(describeSeen).join(' '),
    postbacks: ofOne.map(presentPostback),
  }))
  const verdicts = results.map((one) => one.result)
  const result: Verdict = verdicts.includes('waiting') ? 'waiting' : verdicts.includes('fail') ? 'fail' : 'pass'
  return { test_id: testId, result, results }
}

/** Only the responses are visible here: what the server did with a postback is for its owner to check. */
function describeSeen({ state, last_status, last_error }: Postback): string {
  if (state === 'queued' || state === 'sending') return 'Not sent yet.'
  if (last_status === null) return last_error ?? ''
  const isOk = last_status >= 200 && last_status < 300
  return isOk && last_error !== null ? last_error : `Answered ${last_status}.`
}

function verdictOf(scenario: Scenario, rows: Postback[]): Verdict {
  if (rows.some((row) => row.state === 'queued' || row.state === 'sending')) return 'waiting'
  return rows.every(scenario === 'wrong_signature' ? isRefused : (row) => row.state === 'delivered') ? 'pass' : 'fail'
}

/** By its status, or by a body that is not expected: many receivers answer every request with 200. */
const isRefused = ({ state, last_status }: Postback): boolean =>
  state !== 'delivered' && last_status !== null && ((last_status >= 200 && last_status < 300) || (last_status >= 400 && last_status < 500)) // prettier-ignore
