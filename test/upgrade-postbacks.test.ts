// A database whose postbacks were their own queue, brought up to date: what was to be sent is sent, and nothing else.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { uuid7 } from '../src/lib/uuid7.ts'
import { Installation, until } from './installation.ts'
import { OldDatabase } from './old-database.ts'
import { databaseUrl } from './worker-world.ts'
import { SECRET_KEY } from './world.ts'

const program = new Installation()
let old: OldDatabase
const received: string[] = []
const receiver = createServer((request, response) => {
  received.push(String(request.headers['webhook-id']))
  response.end('OK')
})
before(() => new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done)))
after(async () => {
  await program.remove()
  await old.close()
  receiver.closeAllConnections()
  receiver.close()
})

test('what was queued or being sent is sent, what had ended stays so, and a cancelled replay is what it was', async () => {
  old = await OldDatabase.open('0004')
  const { withPostbacks, publisherId, advertiserId, offerId, goalId } = await old.fill((publisher_id) =>
    old.insertApp({ publisher_id, name: 'Told' }),
  )
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/?s={status}`
  await old.insert('postback_settings', { app_id: withPostbacks.app_id, method: 'GET', url })
  await old.insert('postback_lanes', { app_id: withPostbacks.app_id, publisher_id: publisherId })
  const made: string[] = []
  for (let i = 0; i < 7; i++) {
    const at = new Date()
    const [conversion_id, event_id] = [uuid7(at.getTime()), uuid7(at.getTime())]
    const parties = {
      app_id: withPostbacks.app_id,
      publisher_id: publisherId,
      advertiser_id: advertiserId,
      offer_id: offerId,
    }
    const worth = { payout_micros: 1_500_000, revenue_micros: 2_000_000, currency: 'Coins', rate_micros: 100_000_000 }
    const whose = { user_id: `u${i}`, is_test: false, is_repeatable: false, goal_id: goalId, source: 'advertiser' }
    const move = { status: 'approved', sequence: 1, event_id, actor: 'advertiser', created_at: at, approved_at: at }
    await old.insert('conversions', { conversion_id, ...parties, ...whose, ...worth, ...move })
    made.push(event_id)
  }
  const [due, later, sending, delivered, dead, replayed, cancelled] = made as [
    string, string, string, string, string, string, string
  ] // prettier-ignore
  const change = (id: string, set: string) => old.query(`UPDATE postbacks SET ${set} WHERE postback_id = $1`, [id])
  const claimed = `state = 'sending', attempts = 1, tries = 1, claim_id = gen_random_uuid(), lease_until = now() - interval '1 minute'`
  await change(later, `due_at = now() + interval '1 hour', attempts = 3, tries = 3, last_error = 'The answer is 500.'`)
  await change(sending, claimed)
  await change(delivered, `state = 'delivered', settled_at = now()`)
  await change(dead, `state = 'dead', settled_at = now(), last_error = 'The answer is 500.'`)
  const before = `replay_id = 1, replayed_state = 'dead', replayed_settled_at = '2026-01-02T00:00:00Z'`
  await change(replayed, `priority = 1, last_error = 'The answer is 500.', ${before}`)
  await change(cancelled, `${claimed}, priority = 2, last_error = 'The answer is 500.', ${before}`)

  const env = { DATABASE_URL: databaseUrl(old.name, 'program'), SECRET_KEY, POSTBACK_ALLOW: '127.0.0.0/8' }
  const migrated = await program.run(['migrate', '--json'], env)
  assert.equal(migrated.status, 0, migrated.err)
  const queue = await old.query('SELECT postback_id, state, priority, attempts, tries FROM postback_queue')
  const place = (id: string) => queue.find((row) => row['postback_id'] === id) ?? {}
  assert.deepEqual(
    queue.map((row) => String(row['postback_id'])).toSorted(),
    [due, later, sending, replayed].toSorted(),
  )
  assert.deepEqual(place(later), { postback_id: later, state: 'later', priority: 0, attempts: 3, tries: 3 })
  assert.deepEqual(place(sending), { postback_id: sending, state: 'ready', priority: 0, attempts: 1, tries: 1 })
  assert.deepEqual(place(replayed), { postback_id: replayed, state: 'ready', priority: 1, attempts: 0, tries: 0 })
  const records = await old.query('SELECT postback_id, state FROM postbacks')
  const states = new Map(records.map((row) => [row['postback_id'], row['state']]))
  const expected = { [due]: 'queued', [later]: 'queued', [sending]: 'queued', [delivered]: 'delivered', [dead]: 'dead', [replayed]: 'dead', [cancelled]: 'dead' } // prettier-ignore
  assert.deepEqual(Object.fromEntries(states), expected)

  await program.serve(env)
  await until(() => received.length >= 3)
  assert.deepEqual(received.toSorted(), [due, sending, replayed].toSorted())
  const listed = await program.run(['postback', 'list', '--state', 'dead', '--json'], env)
  assert.deepEqual(
    (JSON.parse(listed.out) as { postback_id: string }[]).map((one) => one.postback_id),
    [cancelled, dead],
  )
})
