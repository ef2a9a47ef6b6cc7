// Logs that name the user: the history of conversions, attempts of postbacks, callbacks of advertisers, Idempotency-Keys
// and the log of API requests. They keep that something happened, when, and with what result.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import type { CallRules } from '../accounts/call-rules.ts'
import { redactCall } from '../conversions/inbound/redact-call.ts'
import type { AppUser } from './balances.ts'
import type { Job, Step } from './erasure-step.ts'
import { cutPath, isAbout, type LoggedRequest } from '../apps/request-mentions.ts'

const PAGE = 200
const LOG_PAGE = 2_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Returns how many rows there were. */
export async function eraseLogs(db: Db, step: Step, job: Job): Promise<number> {
  let found = await eraseKeys(db, step, job)
  found += await eraseRequests(db, step, job)
  for (const pseudonym of [job.pseudonym, ...job.more]) {
    const user = { ...job.user, userId: pseudonym }
    found += await eraseAboutConversions(db, step, user)
    found += await eraseAboutClicks(db, step, user)
  }
  return found
}

async function eraseAboutConversions(db: Db, step: Step, user: AppUser): Promise<number> {
  let [found, after] = [0, FIRST_ID]
  for (;;) {
    const { rows } = await sql<{ conversion_id: string; click_id: string | null }>`
      SELECT conversion_id, click_id FROM conversions
      WHERE app_id = ${user.appId} AND user_id = ${user.userId} AND is_test = ${user.isTest} AND conversion_id > ${after}::uuid
      ORDER BY app_id, user_id, conversion_id LIMIT ${sql.lit(PAGE)}`.execute(db)
    const ids = rows.map((row) => row.conversion_id)
    if (ids.length > 0) {
      found += await step('conversion events', (trx) => eraseEvents(trx, ids))
      found += await step('postback attempts', (trx) => eraseAttempts(trx, ids))
      found += await eraseCalls(step, rows.flatMap((row) => row.click_id ?? [])) // prettier-ignore
    }
    if (rows.length < PAGE) return found
    after = ids.at(-1) ?? after
  }
}

async function eraseAboutClicks(db: Db, step: Step, user: AppUser): Promise<number> {
  let [found, after] = [0, FIRST_ID]
  for (;;) {
    const { rows } = await sql<{ click_id: string }>`SELECT click_id FROM clicks
      WHERE app_id = ${user.appId} AND user_id = ${user.userId} AND is_test = ${user.isTest} AND click_id > ${after}::uuid
      ORDER BY app_id, user_id, click_id LIMIT ${sql.lit(PAGE)}`.execute(db)
    const ids = rows.map((row) => row.click_id)
    if (ids.length > 0) found += await eraseCalls(step, ids)
    if (rows.length < PAGE) return found
    after = ids.at(-1) ?? after
  }
}

async function eraseEvents(trx: Trx, conversionIds: string[]): Promise<number> {
  const changed =
    await sql`UPDATE conversion_events SET ip = NULL, aff_sub = NULL, aff_sub2 = NULL, aff_sub3 = NULL, aff_sub4 = NULL
    WHERE conversion_id = ANY (${conversionIds}::uuid[])
      AND (ip IS NOT NULL OR num_nonnulls(aff_sub, aff_sub2, aff_sub3, aff_sub4) > 0)`.execute(trx)
  return Number(changed.numAffectedRows ?? 0)
}

/** A postback has the ID of its event. */
async function eraseAttempts(trx: Trx, conversionIds: string[]): Promise<number> {
  const { rows } = await sql<{ event_id: string }>`
    SELECT event_id FROM conversion_events WHERE conversion_id = ANY (${conversionIds}::uuid[])`.execute(trx)
  const changed = await sql`UPDATE postback_attempts SET request = '', response = ''
    WHERE postback_id = ANY (${rows.map((row) => row.event_id)}::uuid[]) AND (request <> '' OR response <> '')`.execute(
    trx,
  )
  return Number(changed.numAffectedRows ?? 0)
}

type CallText = {
  inbound_id: string
  clickId: string
  query: string
  body: string
  ip: string | null
  aliases: Record<string, string[]>
  callRules: CallRules
}

/** In pages: an advertiser may repeat a callback that is invalid for days. */
async function eraseCalls(step: Step, clickIds: string[], after = FIRST_ID): Promise<number> {
  let rows: CallText[] = []
  const found = await step('callbacks', async (trx) => {
    rows = await readCalls(trx, clickIds, after)
    return redactCalls(trx, rows)
  })
  return rows.length < LOG_PAGE ? found : found + (await eraseCalls(step, clickIds, rows.at(-1)?.inbound_id))
}

async function readCalls(trx: Trx, clickIds: string[], after: string): Promise<CallText[]> {
  const { rows } = await sql<CallText>`
    SELECT c.inbound_id, c.click_id AS "clickId", c.query, c.body, host(c.ip) AS ip, coalesce(a.aliases, '{}') AS aliases, coalesce(a.call_rules, '{}') AS "callRules"
    FROM inbound_calls c LEFT JOIN advertisers a ON a.advertiser_id = c.advertiser_id
    WHERE c.click_id = ANY (${clickIds}::text[]) AND c.inbound_id > ${after}::uuid
    ORDER BY c.inbound_id LIMIT ${sql.lit(LOG_PAGE)}`.execute(trx)
  return rows
}

async function redactCalls(trx: Trx, calls: readonly CallText[]): Promise<number> {
  let changed = 0
  for (const call of calls) {
    const { query, body } = redactCall(call, call)
    if (query === call.query && body === call.body && call.ip === null) continue
    await sql`UPDATE inbound_calls SET query = ${query}, body = ${body}, ip = NULL
      WHERE inbound_id = ${call.inbound_id}::uuid`.execute(trx)
    changed++
  }
  return changed
}

/** A report that is repeated with its key is refused from then on: it names a user that the key was not used for. */
async function eraseKeys(db: Db, step: Step, { user, pseudonym }: Job): Promise<number> {
  const named = JSON.stringify([user.userId]).slice(0, -1) // how requestText begins
  const renamed = `${JSON.stringify([pseudonym]).slice(0, -1)},`
  let [found, after] = [0, '']
  for (;;) {
    const { rows } = await sql<{ key: string; is_named: boolean }>`
      SELECT key, is_test = ${user.isTest} AND starts_with(request, ${`${named},`}) AS is_named FROM idempotency_keys
      WHERE app_id = ${user.appId} AND key > ${after} ORDER BY app_id, key, is_test LIMIT ${sql.lit(LOG_PAGE)}`.execute(
      db,
    )
    const keys = rows.filter((row) => row.is_named).map((row) => row.key)
    if (keys.length > 0)
      found += await step('Idempotency-Keys', async (trx) => {
        const changed =
          await sql`UPDATE idempotency_keys SET request = ${renamed} || substr(request, ${named.length + 2}::integer)
          WHERE app_id = ${user.appId} AND is_test = ${user.isTest} AND key = ANY (${keys}::text[])
            AND starts_with(request, ${`${named},`})`.execute(trx)
        return Number(changed.numAffectedRows ?? 0)
      })
    if (rows.length < LOG_PAGE) return found
    after = rows.at(-1)?.key ?? after
  }
}

/** The log has a few days, and a few requests of an app a minute: all of it is looked through. */
export async function* readMentions(db: Db, user: AppUser): AsyncGenerator<LoggedRequest[]> {
  let after = FIRST_ID
  for (;;) {
    const { rows } = await sql<LoggedRequest>`SELECT logged_id, path, parameters, body FROM api_requests
      WHERE app_id = ${user.appId} AND is_test = ${user.isTest} AND logged_id > ${after}::uuid
      ORDER BY app_id, is_test, logged_id LIMIT ${sql.lit(LOG_PAGE)}`.execute(db)
    const found = rows.filter((row) => isAbout(row, user.userId))
    if (found.length > 0) yield found
    if (rows.length < LOG_PAGE) return
    after = rows.at(-1)?.logged_id ?? after
  }
}

export async function isLogged(db: Db, user: AppUser): Promise<boolean> {
  const { done } = await readMentions(db, user).next()
  return done !== true
}

async function eraseRequests(db: Db, step: Step, { user }: Job): Promise<number> {
  let found = 0
  for await (const rows of readMentions(db, user))
    found += await step('API requests', async (trx) => {
      const changed =
        await sql`UPDATE api_requests a SET path = n.path, parameters = '{}', body = NULL, error_message = NULL, error_details = NULL
        FROM unnest(${rows.map((row) => row.logged_id)}::uuid[], ${rows.map((row) => cutPath(row.path, user.userId))}::text[]) AS n (id, path)
        WHERE a.logged_id = n.id AND a.logged_id = ANY (${rows.map((row) => row.logged_id)}::uuid[])`.execute(trx)
      return Number(changed.numAffectedRows ?? 0)
    })
  return found
}
