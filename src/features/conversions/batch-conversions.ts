// Selects the conversions that a batch may refer to, by the lists of load-context.ts: its users with a history (h), their
// offers (s) and the transactions it names (t).
//
// `IS NOT NULL` beside `= ANY`: an array may be empty, so the planner would not use a partial index that excludes null.
// `OFFSET 0`: otherwise the planner reads all conversions of the user, expecting few.
import { type RawBuilder, sql } from 'kysely'
import { conversionColumns } from './conversions.ts'
import type { Batch } from './prepare-batch.ts'

// Limits for extreme cases, so that they do not slow down everything else.
const MAX_UNDONE = 50
const MAX_ADOPTABLE = 200

const CONVERSION = conversionColumns('c')

/** Of what pays once, everything that matters; of what repeats, only what the named transactions may be about. */
const OF_USERS = sql`SELECT c.* FROM (SELECT DISTINCT app_id, user_id, offer_id FROM h) k CROSS JOIN LATERAL (
    SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
      AND c.status IN ('pending', 'approved') AND NOT c.is_repeatable) once
    UNION ALL
    SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
      AND c.status IN ('rejected', 'reversed') AND NOT c.is_repeatable
      ORDER BY c.app_id DESC, c.user_id DESC, c.offer_id DESC, c.conversion_id DESC LIMIT ${MAX_UNDONE}::integer) undone
    UNION ALL
    SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
      AND c.bars_redo ORDER BY c.app_id, c.user_id, c.offer_id, c.conversion_id LIMIT ${MAX_UNDONE}::integer) over
    UNION ALL
    SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
      AND c.status = 'rejected' AND c.is_repeatable
      AND c.publisher_transaction_id IS NOT NULL AND c.publisher_transaction_id = ANY ((SELECT ids FROM t)::text[])
      ORDER BY c.app_id, c.user_id, c.offer_id, c.publisher_transaction_id, c.conversion_id LIMIT ${MAX_UNDONE}::integer) refused_report
    UNION ALL
    SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
      AND c.status = 'rejected' AND c.is_repeatable
      AND c.advertiser_transaction_id IS NOT NULL AND c.advertiser_transaction_id = ANY ((SELECT ids FROM t)::text[])
      ORDER BY c.app_id, c.user_id, c.offer_id, c.advertiser_transaction_id, c.conversion_id LIMIT ${MAX_UNDONE}::integer) refused
    UNION ALL
    SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
      AND c.status <> 'rejected' AND c.is_repeatable
      AND c.publisher_transaction_id IS NOT NULL AND c.publisher_transaction_id = ANY ((SELECT ids FROM t)::text[])
      ORDER BY c.app_id, c.user_id, c.offer_id, c.goal_id, c.is_test, c.publisher_transaction_id) reported
    UNION ALL
    SELECT * FROM (SELECT * FROM conversions c WHERE c.advertiser_id = (SELECT advertiser_id FROM offers o WHERE o.offer_id = k.offer_id)
      AND c.advertiser_transaction_id IS NOT NULL AND c.advertiser_transaction_id = ANY ((SELECT ids FROM t)::text[])
      AND c.offer_id = k.offer_id AND c.status <> 'rejected'
      ORDER BY c.advertiser_id, c.advertiser_transaction_id, c.offer_id, c.goal_id, c.is_test OFFSET 0) confirmed
      WHERE confirmed.app_id = k.app_id AND confirmed.user_id = k.user_id AND confirmed.is_repeatable) c`

/**
 * Of what repeats, what waits for the word of one side, by goal and mode, since many of one must not hide another. Most
 * users have nothing that waits: for them, no goal is looked at. `LIMIT 1` instead of `EXISTS`, for which the planner might
 * read what waits of all users.
 */
const waitingFor = (transaction: 'publisher_transaction_id' | 'advertiser_transaction_id') => {
  const waits = sql`c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
    AND c.status IN ('pending', 'approved') AND c.is_repeatable AND c.${sql.raw(transaction)} IS NULL`
  return sql`SELECT c.* FROM (SELECT DISTINCT app_id, user_id, offer_id, is_test FROM h) k
    CROSS JOIN LATERAL (SELECT FROM conversions c WHERE ${waits}
      ORDER BY c.app_id, c.user_id, c.offer_id, c.goal_id, c.is_test, c.conversion_id LIMIT 1) one
    JOIN goals g ON g.offer_id = k.offer_id
    CROSS JOIN LATERAL (SELECT * FROM conversions c WHERE ${waits} AND c.goal_id = g.goal_id AND c.is_test = k.is_test
      ORDER BY c.app_id, c.user_id, c.offer_id, c.goal_id, c.is_test, c.conversion_id LIMIT ${MAX_ADOPTABLE}::integer) c`
}

export function batchConversions({ commands, dropped }: Batch): RawBuilder<unknown> {
  const confirmations = commands.filter((command) => command.kind === 'confirmation')
  const named = commands.flatMap((command) => ('conversionId' in command ? [command.conversionId] : []))
  const ids = [...named, ...dropped.conversionIds]
  return sql`SELECT ${CONVERSION} FROM (
    ${OF_USERS}
    UNION ALL
    ${waitingFor('publisher_transaction_id')}
    UNION ALL
    ${waitingFor('advertiser_transaction_id')}
    UNION ALL
    SELECT c.* FROM (SELECT DISTINCT * FROM unnest(${confirmations.map((one) => one.advertiserId)}::bigint[],
        ${confirmations.map((one) => one.transactionId)}::text[]) AS k (advertiser_id, txn)) k
      CROSS JOIN LATERAL (SELECT * FROM conversions c WHERE c.advertiser_id = k.advertiser_id AND c.advertiser_transaction_id = k.txn
        AND c.status <> 'rejected' AND c.offer_id IN (SELECT offer_id FROM s)
        ORDER BY c.advertiser_id, c.advertiser_transaction_id, c.offer_id, c.goal_id, c.is_test) c
    UNION ALL
    SELECT c.* FROM conversions c WHERE c.conversion_id = ANY (${ids}::uuid[])) c`
}
