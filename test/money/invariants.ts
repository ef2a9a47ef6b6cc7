// What must be true of the database whatever was done, in whatever order.
import assert from 'node:assert/strict'
import { findConversion } from '../../src/features/conversions/conversions.ts'
import { readEntries } from '../../src/features/conversions/history.ts'
import { readBalances } from '../../src/features/ledger/ledger.ts'
import { Completions } from '../../src/features/offers/completions.ts'
import type { Book } from './book.ts'
import { isStanding } from './entries.ts'
import { PEOPLE, TOLD_APP } from './actions.ts'
import { lockerOf } from './click-rows.ts'
import { promisedRewards, rewardOf } from './sale.ts'
import type { System } from './system.ts'

/** Balances are what conversions say. Their entries were summed after every step; this is how the program sums them. */
export async function checkMoney(system: System, book: Book): Promise<void> {
  const { pending, payable, receivable, unconfirmed } = book.money()
  for (const [app, { publisherId }] of system.apps.entries())
    assert.deepEqual(await readBalances(system.db, { publisherId }), {
      pendingMicros: pending[app],
      payableMicros: payable[app],
      paidMicros: 0,
    })
  assert.deepEqual(await readBalances(system.db, { advertiserId: system.advertiserId }), {
    receivableMicros: receivable,
    unconfirmedMicros: unconfirmed,
  })
}

/** A user has what the approved conversions are worth, whatever was approved and reversed before. */
export async function checkBalances(system: System, book: Book): Promise<void> {
  const users = PEOPLE.flatMap(({ app }, person) => [false, true].map((isTest) => ({ app, person, isTest })))
  const expected = users.map(({ person, isTest }) => {
    const approved = book.entries.filter(
      (one) => one.person === person && one.isTest === isTest && one.status === 'approved',
    )
    const rewards = approved.map((one) => rewardOf(person, one.payoutMicros, book.promises[one.label]?.atMs ?? 0))
    return rewards.reduce((sum, one) => sum + one, 0)
  })
  // By the function that `readBalance` calls, for all of them at once.
  const { rows } = await system.database.pool.query<{ steps: number }>(
    `SELECT user_balance(app_id, user_id, is_test) AS steps
     FROM unnest($1::bigint[], $2::text[], $3::boolean[]) WITH ORDINALITY AS u (app_id, user_id, is_test, place) ORDER BY place`,
    [users.map(({ app }) => system.appId(app)), users.map(({ person }) => system.userId(person)), users.map(({ isTest }) => isTest)], // prettier-ignore
  )
  assert.deepEqual(rows.map(({ steps }) => steps), expected) // prettier-ignore
}

/** Every conversion has the rate, rounding and sale of its promise, and the locker of its click. */
export async function checkRewards(system: System, book: Book): Promise<void> {
  const conversions = await system.db
    .selectFrom('conversions')
    .select(['conversion_id', 'rate_micros', 'rounding', 'multiplier_ppm', 'click_id', 'locker_id'])
    .where((is) => is('app_id', '=', is.fn.any(is.val(system.apps.map((app) => app.appId)))))
    .execute()
  for (const { conversion_id, click_id, locker_id, ...worth } of conversions) {
    assert.equal(locker_id, click_id === null ? null : lockerOf(click_id))
    const { label, person } = book.find(system.labels.get(conversion_id) ?? -1)
    assert.deepEqual(worth, promisedRewards(person, book.promises[label]?.atMs ?? 0))
  }
}

const PATHS = ['pending', 'approved', 'rejected', 'pending approved', 'pending rejected', 'pending approved reversed', 'approved reversed'] // prettier-ignore

/**
 * Every conversion has a legal past that ends in what it is, and each of its events one place in the feed, in order. Only
 * moves have events: what is still pending may be held since, with its reason.
 */
export async function checkHistory(system: System): Promise<void> {
  const { rows } = await system.database.pool.query<{ path: string; numbers: string; is_last: boolean }>(
    `SELECT string_agg(e.status, ' ' ORDER BY p.place) AS path, string_agg(e.sequence::text, ' ' ORDER BY p.place) AS numbers,
       bool_or((e.event_id, e.sequence, e.status, e.actor) = (c.event_id, c.sequence, c.status, c.actor)
         AND (e.status_reason IS NOT DISTINCT FROM c.status_reason OR c.status = 'pending')) AS is_last
     FROM conversions c LEFT JOIN conversion_events e USING (conversion_id)
     LEFT JOIN (SELECT conversion_id, sequence, seq AS place FROM event_feed
       UNION ALL SELECT conversion_id, sequence, 1000000000000 + event_no FROM waiting_events) p
       ON (p.conversion_id, p.sequence) = (e.conversion_id, e.sequence)
     WHERE c.app_id = ANY ($1) GROUP BY c.conversion_id`,
    [system.apps.map((app) => app.appId)],
  )
  for (const { path, numbers, is_last } of rows) {
    assert.ok(PATHS.includes(path), `No conversion goes this way: ${path}`)
    assert.equal(numbers, path.split(' ').map((_, i) => i + 1).join(' ')) // prettier-ignore
    assert.ok(is_last, `A conversion is not what its last event says: ${path}`)
  }
}

/** Nothing is paid twice. */
export async function checkOnce(system: System): Promise<void> {
  const apps = system.apps.map((app) => app.appId)
  const { rows } = await system.database.pool.query(
    `SELECT 'of a user' AS twice, count(*) FROM conversions c
     WHERE c.app_id = ANY ($1) AND c.status IN ('pending', 'approved') AND NOT c.is_repeatable
     GROUP BY c.app_id, c.user_id, c.offer_id, c.goal_id, c.is_test HAVING count(*) > 1
     UNION ALL
     SELECT 'of a transaction', count(*) FROM conversions
     WHERE app_id = ANY ($1) AND status <> 'rejected' AND advertiser_transaction_id IS NOT NULL
     GROUP BY advertiser_id, offer_id, goal_id, is_test, advertiser_transaction_id HAVING count(*) > 1`,
    [apps],
  )
  assert.deepEqual(rows, [])
}

/** Each event of an app that wants postbacks has one, and is queued to be sent. */
export async function checkPostbacks(system: System): Promise<void> {
  const { rows } = await system.database.pool.query(
    `SELECT e.event_id, p.status AS postback, q.postback_id IS NOT NULL AS is_queued
     FROM conversion_events e FULL JOIN postbacks p ON p.postback_id = e.event_id LEFT JOIN postback_queue q USING (postback_id)
     WHERE coalesce(e.app_id, p.app_id) = $1 AND (p.status IS DISTINCT FROM e.status OR q.postback_id IS NULL)`,
    [system.appId(TOLD_APP)],
  )
  assert.deepEqual(rows, [])
}

/** What is shown of a conversion's postings is all of them. */
export async function checkShownEntries(system: System): Promise<void> {
  const { rows } = await system.database.pool.query<{ conversion_id: string; entries: number[] }>(
    `SELECT conversion_id, json_agg(entry_id ORDER BY entry_id) AS entries FROM ledger_entries
     WHERE conversion_id IN (SELECT conversion_id FROM conversions WHERE app_id = ANY ($1)) GROUP BY 1`,
    [system.apps.map((app) => app.appId)],
  )
  for (const { conversion_id, entries } of rows) {
    const conversion = await findConversion(system.db, conversion_id, null)
    assert.ok(conversion)
    const shown = await readEntries(system.db, conversion)
    assert.deepEqual(shown.map((entry) => entry.entry_id), entries) // prettier-ignore
  }
}

/** The list hides exactly what would not be paid again: what stands, and what was reversed for good. */
export async function checkLists(system: System, book: Book): Promise<void> {
  const expected = PEOPLE.map((_, person) => {
    const closed = book.entries.filter(
      (one) => one.person === person && !one.isTest && !one.isRepeatable && (isStanding(one) || one.barsRedo),
    )
    return new Set(closed.map((one) => system.goalIds.get(`${one.offer} ${one.goal}`) ?? 0))
  })
  // A list hides nothing while the database is slow, so nothing is looked at again where something should be hidden.
  let hidden = await readHidden(system)
  for (let looks = 1; looks <= MOST_LOOKS && hidden.some((one, i) => one.size === 0 && expected[i]?.size); looks++)
    hidden = await readHidden(system)
  assert.deepEqual(hidden, expected)
}
const MOST_LOOKS = 20

/** Of each person. Asked at once, they are read by one statement. */
function readHidden(system: System): Promise<Set<number>[]> {
  const completions = new Completions(system.db)
  const hiddenFrom = async (appId: number, userId: string) =>
    new Set((await completions.of({ appId, isTest: false, userId })).map(({ goalId }) => goalId))
  return Promise.all(PEOPLE.map(({ app }, person) => hiddenFrom(system.appId(app), system.userId(person))))
}

/** Only what was confirmed is held, and nothing is pending longer than it should be once the worker has looked. */
export async function checkHolds(system: System, now: Date): Promise<void> {
  const { rows } = await system.database.pool.query(
    `SELECT conversion_id FROM conversions WHERE app_id = ANY ($1)
       AND (hold_until IS NOT NULL AND confirmed_at IS NULL
         OR status = 'pending' AND (hold_until <= $2 OR confirm_by <= $2 OR told_at IS NULL AND confirm_by IS NULL))`,
    [system.apps.map((app) => app.appId), now],
  )
  assert.deepEqual(rows, [])
}
