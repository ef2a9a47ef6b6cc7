// The feed of conversion events: nothing skipped, nothing twice, each as it was.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { numberEvents, Passed } from './events.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

let offerId: number
const world = useWorld('events', async () => {
  ;[offerId] = (await world.createOffers({})) as [number]
})

/** A page of the feed, once everything committed so far has its place. */
async function read(credentials: IssuedCredentials, after: string | null, limit = 100) {
  await numbered()
  const query = after === null ? '' : `&after=${after}`
  const { status, body, text } = await world.get(`/v1/events?limit=${limit}${query}`, credentials)
  assert.equal(status, 200, text)
  return body.data
}

async function numbered(): Promise<void> {
  await until(async () => {
    await numberEvents(world.database.db) // others may be at it: the app does the same a few times a second
    const waiting = await world.database.pool.query('SELECT FROM waiting_events')
    return waiting.rowCount === 0
  })
}

const report = async (credentials: IssuedCredentials, userId: string) =>
  (await world.report(credentials, { userId, offerId })).body.data.conversion

async function move(conversionId: string, to: 'approved' | 'rejected' | 'reversed'): Promise<void> {
  await applyCommands(world.database.db, [{ kind: 'move', by: TESTER, conversionId, to }], new Date())
}

test('an event is the body of its postback: id, type, created_at, sequence, data', async () => {
  const { live } = await world.createApp()
  const conversion = await report(live, 'ann')
  const { events } = await read(live, null)
  assert.equal(events.length, 1)
  const [event] = events
  assert.deepEqual(Object.keys(event ?? {}), ['id', 'type', 'created_at', 'sequence', 'data'])
  assert.match(event?.id ?? '', /^[\da-f-]{36}$/)
  assert.deepEqual(event, {
    id: event?.id,
    type: 'conversion.pending',
    created_at: conversion.created_at,
    sequence: 1,
    data: conversion,
  })
})

test('the events of a conversion come in their order, each with the conversion as it was then', async () => {
  const { live } = await world.createApp()
  const first = await report(live, 'ann')
  const other = await report(live, 'bob')
  await move(first.conversion_id, 'approved')
  await move(other.conversion_id, 'rejected')
  await move(first.conversion_id, 'reversed')
  const { events } = await read(live, null)
  assert.deepEqual(
    events.map(({ type, sequence, data }) => [type, sequence, data.user_id, data.status]),
    [
      ['conversion.pending', 1, 'ann', 'pending'],
      ['conversion.pending', 1, 'bob', 'pending'],
      ['conversion.approved', 2, 'ann', 'approved'],
      ['conversion.rejected', 2, 'bob', 'rejected'],
      ['conversion.reversed', 3, 'ann', 'reversed'],
    ],
  )
  assert.deepEqual(events[0]?.data, first)
  assert.equal(events[2]?.data.reversed_at, null)
  assert.equal(new Set(events.map(({ id }) => id)).size, 5)
  const now = (await world.get(`/v1/conversions/${first.conversion_id}`, live)).body.data.conversion
  assert.deepEqual(events[4]?.data, { ...now, payout: -now.payout, payout_local: -now.payout_local })
})

test('pages say whether there is more, and an empty page where to go on', async () => {
  const { live } = await world.createApp()
  const nothing = await read(live, null)
  assert.deepEqual([nothing.events, nothing.next_cursor, nothing.has_more], [[], '0', false])
  for (const userId of ['a', 'b', 'c']) await report(live, userId)
  const one = await read(live, nothing.next_cursor, 2)
  assert.deepEqual([one.events.length, one.has_more], [2, true])
  const two = await read(live, one.next_cursor, 2)
  assert.deepEqual([two.events.map(({ data }) => data.user_id), two.has_more], [['c'], false])
  const three = await read(live, two.next_cursor, 2)
  assert.deepEqual([three.events, three.next_cursor, three.has_more], [[], two.next_cursor, false])
  await report(live, 'd')
  const four = await read(live, three.next_cursor)
  assert.deepEqual(
    four.events.map(({ data }) => data.user_id),
    ['d'],
  )
})

test('what commits late comes behind what was read already, never before it', async () => {
  const { live } = await world.createApp()
  const pattern = await report(live, 'pattern')
  const client = await world.database.pool.connect()
  try {
    await client.query('BEGIN')
    const late = { conversion_id: uuid7(Date.now()), event_id: uuid7(Date.now()), user_id: 'late' }
    await client.query(
      `INSERT INTO conversions SELECT (jsonb_populate_record(c, $2)).* FROM conversions c WHERE conversion_id = $1`,
      [pattern.conversion_id, JSON.stringify(late)],
    )
    await report(live, 'early 1')
    await report(live, 'early 2')
    const { rows } = await client.query<{ late: string; early: string }>(
      `SELECT (SELECT event_no FROM waiting_events WHERE conversion_id = $1) AS late,
        (SELECT last_value FROM pg_sequences WHERE sequencename = 'waiting_events_event_no_seq') AS early`,
      [late.conversion_id],
    )
    assert.ok(Number(rows[0]?.late) < Number(rows[0]?.early), 'it was written first')
    const before = await read(live, null)
    assert.deepEqual(
      before.events.map(({ data }) => data.user_id),
      ['pattern', 'early 1', 'early 2'],
    )
    await client.query('COMMIT')
    const after = await read(live, before.next_cursor)
    assert.deepEqual(
      after.events.map(({ data }) => data.user_id),
      ['late'],
    )
    const whole = await read(live, null)
    assert.deepEqual(whole.events, [...before.events, ...after.events])
  } finally {
    client.release()
  }
})

test('a reader that follows writers in two processes gets every event once, in the order it stays in', async () => {
  const { live } = await world.createApp()
  const second = await world.start()
  const users = Array.from({ length: 60 }, (_, i) => `user ${i}`)
  const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  const followed: string[] = []
  try {
    let isWriting = true
    const writing = Promise.all(
      users.map(async (userId, i) =>
        (i % 2 === 0 ? world.app : second).server.inject({
          method: 'POST',
          url: '/v1/conversions',
          headers,
          payload: { userId, offerId },
        }),
      ),
    ).finally(() => (isWriting = false))
    let after = '0'
    for (;;) {
      const isLast = !isWriting
      if (isLast) await numbered()
      else await numberEvents(world.database.db)
      const { data } = (await world.get(`/v1/events?after=${after}&limit=7`, live)).body
      followed.push(...data.events.map(({ id }) => id))
      after = data.next_cursor ?? ''
      if (isLast && data.events.length === 0) break
    }
    await writing
  } finally {
    await second.close()
  }
  const { events } = await read(live, null)
  assert.equal(events.length, users.length)
  assert.deepEqual(
    followed,
    events.map(({ id }) => id),
  )
})

test('the feed is of one app and one mode', async () => {
  const { live, test: testMode } = await world.createApp()
  const { live: stranger } = await world.createApp()
  await report(live, 'ann')
  await report(testMode, 'tester')
  const usersOf = async (credentials: IssuedCredentials) =>
    (await read(credentials, null)).events.map(({ data }) => [data.user_id, data.is_test])
  assert.deepEqual(await usersOf(live), [['ann', false]])
  assert.deepEqual(await usersOf(testMode), [['tester', true]])
  assert.deepEqual(await usersOf(stranger), [])
})

test('a cursor or limit that is none is refused', async () => {
  const { live } = await world.createApp()
  for (const after of ['x', '-1', '1.5', '', '1e3', '%00', '9'.repeat(16), '9'.repeat(30), 'a&after=b']) {
    const { status, body } = await world.get(`/v1/events?after=${after}`, live)
    assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], after)
    assert.deepEqual(Object.keys(body.error.details ?? {}), ['after'])
  }
  for (const limit of ['0', '101', 'x'])
    assert.equal((await world.get(`/v1/events?limit=${limit}`, live)).status, 400, limit)
})

test('a cursor from beyond the end is refused: after a restore it would skip events', async () => {
  const { live } = await world.createApp()
  await report(live, 'ann')
  const { next_cursor } = await read(live, null)
  const { status, body } = await world.get(`/v1/events?after=${Number(next_cursor) + 1_000_000}`, live)
  assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'])
})

test('the place of an event is given once', async () => {
  const { live } = await world.createApp()
  await report(live, 'ann')
  await numbered()
  await assert.rejects(
    world.database.pool.query('UPDATE event_feed SET sequence = sequence + 1'),
    /Rows of event_feed are never changed/,
  )
  assert.equal(await numberEvents(world.database.db), 0)
})

test('cursor is another name for after; two different places, and other names for them, are refused', async () => {
  const { live } = await world.createApp()
  for (const user of ['ann', 'bob', 'cid']) await report(live, user)
  const { next_cursor } = await read(live, null, 1)
  const ask = async (query: string) => world.get(`/v1/events?limit=2&${query}`, live)
  const page = async (query: string) => (await ask(query)).body.data.events.map(({ data }) => data.user_id)
  assert.deepEqual(await page(`cursor=${next_cursor}`), ['bob', 'cid'])
  assert.deepEqual(await page(`cursor=${next_cursor}&after=${next_cursor}`), ['bob', 'cid'])
  const problems = async (query: string) => Object.keys((await ask(query)).body.error.details ?? {})
  assert.deepEqual(await problems(`cursor=${next_cursor}&after=1`), ['cursor'])
  assert.deepEqual((await problems('cursor=x&after=%20&limit=0&page=2&starting_after=1')).toSorted(), [
    'after',
    'cursor',
    'limit',
    'page',
    'starting_after',
  ])
})

test('the amounts of a reversal are negative in its event and positive in the conversion', async () => {
  const { live } = await world.createApp()
  const { conversion_id, payout, payout_local } = await report(live, 'rev')
  await move(conversion_id, 'approved')
  await move(conversion_id, 'reversed')
  const { events } = await read(live, null)
  assert.deepEqual(
    events.map(({ data }) => [data.status, data.payout, data.payout_local]),
    [
      ['pending', payout, payout_local],
      ['approved', payout, payout_local],
      ['reversed', -payout, -payout_local],
    ],
  )
  const { body } = await world.get(`/v1/conversions/${conversion_id}`, live)
  assert.deepEqual([body.data.conversion.status, body.data.conversion.payout], ['reversed', payout])
})

test('an event that commits late is not passed over, also where nothing else happens meanwhile', async () => {
  const { db, pool } = world.database
  const passed = new Passed()
  const { appId } = await world.createApp()
  const client = await pool.connect()
  await client.query('BEGIN')
  const { rows } = await client.query<{ event_no: number }>('INSERT INTO waiting_events (conversion_id, sequence, app_id, is_test) VALUES ($1, 1, $2, true) RETURNING event_no', [randomUUID(), appId]) // prettier-ignore
  const taken = Number(rows[0]?.event_no)
  for (let look = 0; look < 5; look++) await numberEvents(db, passed)
  assert.ok(passed.number < taken, 'it has not been committed yet')
  await client.query('COMMIT')
  client.release()
  await until(async () => {
    await numberEvents(db, passed)
    return passed.number >= taken
  })
  const { rowCount } = await pool.query('SELECT FROM waiting_events WHERE event_no = $1', [taken])
  assert.equal(rowCount, 0)
})
