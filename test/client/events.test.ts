// The feed by the client: every event once, in order, from wherever a reader left it.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { FeedEntry, FeedOptions } from '../../client/src/index.ts'
import { until } from '../installation.ts'
import { answer } from '../receiver.ts'
import { cut, forward, type Keys, useServed } from './served.ts'

const { world, url, client, behind } = useServed('client_events')
let keys: Keys
let offerId: number
const USERS = ['a', 'b', 'c', 'd', 'e']

async function readAll(options: FeedOptions = {}): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = []
  for await (const entry of client(keys).events(options)) entries.push(entry)
  return entries
}
const usersOf = (entries: FeedEntry[]) => entries.map(({ event }) => event.data.user_id)

before(async () => {
  keys = (await world.createApp()).live
  ;[offerId] = (await world.createOffers({})) as [number]
  for (const userId of USERS) await client(keys).conversions.create({ userId, offerId })
  await until(async () => (await readAll()).length === USERS.length)
})

test('reads page after page to the end, in order', async () => {
  const entries = await readAll({ limit: 2 })
  assert.deepEqual(usersOf(entries), USERS)
  assert.equal(new Set(entries.map(({ event }) => event.id)).size, USERS.length)
})

test('goes on from any cursor without skipping what was not processed, and repeats a page at most', async () => {
  const entries = await readAll({ limit: 2 })
  assert.equal(entries[0]?.cursor, '')
  for (const [i, { cursor }] of entries.entries()) {
    const rest = usersOf(await readAll({ after: cursor, limit: 2 }))
    assert.deepEqual(rest, USERS.slice(USERS.length - rest.length))
    const repeated = rest.length - (USERS.length - i - 1)
    assert.ok(repeated === 0 || repeated === 1, String(repeated))
  }
  assert.deepEqual(await readAll({ after: entries.at(-1)?.cursor }), [])
  for (const after of [null, undefined, '']) assert.equal((await readAll({ after })).length, USERS.length)
})

test('reads on over failures', async (t) => {
  const { client: api } = await behind(t, keys, [cut, answer(503), cut])
  const seen: FeedEntry[] = []
  for await (const entry of api.events({ limit: 2 })) seen.push(entry)
  assert.deepEqual(usersOf(seen), USERS)
})

test('follows: what happens later comes, until the signal ends it', async () => {
  const ending = new AbortController()
  const [last] = (await readAll()).slice(-1)
  const seen: string[] = []
  const done = new Error('done')
  const follow = async () => {
    const options = { after: last?.cursor, follow: true, pollMs: 20, signal: ending.signal }
    for await (const { event } of client(keys).events(options)) {
      seen.push(event.data.user_id)
      if (seen.length === 2) ending.abort(done)
    }
  }
  const following = assert.rejects(follow, done)
  for (const userId of ['later', 'latest']) {
    await client(keys).conversions.create({ userId, offerId })
    await until(() => seen.includes(userId))
  }
  await following
  assert.deepEqual(seen, ['later', 'latest'])
})

test('who follows waits for the end of an outage, and who cannot begin is told why', async (t) => {
  const port = Number(new URL(url()).port)
  const { client: api } = await behind(t, keys, [forward(port), cut, answer(503), cut], { retries: 0 })
  const ending = new AbortController()
  const seen: FeedEntry[] = []
  const follow = async () => {
    for await (const entry of api.events({ limit: 2, follow: true, pollMs: 20, signal: ending.signal })) {
      seen.push(entry)
      if (seen.length === USERS.length) ending.abort(new Error('done'))
    }
  }
  await assert.rejects(follow, /done/)
  assert.deepEqual(usersOf(seen).slice(0, USERS.length), USERS)
  const { client: broken } = await behind(t, keys, [cut], { retries: 0 })
  await assert.rejects(async () => {
    for await (const entry of broken.events({ follow: true })) seen.push(entry)
  }, /could not be reached/)
})

test('stops asking when the reader stops', async () => {
  let requests = 0
  const counting: typeof fetch = (address, init) => (requests++, fetch(address, init))
  for await (const { event } of client(keys, { fetch: counting }).events({ limit: 2, follow: true })) {
    assert.equal(event.data.user_id, USERS[0])
    break
  }
  assert.equal(requests, 1)
})
