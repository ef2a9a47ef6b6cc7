// All that Offerdeck has about a user, table by table, in pages: however much it is, memory holds one page of it.
import { type RawBuilder, sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import type { AppUser } from './balances.ts'
import { readMentions } from './erase-logs.ts'
import { unlocksOf } from './erase-traces.ts'

const PAGE = 500
/** An image has up to 1 MB. */
const IMAGES_AT_ONCE = 1

/** operator: also what only operators may see, such as revenue, fraud signals and advertisers' callbacks. */
export type ExportFor = 'publisher' | 'operator'

export type ExportedRecord = { kind: string; [name: string]: unknown }

const OF_CONVERSION = `conversion_id, created_at, status, status_reason, source, offer_id, goal_id, publisher_transaction_id, payout_micros,
  currency, rate_micros, aff_sub, aff_sub2, aff_sub3, aff_sub4, click_id, click_at, host(ip) AS ip, country, device, hold_until,
  approved_at, rejected_at, reversed_at, locker_id`
const OF_EVENT = `conversion_id, sequence, created_at, status, status_reason, actor, publisher_transaction_id, payout_micros, aff_sub,
  aff_sub2, aff_sub3, aff_sub4, click_id, host(ip) AS ip, country, device`
const OF_CLICK = `click_id, clicked_at, offer_id, request_id, aff_sub, aff_sub2, aff_sub3, aff_sub4, host(ip) AS ip, country, device, os, locker_id`

/** Recorded in the audit log before the first line, without the user's ID: entries are kept for good. */
export async function beginExport(db: Db, by: Actor, { appId, isTest }: AppUser): Promise<void> {
  await inTransaction(db, async (trx) => {
    const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
    if (app === undefined) throw new NoSuch('app', appId)
    const details = { mode: isTest ? 'test' : 'live' }
    await recordAudit(trx, by, { action: 'user.export', subject: appId, publisherId: app.publisher_id, details })
  })
}

/** As lines of JSON. The first one says whose data it is, the last one how many records there were. */
export async function* exportLines(db: Db, user: AppUser, reader: ExportFor, now: Date): AsyncGenerator<string> {
  const { appId, isTest, userId } = user
  const mode = isTest ? 'test' : 'live'
  yield `${JSON.stringify({ kind: 'export', app_id: appId, mode, user_id: userId, exported_at: now })}\n`
  let count = 0
  for await (const record of exportUser(db, user, reader)) {
    count++
    yield `${JSON.stringify(record)}\n`
  }
  yield `${JSON.stringify({ kind: 'end', records: count })}\n`
}

export async function* exportUser(db: Db, user: AppUser, reader: ExportFor): AsyncGenerator<ExportedRecord> {
  const { appId, isTest, userId } = user
  const isOperator = reader === 'operator'
  const of = sql`app_id = ${appId} AND user_id = ${userId} AND is_test = ${isTest}`
  yield* rowsOf(
    db,
    'sub_ids',
    sql`SELECT aff_sub, aff_sub2, aff_sub3, aff_sub4, seen_at FROM user_contexts WHERE ${of}`,
  )
  for await (const clicks of pages(
    db,
    'click_id',
    (after) => sql`
    SELECT ${sql.raw(OF_CLICK)} ${sql.raw(isOperator ? ', signals' : '')} FROM clicks WHERE ${of} AND click_id > ${after}::uuid
    ORDER BY app_id, user_id, click_id LIMIT ${sql.lit(PAGE)}`,
  )) {
    yield* named('click', clicks)
    if (isOperator) yield* callsOf(db, clicks.map(({ click_id }) => String(click_id))) // prettier-ignore
  }
  for await (const conversions of pages(
    db,
    'conversion_id',
    (after) => sql`
    SELECT ${sql.raw(OF_CONVERSION)} ${sql.raw(isOperator ? ', signals, revenue_micros, advertiser_transaction_id' : '')}
    FROM conversions WHERE ${of} AND conversion_id > ${after}::uuid
    ORDER BY app_id, user_id, conversion_id LIMIT ${sql.lit(PAGE)}`,
  )) {
    yield* named('conversion', conversions)
    yield* aboutConversions(db, conversions)
    if (isOperator) yield* callsOf(db, await findDropped(db, conversions))
  }
  yield* rowsOf(db, 'balance', sql`SELECT user_balance(${appId}, ${userId}, ${isTest}) AS amount_steps WHERE EXISTS (SELECT FROM user_entries WHERE ${of})`) // prettier-ignore
  for await (const entries of pages(
    db,
    'entry_id',
    (after) => sql`
    SELECT entry_id, kind AS entry, amount_steps, conversion_id, key, note, created_at FROM user_entries
    WHERE ${of} AND entry_id > ${after}::bigint ORDER BY app_id, user_id, is_test, entry_id LIMIT ${sql.lit(PAGE)}`,
    '0',
  ))
    // prettier-ignore
    yield* named('balance_entry', entries)
  yield* ticketsOf(db, user)
  yield* rowsOf(db, 'unlock', sql`SELECT unlock_id, locker_id, unlocked_at, expires_at, opened_at FROM locker_unlocks WHERE ${unlocksOf(user)}`) // prettier-ignore
  yield* rowsOf(db, 'ban', sql`SELECT app_id, created_at ${sql.raw(isOperator ? ', reason' : '')} FROM banned_users
    WHERE user_id = ${userId} AND (app_id = ${appId} OR app_id IS NULL)`) // prettier-ignore
  for await (const requests of readMentions(db, user)) yield* named('api_request', requests)
}

type Row = Record<string, unknown>

const named = (kind: string, rows: readonly Row[]): ExportedRecord[] => rows.map((row) => ({ kind, ...row }))

async function* rowsOf(db: Db, kind: string, query: RawBuilder<unknown>): AsyncGenerator<ExportedRecord> {
  yield* named(kind, (await query.execute(db)).rows as Row[])
}

async function* pages(
  db: Db,
  id: string,
  query: (after: string) => RawBuilder<unknown>,
  first = '00000000-0000-0000-0000-000000000000',
  size = PAGE,
): AsyncGenerator<Row[]> {
  for (let after = first; ;) {
    const rows = (await query(after).execute(db)).rows as Row[]
    if (rows.length > 0) yield rows
    if (rows.length < size) return
    after = String(rows.at(-1)?.[id])
  }
}

/** The history of these conversions, and the postbacks about them with every attempt. */
async function* aboutConversions(db: Db, conversions: readonly Row[]): AsyncGenerator<ExportedRecord> {
  const ids = conversions.map(({ conversion_id }) => String(conversion_id))
  const { rows: events } = await sql<Row>`SELECT event_id, ${sql.raw(OF_EVENT)} FROM conversion_events
    WHERE conversion_id = ANY (${ids}::uuid[]) ORDER BY conversion_id, sequence`.execute(db)
  yield* named('conversion_event', events)
  const postbacks = events.map(({ event_id }) => String(event_id))
  yield* rowsOf(db, 'postback', sql`SELECT postback_id, conversion_id, sequence, status, state, attempts, created_at, settled_at, last_status, last_error
    FROM postbacks WHERE postback_id = ANY (${postbacks}::uuid[])`) // prettier-ignore
  yield* rowsOf(db, 'postback_attempt', sql`SELECT postback_id, attempt_id, started_at, ok, status, error, request, response
    FROM postback_attempts WHERE postback_id = ANY (${postbacks}::uuid[]) ORDER BY postback_id, attempt_id`) // prettier-ignore
}

async function* callsOf(db: Db, clickIds: string[]): AsyncGenerator<ExportedRecord> {
  for await (const calls of pages(
    db,
    'inbound_id',
    (after) => sql`
    SELECT inbound_id, received_at, method, query, body, host(ip) AS ip, click_id, outcome, conversion_id
    FROM inbound_calls WHERE click_id = ANY (${clickIds}::text[]) AND inbound_id > ${after}::uuid
    ORDER BY inbound_id LIMIT ${sql.lit(PAGE)}`,
  ))
    // prettier-ignore
    yield* named('callback', calls)
}

/** The clicks of these conversions that are not in the table of clicks any more. */
async function findDropped(db: Db, conversions: readonly Row[]): Promise<string[]> {
  const ids = [...new Set(conversions.flatMap(({ click_id }) => (click_id === null ? [] : String(click_id))))]
  const { rows } = await sql<{ click_id: string }>`
    SELECT click_id FROM clicks WHERE click_id = ANY (${ids}::uuid[])`.execute(db)
  const known = new Set(rows.map((row) => row.click_id))
  return ids.filter((id) => !known.has(id))
}

async function* ticketsOf(db: Db, { appId, isTest, userId }: AppUser): AsyncGenerator<ExportedRecord> {
  for await (const tickets of pages(
    db,
    'ticket_id',
    (after) => sql`
    SELECT ticket_id, kind AS about, offer_id, click_id, email, country, device, os, lang, status, created_at, updated_at FROM tickets
    WHERE app_id = ${appId} AND is_test = ${isTest} AND user_id = ${userId} AND ticket_id > ${after}::uuid
    ORDER BY ticket_id LIMIT ${sql.lit(PAGE)}`,
  )) {
    yield* named('ticket', tickets)
    const ids = tickets.map(({ ticket_id }) => String(ticket_id))
    yield* rowsOf(db, 'ticket_message', sql`SELECT ticket_id, message_id, author IS NULL AS is_of_user, text, created_at, emailed_to FROM ticket_messages
      WHERE ticket_id = ANY (${ids}::uuid[]) ORDER BY ticket_id, message_id`) // prettier-ignore
    for await (const images of pages(
      db,
      'message_id',
      (after) => sql`
      SELECT message_id, type, encode(content, 'base64') AS content FROM ticket_images JOIN ticket_messages USING (message_id)
      WHERE ticket_id = ANY (${ids}::uuid[]) AND message_id > ${after}::uuid ORDER BY message_id LIMIT ${sql.lit(IMAGES_AT_ONCE)}`,
      undefined,
      IMAGES_AT_ONCE,
    ))
      // prettier-ignore
      yield* named('ticket_image', images)
  }
}
