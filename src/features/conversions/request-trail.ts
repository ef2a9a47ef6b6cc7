// From the ID of a request to everything that it belongs to, and back: the list, the click, the callback or report, the
// status changes, the postbacks with their attempts, and what people did. Every look-up has its index. The clicks of a list
// are found by the user in the request log, because an index of their requests would be a quarter more to write for
// every click.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { callOfRequest, clickOfRequest } from '../../http/request-ids.ts'
import { isUuid, uuid7Floor, uuid7Time } from '../../lib/uuid7.ts'

const MOST = 100 // of each kind

export type Step = {
  at: Date
  what: 'request' | 'click' | 'callback' | 'event' | 'attempt' | 'audit'
  /** Its own: a click_id, an inbound_id, an event_id. */
  id: string
  request_id: string | null
  conversion_id: string | null
  about: string
}

/** `id`: of a request, or of a click, callback, conversion or event. First to last; what is not kept any longer is missing. */
export async function readTrail(db: Db, id: string): Promise<Step[]> {
  const conversionIds = await findConversionsOf(db, id)
  const events = await readEvents(db, conversionIds)
  const clickIds = await findClicksOf(db, id)
  const clicks = await readClicks(db, [...new Set([...clickIds, ...events.flatMap(({ click_id }) => click_id ?? [])])])
  const requestIds = [...new Set([id, ...[...clicks, ...events].flatMap(({ request_id }) => request_id ?? [])])]
  const [requests, callbacks, attempts, audit] = await Promise.all([
    readRequests(db, requestIds),
    readCallbacks(db, [...idsIn(id, callOfRequest), ...requestIds.flatMap((one) => callOfRequest(one) ?? [])], clicks.map((click) => click.click_id)), // prettier-ignore
    readAttempts(db, events),
    readAudit(db, requestIds),
  ])
  const steps: Step[] = [
    ...requests,
    ...clicks.map(({ click_id, ...click }) => ({ ...click, what: 'click' as const, id: click_id })),
    ...callbacks,
    ...events.map(({ click_id: _click, ...event }) => ({ ...event, what: 'event' as const })),
    ...attempts,
    ...audit,
  ]
  return steps.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

/** The conversions that a request had to do with: it listed, clicked, reported, confirmed or decided them. */
export async function findConversionsOf(db: Db, id: string, limit = MOST): Promise<string[]> {
  const clickIds = await findClicksOf(db, id)
  const calls = idsIn(id, callOfRequest)
  const own = isUuid(id) ? [id] : []
  const { rows } = await sql<{ conversion_id: string }>`
    SELECT DISTINCT conversion_id FROM (
      (SELECT conversion_id FROM conversion_events WHERE request_id = ${id} LIMIT ${limit}::integer)
      UNION ALL (SELECT conversion_id FROM conversions WHERE conversion_id = ANY (${own}::uuid[]))
      UNION ALL (SELECT conversion_id FROM postbacks WHERE postback_id = ANY (${own}::uuid[]) AND scenario IS NULL)
      UNION ALL (SELECT conversion_id FROM conversions WHERE click_id = ANY (${clickIds}::uuid[]) LIMIT ${limit}::integer)
      UNION ALL (SELECT conversion_id FROM inbound_calls WHERE inbound_id = ANY (${calls}::uuid[]) AND conversion_id IS NOT NULL)
    ) AS found LIMIT ${limit}::integer`.execute(db)
  return rows.map((row) => row.conversion_id)
}

/** The row's ID in that of its request, or as it is. */
function idsIn(id: string, idOf: (requestId: string) => string | null): string[] {
  const found = isUuid(id) ? id : idOf(id)
  return found === null ? [] : [found]
}

/** A request that followed a link, or the links of a list that is in the request log. */
async function findClicksOf(db: Db, id: string): Promise<string[]> {
  const known = idsIn(id, clickOfRequest)
  if (known.length > 0) return known
  const { rows: lists } = await sql<{ app_id: number; user_id: string; logged_id: string }>`
    SELECT app_id, parameters ->> 'userId' AS user_id, logged_id FROM api_requests
    WHERE request_id = ${id} AND jsonb_typeof(parameters -> 'userId') = 'string' LIMIT 1`.execute(db)
  const [list] = lists
  if (list === undefined) return []
  const since = uuid7Floor(uuid7Time(list.logged_id) - CLOCKS_MS)
  const { rows } = await sql<{ click_id: string }>`
    SELECT click_id FROM clicks WHERE app_id = ${list.app_id}::bigint AND user_id = ${list.user_id}
      AND click_id >= ${since}::uuid AND request_id = ${id} LIMIT ${MOST}::integer`.execute(db)
  return rows.map((row) => row.click_id)
}

const CLOCKS_MS = 60_000 // how far the clocks of two nodes may be apart

async function readEvents(db: Db, conversionIds: string[]) {
  const { rows } = await sql<Omit<Step, 'what'> & { click_id: string | null }>`
    SELECT created_at AS at, event_id AS id, request_id, conversion_id, click_id,
      'conversion ' || status || coalesce(' (' || status_reason || ')', '') || ' by ' || actor AS about
    FROM conversion_events WHERE conversion_id = ANY (${conversionIds}::uuid[])
    ORDER BY conversion_id, sequence LIMIT ${MOST}::integer`.execute(db)
  return rows
}

async function readClicks(db: Db, clickIds: string[]) {
  const { rows } = await sql<Omit<Step, 'what' | 'id'> & { click_id: string }>`
    SELECT clicked_at AS at, click_id, request_id, NULL AS conversion_id, 'offer ' || offer_id || ' by user ' || user_id AS about
    FROM clicks WHERE click_id = ANY (${clickIds}::uuid[])`.execute(db)
  return rows
}

async function readRequests(db: Db, requestIds: string[]): Promise<Step[]> {
  const { rows } = await sql<Step>`
    SELECT to_timestamp(('x' || substr(replace(logged_id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0) AS at,
      'request' AS what, logged_id AS id, request_id, NULL AS conversion_id, method || ' ' || path || ': ' || status AS about
    FROM api_requests WHERE request_id = ANY (${requestIds}) LIMIT ${MOST}::integer`.execute(db)
  return rows
}

async function readCallbacks(db: Db, inboundIds: string[], clickIds: string[]): Promise<Step[]> {
  const columns = sql`received_at AS at, 'callback' AS what, inbound_id AS id, 'call_' || inbound_id AS request_id, conversion_id,
    outcome || coalesce(' (' || reason || ')', '') AS about`
  const { rows } = await sql<Step>`
    (SELECT ${columns} FROM inbound_calls WHERE inbound_id = ANY (${inboundIds}::uuid[]))
    UNION (SELECT ${columns} FROM inbound_calls WHERE click_id = ANY (${clickIds}) LIMIT ${MOST}::integer)`.execute(db)
  return rows
}

async function readAttempts(db: Db, events: { id: string; request_id: string | null; conversion_id: string | null }[]) {
  const { rows } = await sql<{ postback_id: string; at: Date; id: string; about: string }>`
    SELECT postback_id, started_at AS at, attempt_id AS id, 'attempt ' || attempt || ': ' || coalesce('HTTP ' || status, error, '') AS about
    FROM postback_attempts WHERE postback_id = ANY (${events.map(({ id }) => id)}::uuid[])
    ORDER BY started_at LIMIT ${MOST}::integer`.execute(db)
  const byId = new Map(events.map((event) => [event.id, event]))
  return rows.map(({ postback_id, at, about, id }): Step => {
    const { request_id = null, conversion_id = null } = byId.get(postback_id) ?? {}
    return { at, what: 'attempt', id, request_id, conversion_id, about: `postback ${postback_id}, ${about}` }
  })
}

async function readAudit(db: Db, requestIds: string[]): Promise<Step[]> {
  const { rows } = await sql<Step>`
    SELECT created_at AS at, 'audit' AS what, audit_id::text AS id, request_id, NULL AS conversion_id,
      action || ' of ' || subject || ' by ' || who AS about
    FROM audit_log WHERE request_id = ANY (${requestIds}) ORDER BY audit_id LIMIT ${MOST}::integer`.execute(db)
  return rows
}
