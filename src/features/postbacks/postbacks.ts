// Postbacks as they are recorded: finding them, showing them with their attempts, sending one again.
import type { Db } from '../../db/open.ts'
import { rfc3339 } from '../../lib/time.ts'
import { isUuid } from '../../lib/uuid7.ts'
import type { Status } from './settings.ts'

export const STATES = ['queued', 'sending', 'delivered', 'dead'] as const
export type State = (typeof STATES)[number]

/** Whose postbacks somebody may see; null: everybody's. */
export type Owner = { appId: number; isTest: boolean } | null
/** The same for people, who see what was done with either key of their app. */
export type Viewer = Owner | { appId: number }

/** Every part narrows; what is absent does not. */
export type PostbackFilter = {
  appId?: number
  isTest?: boolean
  state?: State
  status?: string
  conversionId?: string
  from?: Date
  to?: Date
  /** Only those made before this one. */
  before?: string
}

const COLUMNS = [
  'postback_id',
  'app_id',
  'is_test',
  'conversion_id',
  'sequence',
  'status',
  'state',
  'due_at',
  'attempts',
  'created_at',
  'settled_at',
  'last_status',
  'last_error',
  'scenario',
] as const

const selectPostbacks = (db: Db) => db.selectFrom('postbacks').select(COLUMNS)
export type Postback = Awaited<ReturnType<ReturnType<typeof selectPostbacks>['execute']>>[number]

/** Newest first. */
export async function listPostbacks(db: Db, filter: PostbackFilter, limit: number): Promise<Postback[]> {
  let query = selectPostbacks(db)
  if (filter.appId !== undefined) query = query.where('app_id', '=', filter.appId)
  if (filter.isTest !== undefined) query = query.where('is_test', '=', filter.isTest)
  if (filter.state !== undefined) query = query.where('state', '=', filter.state)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  if (filter.conversionId !== undefined) {
    if (!isUuid(filter.conversionId)) return []
    query = query.where('conversion_id', '=', filter.conversionId)
  }
  if (filter.from !== undefined) query = query.where('created_at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('created_at', '<', filter.to)
  if (filter.before !== undefined) query = query.where('postback_id', '<', filter.before)
  return query.orderBy('postback_id', 'desc').limit(limit).execute()
}

/** Null when there is none, or it is somebody else's. */
export async function findPostback(db: Db, postbackId: string, owner: Viewer): Promise<Postback | null> {
  if (!isUuid(postbackId)) return null
  let query = selectPostbacks(db).where('postback_id', '=', postbackId)
  if (owner !== null) query = query.where('app_id', '=', owner.appId)
  if (owner !== null && 'isTest' in owner) query = query.where('is_test', '=', owner.isTest)
  return (await query.executeTakeFirst()) ?? null
}

/** Every try, first to last. */
export async function readAttempts(db: Db, ...postbackIds: string[]) {
  return db
    .selectFrom('postback_attempts')
    .selectAll()
    .where((is) => is('postback_id', '=', is.fn.any(is.val(postbackIds))))
    .orderBy('attempt_id')
    .execute()
}
export type Attempt = Awaited<ReturnType<typeof readAttempts>>[number]

/** Sends it again, now and with all its tries. One that is being sent at this moment is left alone. */
export async function replayPostback(db: Db, postbackId: string, owner: Viewer, now: Date): Promise<Postback | null> {
  const found = await findPostback(db, postbackId, owner)
  if (found === null) return null
  await db
    .updateTable('postbacks')
    .set({ state: 'queued', due_at: now, tries: 0, priority: 0, settled_at: null })
    .where('postback_id', '=', postbackId)
    .where('state', '<>', 'sending')
    .execute()
  return findPostback(db, postbackId, owner)
}

/** As publishers see it. */
export function presentPostback(postback: Postback) {
  return {
    postback_id: postback.postback_id,
    conversion_id: postback.conversion_id,
    sequence: postback.sequence,
    status: postback.status as Status,
    state: postback.state as State,
    attempts: postback.attempts,
    next_attempt_at: postback.state === 'queued' ? rfc3339(postback.due_at) : null,
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
