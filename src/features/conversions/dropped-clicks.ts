// Finds what a confirmation is about when its click was dropped, or it names none. A conversion keeps everything its
// click knew: user, offer and terms.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { Command, Confirmation } from './commands.ts'
import { type ClickSnapshot, transactionKey } from './decision-context.ts'
import { userKey } from './conversion-index.ts'

/** A younger click may still be in a spool: until then its transaction does not identify it. */
const SPOOLED_MS = 72 * 3_600_000
const MAX_FOUND = 100

export type DroppedClicks = {
  /** Rebuilt from conversions; see `DecisionContext.clicks`. */
  clicks: Map<string, ClickSnapshot>
  ambiguous: Set<string>
  conversionIds: string[]
}

type Row = ClickSnapshot & { conversion_id: string; place: number }

export async function findDroppedClicks(
  db: Db,
  commands: readonly Command[],
  clicks: ReadonlyMap<string, ClickSnapshot>,
  now: Date,
): Promise<DroppedClicks> {
  const dropped: DroppedClicks = { clicks: new Map(), ambiguous: new Set(), conversionIds: [] }
  const unknown = commands.filter(
    (command): command is Confirmation =>
      command.kind === 'confirmation' && (command.clickId === null || !clicks.has(command.clickId)),
  )
  if (unknown.length === 0) return dropped
  const byClick = await findByClick(db, unknown)
  for (const row of byClick) {
    dropped.conversionIds.push(row.conversion_id)
    if (row.click_id !== null) dropped.clicks.set(row.click_id, row)
  }
  const oldest = uuid7Floor(now.getTime() - SPOOLED_MS)
  const byTransaction = unknown.filter(
    ({ clickId, transactionId }) =>
      transactionId !== null && (clickId === null || (clickId < oldest && !dropped.clicks.has(clickId))),
  )
  const rows = byTransaction.length === 0 ? [] : await findByTransaction(db, byTransaction)
  for (const [place, confirmation] of byTransaction.entries()) {
    const found = rows.filter((row) => row.place === place + 1)
    const [first] = found
    if (first === undefined) continue
    const isOne = found.every((row) => userKey(row) === userKey(first))
    if (isOne) dropped.clicks.set(transactionKey(confirmation), first)
    else dropped.ambiguous.add(transactionKey(confirmation))
    dropped.conversionIds.push(...found.map((row) => row.conversion_id))
  }
  return dropped
}

// Conversions recorded before terms were kept have none; the offer's own attribution window is used.
const AS_CLICK =
  sql.raw(`c.conversion_id, c.click_id, coalesce(c.click_at, c.created_at) AS clicked_at, c.app_id, c.is_test,
  c.user_id, c.offer_id, c.currency, c.rate_micros, c.share_ppm, c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4, host(c.ip) AS ip,
  c.country, c.device, NULL::text[] AS signals, coalesce(t.attribution_s, o.attribution_s) AS attribution_s, c.terms_id,
  coalesce(t.goals, '{}') AS terms`)
const JOINS = sql.raw('JOIN offers o ON o.offer_id = c.offer_id LEFT JOIN terms t ON t.terms_id = c.terms_id')

async function findByClick(db: Db, confirmations: readonly Confirmation[]): Promise<Row[]> {
  const ids = [...new Set(confirmations.flatMap(({ clickId }) => clickId ?? []))]
  if (ids.length === 0) return []
  const { rows } = await sql<Row>`/* commands-dropped-clicks */
    SELECT 0 AS place, ${AS_CLICK} FROM unnest(${ids}::uuid[]) AS k (click_id)
    CROSS JOIN LATERAL (SELECT * FROM conversions WHERE conversions.click_id = k.click_id LIMIT ${MAX_FOUND}::integer) c ${JOINS}
    ORDER BY c.terms_id NULLS FIRST`.execute(db)
  return rows
}

/** Rejected conversions count only where no other one has the transaction. */
async function findByTransaction(db: Db, confirmations: readonly Confirmation[]): Promise<Row[]> {
  const { rows } = await sql<Row & { status: string }>`/* commands-dropped-transactions */
    SELECT k.place, c.status, ${AS_CLICK} FROM unnest(${confirmations.map((one) => one.advertiserId)}::bigint[],
      ${confirmations.map((one) => one.transactionId)}::text[]) WITH ORDINALITY AS k (advertiser_id, txn, place)
    CROSS JOIN LATERAL (
      (SELECT * FROM conversions WHERE advertiser_id = k.advertiser_id AND advertiser_transaction_id = k.txn
        AND status <> 'rejected' LIMIT ${MAX_FOUND}::integer)
      UNION ALL
      (SELECT * FROM conversions WHERE advertiser_id = k.advertiser_id AND advertiser_transaction_id = k.txn
        AND status = 'rejected' LIMIT ${MAX_FOUND}::integer)
    ) c ${JOINS}
    ORDER BY c.conversion_id`.execute(db)
  const hasStanding = new Set(rows.filter((row) => row.status !== 'rejected').map((row) => row.place))
  return rows.filter((row) => row.status !== 'rejected' || !hasStanding.has(row.place))
}
