// Which click a call names that was not read: one that is ignored, invalid or refused. The log keeps the click with the
// call, so that an export and the erasure of its user find it. Where that user was erased before, the log keeps what
// redact-call.ts leaves of the call.
//
// Such calls come in floods. One that is stored costs one statement more, by indexes, for the first few IDs that are in
// it; one beyond the limits (limits.ts) costs nothing, because it is not stored.
import { sql } from 'kysely'
import type { Db } from '../../../db/open.ts'
import { isUuid } from '../../../lib/uuid7.ts'
import { isPseudonym } from '../../apps/erased-users.ts'
import type { InboundCall } from './inbound-call.ts'
import { type Dialect, namesOf, parseCall, parseForm, type RawParameters } from './parameters.ts'
import { redactCall } from './redact-call.ts'

const MOST_IDS = 10
const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

export async function withNamedClick(db: Db, call: InboundCall, dialect: Dialect): Promise<InboundCall> {
  const raw = parseCall(call) ?? parseForm(call.query)
  const named = valuesOf(raw, 'click_id', dialect).map((id) => id.toLowerCase()).filter(isUuid) // prettier-ignore
  const found = await findClicks(db, call, idsIn(call, named, raw), transactionsIn(raw, dialect))
  const clickId = found.find((click) => click.clickId !== null)?.clickId ?? call.clickId ?? named[0] ?? null
  const kept = { ...call, clickId }
  return found.some(({ userId }) => isPseudonym(userId)) ? { ...kept, ...redactCall(kept, dialect) } : kept
}

const valuesOf = (raw: RawParameters, name: 'click_id' | 'txn_id', dialect: Dialect): string[] =>
  namesOf(name, dialect).flatMap((given) => raw.get(given) ?? []).map((value) => value.trim()) // prettier-ignore

/** Also under other names: the advertiser's own may not be mapped yet, and a text that is not JSON has none. */
function idsIn({ query, body, clickId }: InboundCall, named: string[], raw: RawParameters): string[] {
  const text = [...raw.values(), query, body].flat().join(' ').toLowerCase()
  const ids = new Set([clickId, ...named, ...(text.match(ID) ?? [])])
  return [...ids].filter((id) => id !== null).slice(0, MOST_IDS)
}

/** With and without the prefix of a reversal. PostgreSQL takes no NUL. */
function transactionsIn(raw: RawParameters, dialect: Dialect): string[] {
  const given = valuesOf(raw, 'txn_id', dialect).filter((value) => value !== '' && !value.includes('\0'))
  const { reversalPrefix: prefix } = dialect
  const reversed = given.filter((value) => value.startsWith(prefix)).map((value) => value.slice(prefix.length))
  return [...new Set([...given, ...reversed])].slice(0, MOST_IDS)
}

type FoundClick = { clickId: string | null; userId: string }

/** In the order of the IDs; then those of transactions. */
async function findClicks(db: Db, { advertiserId }: InboundCall, ids: string[], transactions: string[]) {
  const { rows } = await sql<FoundClick>`
    SELECT click_id AS "clickId", user_id AS "userId" FROM clicks WHERE click_id = ANY (${ids}::uuid[])
    UNION ALL SELECT c.click_id, c.user_id FROM unnest(${ids}::uuid[]) AS k (id)
      CROSS JOIN LATERAL (SELECT click_id, user_id FROM conversions WHERE click_id = k.id LIMIT 1) c
    UNION ALL SELECT c.click_id, c.user_id FROM unnest(${transactions}::text[]) AS k (txn) CROSS JOIN LATERAL (
      (SELECT click_id, user_id FROM conversions WHERE advertiser_id = ${advertiserId}::bigint
        AND advertiser_transaction_id = k.txn AND status <> 'rejected' LIMIT 1)
      UNION ALL (SELECT click_id, user_id FROM conversions WHERE advertiser_id = ${advertiserId}::bigint
        AND advertiser_transaction_id = k.txn AND status = 'rejected' LIMIT 1)) c`.execute(db)
  const place = ({ clickId }: FoundClick) => (clickId !== null && ids.includes(clickId) ? ids.indexOf(clickId) : ids.length) // prettier-ignore
  return rows.toSorted((a, b) => place(a) - place(b))
}
