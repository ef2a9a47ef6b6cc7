// Postbacks as they are recorded: finding them, showing them with their attempts.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { allOf, cutFound, type Found, search } from '../../db/search.ts'
import { rfc3339 } from '../../lib/time.ts'
import { isUuid, uuid7Floor } from '../../lib/uuid7.ts'
import type { Status } from './statuses.ts'

export const STATES = ['queued', 'sending', 'delivered', 'dead'] as const
export type State = (typeof STATES)[number]

/** Whose postbacks the caller may see; null: all. */
export type Owner = { appId: number; isTest: boolean } | null
/** The same for people, who see the postbacks of both modes of their app. */
export type Viewer = Owner | { appId: number }

/** Filters are combined with AND; an absent one is ignored. */
export type PostbackFilter = {
  appId?: number
  isTest?: boolean
  state?: State
  status?: string
  conversionId?: string
  from?: Date
  to?: Date
  /** Only those created before this one. */
  before?: string
}

/** With its row in the queue, if it has one: then it is still to be sent, whatever happened before. */
const selectPostbacks = (db: Db) =>
  db
    .selectFrom('postbacks as p')
    .leftJoin('postback_queue as q', (on) =>
      on.onRef('q.app_id', '=', 'p.app_id').onRef('q.postback_id', '=', 'p.postback_id'),
    )
    .leftJoin('postback_lanes as l', 'l.app_id', 'p.app_id')
    .select(['p.postback_id', 'p.app_id', 'p.is_test', 'p.conversion_id', 'p.sequence', 'p.status', 'p.created_at'])
    .select(['p.last_status', 'p.last_error', 'p.scenario', 'p.test_id'])
    .select((is) => [
      is.fn.coalesce('q.attempts', 'p.attempts').as('attempts'),
      sql<State>`CASE WHEN q.state IS NULL THEN p.state WHEN q.state = 'sending' THEN 'sending' ELSE 'queued' END`.as(
        'state',
      ),
      sql<Date | null>`CASE WHEN q.state IS NULL THEN p.settled_at END`.as('settled_at'),
      // Unknown for what waits for an earlier event, or for its lane to be resumed.
      sql<Date | null>`CASE WHEN q.state IN ('ready', 'later') AND l.paused_at IS NULL
        THEN greatest(q.due_at, l.open_until) END`.as('next_attempt_at'),
    ])
export type Postback = Awaited<ReturnType<ReturnType<typeof selectPostbacks>['execute']>>[number]

/**
 * Newest first. Rows are found by an index of the record or, for what is still to be sent, of the queue; a page with a
 * rare status may be short, and its cursor continues. Times are those in the IDs.
 */
export async function searchPostbacks(db: Db, filter: PostbackFilter, limit: number): Promise<Found<Postback>> {
  const { conversionId, state } = filter
  if (conversionId !== undefined) return cutFound(await readOfConversion(db, conversionId, filter, limit + 1), limit)
  const isWaiting = state === 'queued' || state === 'sending'
  const { branches, filters } = isWaiting ? pathInQueue(filter) : pathInRecord(filter)
  const table = sql.table(isWaiting ? 'postback_queue' : 'postbacks')
  const { rows, next } = await search<{ postback_id: string }>(
    db,
    {
      id: 'postback_id',
      filters,
      walk: (_order, most) =>
        sql`SELECT * FROM (${sql.join(
          branches.map(
            (branch) =>
              sql`(SELECT app_id, postback_id, is_test, status, state FROM ${table} ${inOrder(branch, filter)} LIMIT ${most}::integer)`,
          ),
          sql` UNION ALL `,
        )}) AS p`,
    },
    limit,
  )
  return {
    rows: await readPostbacks(
      db,
      rows.map((row) => row.postback_id),
    ),
    next,
  }
}

/** One page of it, without a cursor. */
export const listPostbacks = async (...given: Parameters<typeof searchPostbacks>): Promise<Postback[]> =>
  (await searchPostbacks(...given)).rows

type Condition = RawBuilder<boolean>
/** `keys`: the columns before the ID in the index to use. `conditions`: the predicate of the index. */
type Branch = {
  keys: [column: 'app_id' | 'is_test' | 'status', value: number | boolean | string][]
  conditions: Condition[]
}
type Path = { branches: Branch[]; filters: Condition[] }

const when = <T>(value: T | undefined, condition: (given: T) => Condition): Condition[] =>
  value === undefined ? [] : [condition(value)]

const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The index columns are compared as a row: compared one by one, PostgreSQL would prefer the primary key for this order,
 * and scan the postbacks of all apps.
 */
function inOrder({ keys, conditions }: Branch, { from, to, before }: PostbackFilter): RawBuilder<unknown> {
  const columns = [...keys.map(([column]) => column), 'postback_id'].map((column) => sql.ref(column))
  const row = (id: string) => sql`(${sql.join([...keys.map(([, value]) => sql.lit(value)), sql`${id}::uuid`])})`
  const high = to === undefined ? LAST_ID : uuid7Floor(to.getTime())
  const range = [
    sql<boolean>`(${sql.join(columns)}) >= ${row(from === undefined ? FIRST_ID : uuid7Floor(from.getTime()))}`,
    sql<boolean>`(${sql.join(columns)}) < ${row(before !== undefined && before < high ? before : high)}`,
  ]
  return sql`WHERE ${allOf([...range, ...conditions])} ORDER BY ${sql.join(columns.map((column) => sql`${column} DESC`))}`
}

function pathInQueue({ appId, isTest, state, status }: PostbackFilter): Path {
  const filters = [
    state === 'sending' ? sql<boolean>`state = 'sending'` : sql<boolean>`state <> 'sending'`,
    ...when(isTest, (mode) => sql`is_test = ${sql.lit(mode)}`),
    ...when(status, (one) => sql`status = ${one}`),
  ]
  return { branches: [{ keys: appId === undefined ? [] : [['app_id', appId]], conditions: [] }], filters }
}

function pathInRecord({ appId, isTest, state, status }: PostbackFilter): Path {
  const app: Branch['keys'] = appId === undefined ? [] : [['app_id', appId]]
  const ofMode = when(isTest, (mode) => sql`is_test = ${sql.lit(mode)}`)
  const ofStatus = when(status, (one) => sql`status = ${sql.lit(one)}`)
  const ofState = when(
    state,
    (one) => sql`state = ${one} AND NOT EXISTS (
      SELECT FROM postback_queue q WHERE q.app_id = walked.app_id AND q.postback_id = walked.postback_id)`,
  )
  // Few among many, each with its own index.
  if (state === 'dead') {
    const conditions = [sql<boolean>`last_error IS NOT NULL`]
    return { branches: [{ keys: app, conditions }], filters: [...ofState, ...ofMode, ...ofStatus] }
  }
  if (appId !== undefined && (status === 'rejected' || status === 'reversed')) {
    const conditions = [sql<boolean>`status IN ('rejected', 'reversed')`]
    return { branches: [{ keys: [...app, ['status', status]], conditions }], filters: [...ofState, ...ofMode] }
  }
  if (appId === undefined)
    return { branches: [{ keys: [], conditions: [] }], filters: [...ofState, ...ofMode, ...ofStatus] }
  const modes = isTest === undefined ? [false, true] : [isTest]
  const branches = modes.map((mode): Branch => ({ keys: [...app, ['is_test', mode]], conditions: [] }))
  return { branches, filters: [...ofState, ...ofStatus] }
}

/** A postback has the ID of its event. */
async function readOfConversion(
  db: Db,
  conversionId: string,
  filter: PostbackFilter,
  limit: number,
): Promise<Postback[]> {
  if (!isUuid(conversionId)) return []
  const { appId, isTest, state, status, before } = filter
  const events = await db
    .selectFrom('conversion_events')
    .select('event_id')
    .where('conversion_id', '=', conversionId)
    .execute()
  const all = await readPostbacks(
    db,
    events.flatMap(({ event_id }) => event_id ?? []),
  )
  return all
    .filter(
      (one) =>
        (appId ?? one.app_id) === one.app_id &&
        (isTest ?? one.is_test) === one.is_test &&
        (state ?? one.state) === one.state &&
        (status ?? one.status) === one.status &&
        (before === undefined || one.postback_id < before),
    )
    .slice(0, limit)
}

const readPostbacks = (db: Db, postbackIds: readonly string[]): Promise<Postback[]> =>
  selectPostbacks(db)
    .where((is) => is('p.postback_id', '=', is.fn.any(sql<string[]>`${postbackIds}::uuid[]`)))
    .orderBy('p.postback_id', 'desc')
    .execute()

/** Null when there is none, or it belongs to another app. */
export async function findPostback(db: Db, postbackId: string, owner: Viewer): Promise<Postback | null> {
  if (!isUuid(postbackId)) return null
  let query = selectPostbacks(db).where('p.postback_id', '=', postbackId)
  if (owner !== null) query = query.where('p.app_id', '=', owner.appId)
  if (owner !== null && 'isTest' in owner) query = query.where('p.is_test', '=', owner.isTest)
  return (await query.executeTakeFirst()) ?? null
}

/** Those of a run of test sends, in the order they are sent. */
export async function listTestSends(db: Db, testId: string, owner: Owner): Promise<Postback[]> {
  let query = selectPostbacks(db).where('p.test_id', '=', testId)
  if (owner !== null) query = query.where('p.app_id', '=', owner.appId).where('p.is_test', '=', owner.isTest)
  return query.orderBy('p.sequence').execute()
}

/** Of each postback: it can be resent any number of times. */
const MOST_ATTEMPTS = 100

/** The newest attempts, first to last. */
export async function readAttempts(db: Db, ...postbackIds: string[]) {
  const newestFirst = await db
    .selectFrom('postback_attempts')
    .selectAll()
    .where((is) => is('postback_id', '=', is.fn.any(is.val(postbackIds))))
    .orderBy('attempt_id', 'desc')
    .limit(MOST_ATTEMPTS * postbackIds.length)
    .execute()
  return newestFirst.toReversed()
}
export type Attempt = Awaited<ReturnType<typeof readAttempts>>[number]

/** As publishers see it. */
export function presentPostback(postback: Postback) {
  return {
    postback_id: postback.postback_id,
    conversion_id: postback.conversion_id,
    sequence: postback.sequence,
    status: postback.status as Status,
    state: postback.state,
    attempts: postback.attempts,
    next_attempt_at: postback.next_attempt_at === null ? null : rfc3339(postback.next_attempt_at),
    last_status: postback.last_status,
    last_error: postback.last_error,
    created_at: rfc3339(postback.created_at),
    settled_at: postback.settled_at === null ? null : rfc3339(postback.settled_at),
    scenario: postback.scenario,
    is_test: postback.is_test || postback.scenario !== null,
  }
}

export function presentAttempt(attempt: Attempt) {
  return {
    attempt: attempt.attempt,
    started_at: rfc3339(attempt.started_at),
    duration_ms: attempt.duration_ms,
    ok: attempt.ok,
    phase: attempt.phase,
    status: attempt.status,
    error: attempt.error,
    remote_address: attempt.remote_address,
    request: attempt.request,
    response: attempt.response,
  }
}
