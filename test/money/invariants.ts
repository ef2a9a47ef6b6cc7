// What must be true of the database whatever was done, in whatever order.
import assert from 'node:assert/strict'
import { checkLedger } from '../../src/features/ledger/check.ts'
import { readBalances } from '../../src/features/ledger/ledger.ts'
import { dayNumber } from '../../src/features/offers/caps.ts'
import { Completions } from '../../src/features/offers/completions.ts'
import { type Book, type Entry, grouped, isStanding, type OfferUsage } from './book.ts'
import { type OfferTerms, PEOPLE, type Status } from './deeds.ts'
import type { Desk } from './desk.ts'

/** The conversions of a run as the database has them, in the words of the book. */
export async function readEntries(desk: Desk): Promise<Entry[]> {
  const rows = await desk.db
    .selectFrom('conversions')
    .selectAll()
    .where('app_id', 'in', desk.apps.map((app) => app.appId))
    .orderBy('conversion_id')
    .execute() // prettier-ignore
  const goals = new Map([...desk.goalIds].map(([name, id]) => [id, name.slice(name.indexOf(' ') + 1)]))
  const clicks = new Map([...desk.clickIds].map(([label, id]) => [id, label]))
  const entries = rows.map((row) => ({
    label: desk.labels.get(row.conversion_id) ?? -1,
    person: PEOPLE.findIndex(({ app, user }) => desk.appId(app) === row.app_id && user === row.user_id),
    offer: desk.offerIds.indexOf(row.offer_id),
    isTest: row.is_test,
    goal: goals.get(row.goal_id) ?? '',
    isRepeatable: row.is_repeatable,
    isFirstGoal: row.is_first_goal,
    isTold: row.told_at !== null,
    isOfBanned: row.signals.includes('banned_user'),
    barsRedo: row.bars_redo,
    confirmByMs: row.confirm_by?.getTime() ?? null,
    reversedAtMs: row.reversed_at?.getTime() ?? null,
    publisherTxn: row.publisher_transaction_id,
    advertiserTxn: row.advertiser_transaction_id,
    isConfirmed: row.confirmed_at !== null,
    holdUntilMs: row.hold_until?.getTime() ?? null,
    createdAtMs: row.created_at.getTime(),
    moves: row.sequence,
    payoutMicros: row.payout_micros,
    revenueMicros: row.revenue_micros,
    status: row.status as Status,
    reason: row.status_reason,
    actor: row.actor,
    source: row.source as Entry['source'],
    click: row.click_id === null ? null : (clicks.get(row.click_id) ?? -1),
  }))
  return grouped(entries)
}

/** The offers of a run as the database has them. */
export async function readOffers(desk: Desk): Promise<OfferTerms[]> {
  const rows = await desk.db.selectFrom('offers').selectAll().where('offer_id', 'in', desk.offerIds).orderBy('offer_id').execute() // prettier-ignore
  const goals = await desk.db
    .selectFrom('goals')
    .selectAll()
    .where('offer_id', 'in', desk.offerIds)
    .where('is_retired', '=', false)
    .orderBy('place')
    .execute()
  const keys = new Map([...desk.goalIds].map(([name, id]) => [id, name.slice(name.indexOf(' ') + 1)]))
  return rows.map((row) => ({
    status: row.status as OfferTerms['status'],
    attributionS: row.attribution_s,
    holdS: row.hold_s,
    overCap: row.over_cap as OfferTerms['overCap'],
    confirmWithinS: row.confirm_within_s,
    redo: row.redo_after_reversal,
    caps: {
      dailyClicks: row.daily_click_cap,
      totalClicks: row.total_click_cap,
      dailyConversions: row.daily_conversion_cap,
      totalConversions: row.total_conversion_cap,
      dailyPayoutMicros: row.daily_payout_cap_micros,
      totalPayoutMicros: row.total_payout_cap_micros,
    },
    goals: goals
      .filter((goal) => goal.offer_id === row.offer_id)
      .map((goal) => ({
        key: keys.get(goal.goal_id) ?? '',
        name: goal.name,
        payoutMicros: goal.payout_micros,
        revenueMicros: goal.revenue_micros,
        payoutPpm: goal.payout_ppm,
        revenuePpm: goal.revenue_ppm,
        isRepeatable: goal.is_repeatable,
      })),
  }))
}

/** What capped offers have used, and whether they are closed. The book counts anew each time. */
export async function readUsage(desk: Desk, now: Date): Promise<OfferUsage[]> {
  const { rows } = await desk.world.database.pool.query<Omit<OfferUsage, 'offer'> & { offer_id: number }>(
    `SELECT o.offer_id, coalesce(o.full_until > $2, false) AS "isFull", ${used('today')}, ${used('total')}
     FROM offers o
     LEFT JOIN offer_usage today ON today.offer_id = o.offer_id AND today.day = $3
     LEFT JOIN offer_usage total ON total.offer_id = o.offer_id AND total.day = 0
     WHERE o.offer_id = ANY ($1) AND o.is_capped ORDER BY o.offer_id`,
    [desk.offerIds, now, dayNumber(now)],
  )
  return rows.map(({ offer_id, ...usage }) => ({ offer: desk.offerIds.indexOf(offer_id), ...usage }))
}

const used = (row: string) =>
  `json_build_object('clicks', coalesce(${row}.clicks, 0), 'conversions', coalesce(${row}.conversions, 0),
    'payoutMicros', coalesce(${row}.payout_micros, 0)) AS ${row}`

/** Publishers have what their conversions say, advertisers owe what they say, and everything sums to zero. */
export async function checkMoney(desk: Desk, book: Book): Promise<void> {
  assert.deepEqual(await checkLedger(desk.world.database), [])
  const sum = (keep: (one: Entry) => boolean, of: 'payoutMicros' | 'revenueMicros') =>
    book.entries.filter((one) => !one.isTest && keep(one)).reduce((total, one) => total + one[of], 0)
  for (const [app, { publisherId }] of desk.apps.entries()) {
    const isTheirs = (one: Entry) => PEOPLE[one.person]?.app === app
    assert.deepEqual(await readBalances(desk.db, { publisherId }), {
      pendingMicros: sum((one) => isTheirs(one) && one.status === 'pending', 'payoutMicros'),
      payableMicros: sum((one) => isTheirs(one) && one.status === 'approved', 'payoutMicros'),
      paidMicros: 0,
    })
  }
  assert.deepEqual(await readBalances(desk.db, { advertiserId: desk.advertiserId }), {
    receivableMicros: sum((one) => isStanding(one) && one.isConfirmed, 'revenueMicros'),
    unconfirmedMicros: sum((one) => isStanding(one) && !one.isConfirmed, 'revenueMicros'),
  })
  const network = await readBalances(desk.db, 'network')
  assert.equal(
    network.receivableMicros + network.unconfirmedMicros + network.cashMicros,
    network.pendingMicros + network.payableMicros + network.marginMicros,
  )
}

const PATHS = ['pending', 'approved', 'rejected', 'pending approved', 'pending rejected', 'pending approved reversed', 'approved reversed'] // prettier-ignore

/** Every conversion has a legal past that ends in what it is, and each of its events one place in the feed, in order. */
export async function checkHistory(desk: Desk): Promise<void> {
  const { rows } = await desk.world.database.pool.query<{ path: string; numbers: string; is_last: boolean }>(
    `SELECT string_agg(e.status, ' ' ORDER BY p.place) AS path, string_agg(e.sequence::text, ' ' ORDER BY p.place) AS numbers,
       bool_or((e.event_id, e.sequence, e.status, e.actor) = (c.event_id, c.sequence, c.status, c.actor)
         AND e.status_reason IS NOT DISTINCT FROM c.status_reason) AS is_last
     FROM conversions c LEFT JOIN conversion_events e USING (conversion_id)
     LEFT JOIN (SELECT conversion_id, sequence, seq AS place FROM event_feed
       UNION ALL SELECT conversion_id, sequence, 1000000000000 + event_no FROM waiting_events) p
       ON (p.conversion_id, p.sequence) = (e.conversion_id, e.sequence)
     WHERE c.app_id = ANY ($1) GROUP BY c.conversion_id`,
    [desk.apps.map((app) => app.appId)],
  )
  for (const { path, numbers, is_last } of rows) {
    assert.ok(PATHS.includes(path), `No conversion goes this way: ${path}`)
    assert.equal(numbers, path.split(' ').map((_, i) => i + 1).join(' ')) // prettier-ignore
    assert.ok(is_last, `A conversion is not what its last event says: ${path}`)
  }
}

/** Nobody is paid twice for one thing. */
export async function checkOnce(desk: Desk): Promise<void> {
  const apps = desk.apps.map((app) => app.appId)
  const { rows } = await desk.world.database.pool.query(
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

/** The list hides exactly what would not be paid again: what stands, and what was taken back for good. */
export async function checkLists(desk: Desk, book: Book): Promise<void> {
  for (const [person, { app, user }] of PEOPLE.entries()) {
    const goals = await new Completions(desk.db).of({ appId: desk.appId(app), isTest: false, userId: user })
    const hidden = goals.map(({ goalId }) => goalId)
    const closed = book.entries.filter(
      (one) => one.person === person && !one.isTest && !one.isRepeatable && (isStanding(one) || one.barsRedo),
    )
    const expected = closed.map((one) => desk.goalIds.get(`${one.offer} ${one.goal}`) ?? 0)
    assert.deepEqual(new Set(hidden), new Set(expected))
  }
}

/** Only what was confirmed is held, and nothing is pending longer than it should be once the worker has looked. */
export async function checkHolds(desk: Desk, now: Date): Promise<void> {
  const { rows } = await desk.world.database.pool.query(
    `SELECT conversion_id FROM conversions WHERE app_id = ANY ($1)
       AND (hold_until IS NOT NULL AND confirmed_at IS NULL
         OR status = 'pending' AND (hold_until <= $2 OR confirm_by <= $2 OR told_at IS NULL AND confirm_by IS NULL))`,
    [desk.apps.map((app) => app.appId), now],
  )
  assert.deepEqual(rows, [])
}
