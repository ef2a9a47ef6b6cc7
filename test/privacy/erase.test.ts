// Random histories of users with all that Offerdeck keeps of them. Some are erased in the middle, and it goes on: late
// confirmations, chargebacks, repeated calls. In the end nothing of them is in any column of any table, and all money is
// where it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkLedger } from '../../src/features/ledger/check.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { listErasures, requestErasure, statusOf } from '../../src/features/users/erasures.ts'
import { HISTORIES } from '../tier.ts'
import { TESTER } from '../tester.ts'
import { findChanged, findTexts, readWhole } from '../whole-database.ts'
import { SECRET_KEY } from '../world.ts'
import { type Action, type Person, secretsOf, type Story, useStories, WHATS } from './story.ts'

const { world, begin } = useStories('privacy')

/** By processes, whatever happens. */
const WRITTEN_ANYWAY = ['erasure_moves', 'nodes', 'credential_uses']

/** All passes; nothing else changes by them. */
async function erase(story: Story, person: Person): Promise<void> {
  const { db, pool } = world.database
  await story.deliver()
  await story.settle()
  const totals = await readTotals(story.appId)
  const before = await readWhole(pool)
  const { rows: tickets } = await pool.query<{ ids: string[] }>('SELECT ARRAY[ticket_id, message_id]::text[] AS ids FROM tickets JOIN ticket_messages USING (ticket_id) WHERE user_id = $1', [person.userId]) // prettier-ignore
  const known = [...secretsOf(person), ...person.clicks.map(({ clickId }) => clickId), ...tickets.flatMap(({ ids }) => ids)] // prettier-ignore
  const asked = await requestErasure(db, TESTER, SECRET_KEY, story.user(person), new Date())
  if (asked === null) return // nothing was known
  assert.equal((await requestErasure(db, TESTER, SECRET_KEY, story.user(person), new Date()))?.isNew, false)
  const at = Date.now()
  await eraseUsers(db, new Date(at))
  for (let pass = 1; pass < 4; pass++) await eraseUsers(db, new Date(at + pass * (SETTLE_MS + 1_000)))
  const [erasure] = await listErasures(db, story.appId, undefined, 1)
  assert.equal(statusOf(erasure!), 'done', JSON.stringify(erasure))
  const after = await readWhole(pool)
  assert.deepEqual(findTexts(after, secretsOf(person)), [])
  const others = findChanged(before, after).filter(({ table, row }) => !WRITTEN_ANYWAY.includes(table) && !known.some((text) => row.includes(text) || row.includes(encodeURIComponent(text)))) // prettier-ignore
  assert.deepEqual(others, [])
  assert.deepEqual(await readTotals(story.appId), totals)
  assert.deepEqual(await checkLedger(world.database), [])
}

const readTotals = async (appId: number) => {
  const { rows } = await world.database.pool.query(
    `SELECT (SELECT jsonb_agg(b ORDER BY b.account, b.party_id) FROM ledger_balances b) AS ledger,
      (SELECT jsonb_object_agg(status, worth) FROM (SELECT status, jsonb_build_array(count(*), sum(payout_micros), sum(revenue_micros), count(DISTINCT user_id)) AS worth
        FROM conversions WHERE app_id = $1 GROUP BY status) c) AS conversions,
      (SELECT count(*) FROM clicks WHERE app_id = $1) AS clicks,
      (SELECT sum(amount_steps) FROM user_entries WHERE app_id = $1) AS entries,
      (SELECT sum(amount_steps) FROM user_balances WHERE app_id = $1) AS balances`,
    [appId],
  )
  return rows[0] as Record<string, unknown>
}

const action = (who: fc.Arbitrary<number>): fc.Arbitrary<Action> =>
  fc.record({
    what: fc.oneof({ arbitrary: fc.constant('click' as const), weight: 4 }, { arbitrary: fc.constantFrom(...WHATS), weight: 12 }), // prettier-ignore
    who,
    n: fc.nat(5),
  })
const everybody = fc.nat(3)

test('whatever happened, an erased user is nowhere, all money stays, and nobody else notices', async () => {
  const history = fc.record({
    before: fc.array(action(everybody), { minLength: 30, maxLength: 50 }),
    between: fc.array(action(everybody), { minLength: 5, maxLength: 20 }),
    after: fc.array(action(fc.constantFrom(2, 3)), { minLength: 5, maxLength: 15 }),
    late: fc.array(fc.record({ who: fc.nat(1), n: fc.nat(5), what: fc.constantFrom('confirm', 'reverse', 'transaction', 'vain') }), { minLength: 5, maxLength: 15 }), // prettier-ignore
  })
  await fc.assert(
    fc.asyncProperty(history, async ({ before, between, after: later, late }) => {
      const story = await begin()
      const [first, second] = story.people as [Person, Person]
      for (const one of before) await story.do(one)
      await erase(story, first)
      // The first user does nothing any more; calls about old clicks still come.
      for (const one of between)
        if (one.who !== 0 || ['confirm', 'goal', 'reverse', 'transaction', 'vain', 'deliver', 'sum'].includes(one.what))
          await story.do(one)
      await erase(story, second)
      for (const one of late) await story.do(one)
      for (const one of later) await story.do(one)
      await story.deliver()
      await story.sumUp()
      await story.settle()
      const whole = await readWhole(world.database.pool)
      for (const person of [first, second]) assert.deepEqual(findTexts(whole, secretsOf(person)), [])
      assert.deepEqual(await checkLedger(world.database), [])
      // Nothing is paid twice, also not to two pseudonyms: a click has each goal once.
      const { rows } = await world.database.pool.query(
        `SELECT click_id, goal_id FROM conversions WHERE app_id = $1 AND click_id IS NOT NULL AND status <> 'rejected'
         GROUP BY 1, 2 HAVING count(*) > 1`,
        [story.appId],
      )
      assert.deepEqual(rows, [])
    }),
    { numRuns: 3 * HISTORIES, endOnFailure: true },
  )
})
