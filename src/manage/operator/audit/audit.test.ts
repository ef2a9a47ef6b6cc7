import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createDeal } from '../../../../test/conversion-rows.ts'
import { createFeedOf } from '../../../../test/feed-rows.ts'
import { createPerson, publisherOfApp, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { recordAuditAlone } from '../../../features/accounts/audit.ts'

const world = useWorld('manage_audit')

type Page = {
  entries: {
    action: string
    who: string
    subject: string
    publisher: { name: string } | null
    details: object
    target: object | null
    mentions: object[]
  }[]
  next_cursor: string | null
}

async function fill(): Promise<number> {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const by = (email: string) => ({ id: null, email, ip: '192.0.2.7' })
  const { db } = world.database
  await recordAuditAlone(db, by('ann@example.com'), {
    action: 'app.change',
    subject: appId,
    publisherId,
    details: { name: 'X' },
  })
  await recordAuditAlone(db, by('bob@example.com'), { action: 'app.suspend', subject: appId, publisherId })
  await recordAuditAlone(db, by('ann@example.com'), { action: 'offer.change', subject: 1 })
  return publisherId
}

test('audit entries are listed newest first, by actor, action, subject and publisher', async () => {
  const publisherId = await fill()
  const reader = await visit(world, 'operator_reader')
  const actions = async (query: string) =>
    (await reader.get<Page>(`/audit?${query}`)).data.entries.map((entry) => entry.action)
  const created = ['app.create', 'publisher.create']
  assert.deepEqual(await actions(`publisher_id=${publisherId}`), ['app.suspend', 'app.change', ...created])
  assert.deepEqual(await actions(`publisher_id=${publisherId}&action=app.change`), ['app.change'])
  assert.deepEqual(await actions(`publisher_id=${publisherId}&action=app.`), [
    'app.suspend',
    'app.change',
    'app.create',
  ])
  assert.deepEqual(await actions(`publisher_id=${publisherId}&who=BOB@example.com`), ['app.suspend'])
  assert.deepEqual(await actions('who=ann@example.com&subject=1&action=offer'), ['offer.change'])
  assert.deepEqual(await actions('action=%25'), [])
  const { data } = await reader.get<Page>(`/audit?publisher_id=${publisherId}&action=app.change`)
  assert.deepEqual(data.entries[0]?.details, { name: 'X' })
  assert.match(data.entries[0]?.publisher?.name ?? '', /^Publisher /)
})

test('entries name what they are about, and what no longer exists keeps its ID', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const owner = await createPerson(world, 'publisher_owner', publisherId, { name: 'Olga Owner' })
  const { db } = world.database
  const app = await db.selectFrom('apps').select('name').where('app_id', '=', appId).executeTakeFirstOrThrow()
  const by = { id: null, email: 'names@example.com', ip: null }
  for (const entry of [
    { action: 'profile.change', subject: owner.id, publisherId },
    { action: 'postback_lane.pause', subject: appId },
    { action: 'offer.change', subject: 999_999_999 },
    { action: 'offer.pause', subject: '1 2 3' },
    { action: 'user.ban', subject: String(appId), details: { app_id: appId, offer_ids: [999_999_999], reason: 'x' } },
  ])
    await recordAuditAlone(db, by, entry)
  const { data } = await (await visit(world, 'operator')).get<Page>('/audit?who=names@example.com')
  const named = { kind: 'app', id: String(appId), name: app.name, publisher_id: publisherId, app_id: appId }
  assert.deepEqual(
    data.entries.map(({ target, mentions }) => [target, mentions]),
    [
      [null, [{ field: 'app_id', ...named }]], // a user may be called like an app's ID
      [null, []],
      [null, []],
      [named, []],
      [{ kind: 'person', id: owner.id, name: 'Olga Owner', publisher_id: publisherId, app_id: null }, []],
    ],
  )
  assert.equal(data.entries[2]?.subject, '999999999')
})

test('lockers, walls, feeds and imports are named, too', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const { db } = world.database
  const { locker_id } = await db
    .insertInto('lockers')
    .values({ app_id: appId, kind: 'content', settings: JSON.stringify({ name: 'Full article' }) })
    .returning('locker_id')
    .executeTakeFirstOrThrow()
  const feed = await createFeedOf(world, await createDeal(world))
  const importId = randomUUID()
  const by = { id: null, email: 'things@example.com', ip: null }
  for (const entry of [
    { action: 'locker.change', subject: locker_id, publisherId },
    { action: 'wall.change', subject: appId, publisherId },
    { action: 'feed.change', subject: feed },
    { action: 'offers.import', subject: importId, details: { file_name: 'offers.csv' } },
  ])
    await recordAuditAlone(db, by, entry)
  const { data } = await (await visit(world, 'operator')).get<Page>('/audit?who=things@example.com')
  assert.partialDeepStrictEqual(
    data.entries.map(({ target }) => target),
    [
      { kind: 'import', id: importId, name: 'offers.csv' },
      { kind: 'feed', id: String(feed), name: 'Feed' },
      { kind: 'app', id: String(appId) },
      { kind: 'locker', id: String(locker_id), name: 'Full article', publisher_id: publisherId, app_id: appId },
    ],
  )
})

test('it pages', async () => {
  const publisherId = await fill()
  const operator = await visit(world, 'operator')
  const ofPublisher = `/audit?publisher_id=${publisherId}`
  const first = await operator.get<Page>(`${ofPublisher}&limit=3`)
  const second = await operator.get<Page>(`${ofPublisher}&limit=3&cursor=${first.data.next_cursor}`)
  const actions = ({ data }: typeof first) => data.entries.map(({ action }) => action)
  assert.deepEqual(actions(first), ['app.suspend', 'app.change', 'app.create'])
  assert.deepEqual([actions(second), second.data.next_cursor], [['publisher.create'], null])
  assert.equal((await operator.get('/audit?cursor=-')).status, 400)
})

test('a publisher does not see the log of the network', async () => {
  const publisherId = await fill()
  const owner = await visit(world, 'publisher_owner', publisherId)
  assert.equal((await owner.get(`/audit?publisher_id=${publisherId}`)).status, 404)
})
