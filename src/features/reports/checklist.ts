// How far an app's integration has come, judged by what really happened.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

export const STEPS = ['keys', 'request', 'postback', 'test', 'conversion'] as const
export type Step = (typeof STEPS)[number]

/** Audit actions that show the actor a secret. */
export const SECRET_SHOWN = ['app.create', 'app.rotate_secret']

/** An app that has had no postback arrive by then is looked at no further: this is asked every second. */
const FIRST_POSTBACKS = 1_000

type Times = Record<Step, Date | null>
type LastTest = { state: string; error: string | null }
type Row = Times & { last_test: LastTest | null; example_offer_id: number | null; first_conversion_id: string | null }

export async function readChecklist(db: Db, { appId, publisherId }: { appId: number; publisherId: number }) {
  const { rows } = await sql<Row>`
    SELECT
      least(used.at, (
        SELECT min(a.created_at) FROM audit_log a JOIN people p ON p.id = a.person_id AND p.publisher_id = ${publisherId}
        WHERE a.action = ANY (${SECRET_SHOWN}) AND a.subject = ${String(appId)}
      )) AS keys,
      used.at AS request,
      (SELECT updated_at FROM postback_settings WHERE app_id = ${appId}) AS postback,
      coalesce((
        SELECT min(settled_at) FROM postbacks
        WHERE app_id = ${appId} AND test_id IS NOT NULL AND state = 'delivered' AND scenario <> 'wrong_signature'
      ), (
        SELECT min(settled_at) FROM (
          SELECT settled_at, state FROM postbacks WHERE app_id = ${appId} AND NOT is_test
          ORDER BY postback_id LIMIT ${FIRST_POSTBACKS}
        ) AS first_ones WHERE state = 'delivered'
      )) AS test,
      first.created_at AS conversion,
      first.conversion_id AS first_conversion_id,
      (
        SELECT json_build_object('state', state, 'error', last_error) FROM postbacks
        WHERE app_id = ${appId} AND test_id IS NOT NULL AND scenario <> 'wrong_signature' ORDER BY postback_id DESC LIMIT 1
      ) AS last_test,
      (
        SELECT offer_id FROM offers
        WHERE status = 'active' AND (starts_at IS NULL OR starts_at <= now()) AND (ends_at IS NULL OR ends_at > now())
        ORDER BY offer_id LIMIT 1
      ) AS example_offer_id
    FROM (
      SELECT min(first_used_at) AS at FROM credential_uses JOIN credentials USING (api_key) WHERE app_id = ${appId}
    ) AS used
    LEFT JOIN LATERAL (
      (SELECT conversion_id, created_at FROM conversions WHERE app_id = ${appId} AND NOT is_test ORDER BY conversion_id LIMIT 1)
      UNION ALL
      (SELECT conversion_id, created_at FROM conversions WHERE app_id = ${appId} AND is_test ORDER BY conversion_id LIMIT 1)
      ORDER BY conversion_id LIMIT 1
    ) AS first ON true`.execute(db)
  const { last_test, example_offer_id, first_conversion_id, ...times } = rows[0] as Row
  const steps = STEPS.map((step) => ({ step, done_at: times[step] }))
  const is_complete = steps.every(({ done_at }) => done_at !== null)
  return { is_complete, steps, last_test, example_offer_id, first_conversion_id }
}
