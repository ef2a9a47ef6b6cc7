// What an erasure costs does not depend on how much there is of others: everything is found by index.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { requestErasure } from '../../src/features/users/erasures.ts'
import { exportUser } from '../../src/features/users/export.ts'
import { startExplained } from '../explain.ts'
import { TESTER } from '../tester.ts'
import { SECRET_KEY } from '../world.ts'
import { type Person, useStories, VAIN_KINDS } from './story.ts'

const { world, begin } = useStories('erasure_plans')
const MANY = 10_000
/** Copies of the first row of a table, each with another ID and of another user. */
async function multiply(table: string, id: string, more: Record<string, string> = {}): Promise<void> {
  const changed = { [id]: `overlay(gen_random_uuid()::text placing left(r.${id}::text, 14) from 1 for 14)`, ...more }
  const pairs = Object.entries(changed).map(([name, value]) => `'${name}', ${value}`)
  await world.database.pool.query(
    `INSERT INTO ${table} SELECT x.* FROM (SELECT * FROM ${table} LIMIT 1) r CROSS JOIN generate_series(1, ${MANY}) n
     CROSS JOIN LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(r) || jsonb_build_object('n', n, ${pairs.join(', ')})) AS x`,
  )
}

test('erasing and exporting a user reads no large table as a whole', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  for (const who of [1, 0])
    for (const what of ['click', 'confirm', 'ask', 'debit', 'report', 'ticket', 'ban', 'deliver', 'sum'] as const)
      await story.do({ what, who, n: 0 })
  await story.settle()
  const { pool } = world.database
  await multiply('clicks', 'click_id', { user_id: `'other-' || n` })
  await multiply('inbound_calls', 'inbound_id', { click_id: 'gen_random_uuid()' })
  await multiply('postback_attempts', 'attempt_id', { postback_id: 'gen_random_uuid()' })
  await multiply('postbacks', 'postback_id', { conversion_id: 'gen_random_uuid()', state: `'delivered'` })
  await multiply('user_contexts', 'user_id', { user_id: `'other-' || n` })
  await multiply('tickets', 'ticket_id', { user_id: `'other-' || n`, submit_key: 'gen_random_uuid()' })
  await multiply('idempotency_keys', 'key', { key: `'other-' || n`, app_id: '1000000 + n' })
  await multiply('api_requests', 'logged_id', { app_id: '1000000 + n' })
  await pool.query(`INSERT INTO audit_log (who, action, subject) SELECT 'x', 'user.ban', 'other-' || n FROM generate_series(1, ${MANY}) n`) // prettier-ignore
  // Subjects are IDs of all kinds.
  await pool.query(`INSERT INTO audit_log (who, action, subject) SELECT 'x', 'offer.pause', $1 FROM generate_series(1, ${MANY}) n`, [person.userId]) // prettier-ignore
  await pool.query(`INSERT INTO mails (kind, about, expires_at) SELECT 'ticket', gen_random_uuid()::text, now() FROM generate_series(1, ${MANY}) n`) // prettier-ignore
  await pool.query(`INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, key, created_at) SELECT ${story.appId}, false, 'other-' || n, 'debit', -1, 'other-' || n, now() FROM generate_series(1, ${MANY}) n`) // prettier-ignore
  await multiply('conversions', 'conversion_id', { user_id: `'other-' || n`, event_id: 'gen_random_uuid()', click_id: 'gen_random_uuid()', advertiser_transaction_id: `'other-' || n`, publisher_transaction_id: `'other-' || n`, status: `'approved'`, status_reason: 'NULL', approved_at: 'r.created_at', rejected_at: 'NULL', reversed_at: 'NULL', sequence: '1', hold_until: 'NULL' }) // prettier-ignore
  await pool.query(`DELETE FROM postback_queue WHERE app_id = $1`, [story.appId])
  await pool.query('ANALYZE')
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND reltuples >= ${MANY}`,
  )
  const large = new Set(rows.map(({ name }) => name))
  assert.ok(large.size >= 12, [...large].join())
  const explained = await startExplained(world)
  const run = async () => {
    const usual = world.app
    world.app = explained.app
    for (const kind of VAIN_KINDS) await story.confirmInVain(person, 0, kind)
    world.app = usual
    await Array.fromAsync(exportUser(explained.db, story.user(person), 'operator'))
    await requestErasure(explained.db, TESTER, SECRET_KEY, story.user(person), new Date())
    const now = Date.now()
    for (let pass = 0; pass < 3; pass++) await eraseUsers(explained.db, new Date(now + pass * (SETTLE_MS + 1)))
  }
  const statements = await explained.explain(run)
  await explained.close()
  const isLarge = (name = '') => large.has(name)
  const scans = statements.flatMap(
    ({ text, nodes }) =>
    nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' && isLarge(node['Relation Name']) && (node['Actual Loops'] ?? 1) > 0 ? [`${node['Relation Name']}: ${text}`] : [])), // prettier-ignore
  )
  assert.deepEqual(scans, [])
  for (const part of ['UPDATE conversions', 'AS k (txn)'])
    assert.ok(
      statements.some(({ text }) => text.includes(part)),
      part,
    )
  const removed = statements.flatMap(({ text, nodes }) => nodes.filter((node) => isLarge(node['Relation Name']) && (node['Rows Removed by Filter'] ?? 0) > 1_000).map(() => text)) // prettier-ignore
  assert.deepEqual(removed, [])
})
