// Exports: all that is known of a user and nothing of others, for people who may ask, and in pages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAuditEntries } from '../../src/features/accounts/audit.ts'
import { exportUser, type ExportedRecord } from '../../src/features/users/export.ts'
import { requestErasure } from '../../src/features/users/erasures.ts'
import { visit } from '../people.ts'
import { TESTER } from '../tester.ts'
import { SECRET_KEY } from '../world.ts'
import { newPerson, secretsOf, type Person, type Story, useStories } from './story.ts'

const { world, begin } = useStories('export')

/** Two users who did the same. */
async function beginTold(): Promise<Story> {
  const story = await begin()
  for (const who of [0, 1])
    for (const what of ['click', 'confirm', 'ask', 'debit', 'report', 'ticket', 'deliver'] as const)
      await story.do({ what, who, n: 0 })
  await story.settle()
  return story
}

const read = async (story: Story, person: Person, reader: 'publisher' | 'operator') => {
  const records: ExportedRecord[] = []
  for await (const one of exportUser(world.database.db, story.user(person), reader)) records.push(one)
  return records
}
const kindsOf = (records: { kind: string }[]) => [...new Set(records.map(({ kind }) => kind))].toSorted()

test('an export has every kind of data, and nothing of another user', async () => {
  const story = await beginTold()
  const [person, other] = story.people as [Person, Person]
  const records = await read(story, person, 'operator')
  assert.deepEqual(kindsOf(records), [
    'api_request', 'balance', 'balance_entry', 'callback', 'click', 'conversion', 'conversion_event', 'postback', 'postback_attempt',
    'sub_ids', 'ticket', 'ticket_image', 'ticket_message',
  ]) // prettier-ignore
  const text = JSON.stringify(records)
  for (const secret of secretsOf(person)) assert.ok(text.includes(secret), secret)
  for (const secret of secretsOf(other)) assert.ok(!text.includes(secret), secret)
})

test('a publisher gets neither callbacks of advertisers nor revenue nor signals', async () => {
  const story = await beginTold()
  const text = JSON.stringify(await read(story, story.people[0] as Person, 'publisher'))
  assert.doesNotMatch(text, /"callback"|revenue|signals|advertiser_transaction_id/)
})

test('a user whose ID is a word of our own paths has no requests of others', async () => {
  const story = await beginTold()
  const { db } = world.database
  for (const userId of ['v1', 'offers', 'users', 'debits', 'conversions']) {
    const person = newPerson(userId)
    assert.deepEqual(await read(story, person, 'operator'), [], userId)
    assert.equal(await requestErasure(db, TESTER, SECRET_KEY, story.user(person), new Date()), null, userId)
  }
  const person = newPerson('offers')
  await world.get('/v1/users/offers', story.live)
  await story.settle()
  assert.deepEqual((await read(story, person, 'operator')).map(({ path }) => path), ['/v1/users/offers']) // prettier-ignore
})

test('an owner downloads it for users of their own app; the audit log says so without the user', async () => {
  const story = await beginTold()
  const [person] = story.people as [Person]
  const { publisher_id } = await world.database.db.selectFrom('apps').select('publisher_id').where('app_id', '=', story.appId).executeTakeFirstOrThrow() // prettier-ignore
  const path = `/apps/${story.appId}/users/${encodeURIComponent(person.userId)}`
  const owner = await visit(world, 'publisher_owner', publisher_id)
  const { status, text } = await owner.post(`${path}/export`)
  assert.equal(status, 200)
  const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line) as ExportedRecord) // prettier-ignore
  assert.equal(lines[0]?.['user_id'], person.userId)
  assert.deepEqual(lines.at(-1), { kind: 'end', records: lines.length - 2 })
  const [entry] = await listAuditEntries(world.database.db, { action: 'user.export' }, 1)
  assert.partialDeepStrictEqual(entry, { subject: String(story.appId), details: { mode: 'live' } })
  assert.ok(!JSON.stringify(entry).includes(person.userId))
  const viewer = await visit(world, 'publisher_developer', publisher_id)
  assert.equal((await viewer.post(`${path}/export`)).status, 403)
  assert.equal((await viewer.post(`${path}/erasure`)).status, 403)
})

test('an owner erases a user, sees that it is under way, and that nothing is known of others', async () => {
  const story = await beginTold()
  const [person] = story.people as [Person]
  const { publisher_id } = await world.database.db.selectFrom('apps').select('publisher_id').where('app_id', '=', story.appId).executeTakeFirstOrThrow() // prettier-ignore
  const owner = await visit(world, 'publisher_owner', publisher_id)
  const path = (userId: string) => `/apps/${story.appId}/users/${encodeURIComponent(userId)}`
  type Reply = { erasure: { status: string } | null }
  assert.equal((await owner.post<Reply>(`${path(person.userId)}/erasure`)).data.erasure?.status, 'waiting')
  assert.equal((await owner.get<Reply>(path(person.userId))).data.erasure?.status, 'waiting')
  assert.equal((await owner.post<Reply>(`${path('a stranger')}/erasure`)).data.erasure, null)
  const { text } = await owner.get(`/apps/${story.appId}/erasures`)
  assert.ok(text.includes('erased-') && !text.includes(person.userId))
})

test('a user of 3,000 clicks and conversions is read in pages, by index', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  await story.click(person, story.offers[0] ?? 0)
  const { pool } = world.database
  await pool.query(
    `INSERT INTO clicks SELECT x.* FROM clicks c CROSS JOIN generate_series(1, 3000) n CROSS JOIN LATERAL jsonb_populate_record(c,
       jsonb_build_object('n', n, 'click_id', overlay(gen_random_uuid()::text placing left(c.click_id::text, 14) from 1 for 14))) AS x WHERE c.app_id = $1`,
    [story.appId],
  )
  const records = await read(story, person, 'publisher')
  assert.equal(records.filter(({ kind }) => kind === 'click').length, 3_001)
  assert.equal(new Set(records.map((one) => one['click_id'])).size, records.filter(({ kind }) => kind === 'click').length + 1) // prettier-ignore
})
