// What calls can leave behind, however many come: of strangers, and of an advertiser whose system has gone wrong.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { useWorld } from '../../../../test/world.ts'
import { ensurePartitions } from '../../../db/partitions.ts'
import { withChecksum } from '../../../lib/tokens.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { readOperatorCounts } from '../../reports/operator-counts.ts'
import { forgetStrangersCalls } from './calls.ts'
import { trimOpenCalls } from './open-calls.ts'

let live: IssuedCredentials
const world = useWorld('postback_bounds', async () => {
  live = (await world.createApp()).live
})

const DAY_MS = 86_400_000
let users = 0

async function newClick(record: Record<string, unknown> = {}) {
  const [offerId = 0] = await world.createOffers(record)
  const { clickId } = await world.click(offerId, live, `userId=u${users++}`)
  const { advertiser_id: advertiserId } = await world.database.db
    .selectFrom('offers')
    .select('advertiser_id')
    .where('offer_id', '=', offerId)
    .executeTakeFirstOrThrow()
  return { offerId, clickId, advertiserId, token: world.tokenOf(offerId) }
}

async function call(query: string, remoteAddress = '127.0.0.1') {
  const answer = await world.app.server.inject({ url: `/postback?${query}`, remoteAddress })
  return { status: answer.statusCode, ...answer.json<{ outcome: string; reason: string | null; message: string }>() }
}

async function count(condition: string, values: unknown[] = []): Promise<number> {
  const { rows } = await world.database.pool.query<{ count: number }>(
    `SELECT count(*) FROM inbound_calls WHERE ${condition}`,
    values,
  )
  return rows[0]?.count ?? 0
}

test('unknown callers from many IP addresses leave sixty short lines a minute, all together', async () => {
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, i) => call(`token=wrong&probe=${'x'.repeat(2_000)}`, `198.51.100.${i}`)),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401])
  assert.equal(await count("query LIKE 'token=%&probe=x%'"), 60)
  assert.equal(await count("query LIKE 'token=%&probe=x%' AND (length(query) > 520 OR NOT is_cut)"), 0)
})

test('a flood of well-formed but unknown tokens takes few connections, and valid calls pass', async () => {
  const { clickId, token } = await newClick()
  let taken = 0
  const onAcquire = () => taken++
  world.database.pool.on('acquire', onAcquire)
  const flood = Array.from({ length: 400 }, (_, i) =>
    call(`token=${withChecksum(`adv_${String(i).padStart(43, '0')}`)}`, '203.0.113.50'),
  )
  const good = call(`token=${token}&click_id=${clickId}`, '203.0.113.50')
  assert.equal((await good).outcome, 'approved')
  await Promise.all(flood)
  world.database.pool.off('acquire', onAcquire)
  assert.ok(taken < 200, `${taken} connections were taken for 400 calls`)
})

test('of calls that cannot be processed 600 kB a minute are kept; then 429, but good ones go on', async () => {
  for (const [nonsense, expected] of [
    ['status=nonsense', /is not supported/],
    ['goal=nonsense', /no such goal/],
  ] as const) {
    const { clickId, token, advertiserId } = await newClick()
    const send = (note = 'x'.repeat(7_900)) => call(`token=${token}&click_id=${clickId}&${nonsense}&note=${note}`)
    assert.match((await send()).message, expected)
    const statuses = new Set<number>()
    for (let i = 0; i < 80; i++) statuses.add((await send()).status)
    assert.deepEqual([...statuses], [400, 429], nonsense)
    const last = await send()
    assert.deepEqual([last.status, last.outcome, last.reason], [429, 'refused', 'too_many'])
    const kept = await count('advertiser_id = $1', [advertiserId])
    assert.ok(kept > 70 && kept <= 76, `${nonsense}: ${kept} kept`)
    assert.equal((await call(`token=${token}&click_id=${clickId}`)).outcome, 'approved')
    assert.equal(await count("advertiser_id = $1 AND outcome = 'approved'", [advertiserId]), 1)
  }
})

test('calls that change nothing about a click are kept twenty times, then counted on the last of those', async () => {
  const { clickId, token, advertiserId } = await newClick()
  const query = `token=${token}&click_id=${clickId}`
  assert.equal((await call(query)).outcome, 'approved')
  for (let i = 0; i < 50; i++) {
    const reply = await call(`${query}&txn_id=t${i}&note=${i}`)
    assert.deepEqual([reply.status, reply.outcome], [200, 'duplicate'])
  }
  assert.equal(await count('advertiser_id = $1', [advertiserId]), 21)
  const { rows } = await world.database.pool.query(
    'SELECT query, repeats FROM inbound_calls WHERE advertiser_id = $1 AND (repeats IS NOT NULL OR repeated_at IS NOT NULL)',
    [advertiserId],
  )
  assert.deepEqual(rows, [{ query: `token=********&click_id=${clickId}&txn_id=t19&note=19`, repeats: 30 }])
  assert.equal((await call(`${query}&status=reversed`)).outcome, 'reversed')
  assert.equal(await count("advertiser_id = $1 AND outcome = 'reversed'", [advertiserId]), 1, 'what changes something is kept') // prettier-ignore
})

test('ten thousand calls of an advertiser may wait for their clicks; one more is not acknowledged', async () => {
  const { token, advertiserId, clickId } = await newClick()
  await world.database.pool.query(
    `INSERT INTO open_calls (inbound_id, advertiser_id, click_id, outcome, next_attempt_at)
     SELECT uuidv7(), $1, uuidv7(), 'unmatched', now() + interval '1 hour' FROM generate_series(1, 10000)`,
    [advertiserId],
  )
  const early = () => call(`token=${token}&click_id=${uuid7(Date.now())}`)
  const first = await early() // counts those that wait
  const next = await early()
  assert.deepEqual([first.status, next.status, next.reason], [202, 429, 'too_many'])
  assert.equal(await count('advertiser_id = $1', [advertiserId]), 1)
  assert.equal((await call(`token=${token}&click_id=${clickId}`)).outcome, 'approved', 'a click that is there')
})

test('an advertiser whose list of open calls fills up shows before the oldest leave it', async () => {
  const { db, pool } = world.database
  const { advertiserId } = await newClick()
  const open = (some: number) =>
    pool.query(
      `INSERT INTO open_calls (inbound_id, advertiser_id, outcome) SELECT uuidv7(), $1, 'invalid' FROM generate_series(1, $2::integer)`,
      [advertiserId, some],
    )
  const { crowdedAdvertisers: before } = await readOperatorCounts(db)
  await open(7_999)
  assert.equal((await readOperatorCounts(db)).crowdedAdvertisers, before)
  await open(1)
  assert.equal((await readOperatorCounts(db)).crowdedAdvertisers, before + 1)
  await open(2_010)
  const warnings: string[] = []
  for (let i = 0; i < 2; i++) await trimOpenCalls(db, (message) => warnings.push(message))
  assert.deepEqual(warnings, ['10 of the oldest open calls of advertisers left the list; the log keeps them'])
})

test('calls with wrong tokens are forgotten after seven days, an advertiser’s are not', async () => {
  const { advertiserId } = await newClick()
  const now = new Date()
  const made: { id: string; days: number; isKept: boolean }[] = []
  for (const [days, owner, isKept] of [
    [6.9, null, true],
    [7.1, null, false],
    [7.9, null, false],
    [7.5, advertiserId, true],
  ] as const) {
    const at = new Date(now.getTime() - days * DAY_MS)
    const id = uuid7(at.getTime())
    await ensurePartitions(world.database.db, 'inbound_calls', [at.getTime()])
    await world.database.pool.query(
      `INSERT INTO inbound_calls (inbound_id, received_at, advertiser_id, method, query, body, outcome)
       VALUES ($1, $2, $3, 'GET', $4, '', 'refused')`,
      [id, at, owner, `old=${randomUUID()}`],
    )
    made.push({ id, days, isKept })
  }
  await forgetStrangersCalls(world.database.db, now)
  for (const { id, days, isKept } of made)
    assert.equal(await count('inbound_id = $1', [id]), isKept ? 1 : 0, `${days} days`)
})

test('a call with more than two hundred parameters is not read, but kept as its advertiser’s', async () => {
  const { clickId, token, advertiserId } = await newClick()
  const many = 'a&'.repeat(300)
  const reply = await call(`token=${token}&click_id=${clickId}&${many}`)
  assert.deepEqual([reply.status, reply.outcome], [400, 'invalid'])
  assert.match(reply.message, /at most 200 parameters/)
  assert.equal(await count("advertiser_id = $1 AND outcome = 'invalid'", [advertiserId]), 1)
  assert.equal((await call(`${many}token=${token}&click_id=${clickId}`)).status, 401, 'the token is not looked for')
})
