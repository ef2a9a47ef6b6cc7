import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { untilLockIsAwaited } from '../../../../test/waiting.ts'
import { useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import { permit } from '../../../features/apps/permissions.ts'
import { TESTER } from '../../../../test/tester.ts'

const world = useWorld('manage_permissions')

type Shown = {
  status: string
  margin_percent: number
  only_listed_offers: boolean
  allowed_offers: number[]
  denied_offers: number[]
}

test('an operator suspends a publisher, sets its margin and its offers, and it is in the log', async () => {
  const { appId, live } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const [allowed = 0, other = 0] = await world.createOffers({ payout: '1' }, {})
  const operator = await visit(world, 'operator')
  const path = `/publishers/${publisherId}/permissions`
  const before = await operator.get<Shown>(path)
  assert.partialDeepStrictEqual(before.data, {
    status: 'active',
    margin_percent: 0,
    only_listed_offers: false,
    allowed_offers: [],
    denied_offers: [],
  })
  const offers = { only_listed: true, allowed: [allowed], denied: [] }
  const { data } = await operator.patch<Shown>(path, { margin_percent: 12.5, offers })
  assert.deepEqual([data.margin_percent, data.allowed_offers], [12.5, [allowed]])
  const list = (await world.get('/v1/offers?userId=u', live)).body.data.offers
  assert.deepEqual(
    list.map(({ offer_id, payout }) => [offer_id, payout]),
    [[allowed, 0.875]],
  )
  await operator.patch(path, { status: 'suspended' })
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 401)
  const refused = await operator.patch(path, { offers: { ...offers, allowed: [other, 999_999] } })
  assert.deepEqual([refused.status, refused.error.details], [400, { offers: 'There is no offer 999999.' }])
  for (const body of [{ margin_percent: 101 }, { margin_percent: -1 }, { margin_percent: 0.00001 }, { status: 'gone' }])
    assert.equal((await operator.patch(path, body)).status, 400)
  const entries = await world.database.db
    .selectFrom('audit_log')
    .select(['action', 'subject'])
    .where('action', '=', 'publisher.permit')
    .execute()
  const entry = { action: 'publisher.permit', subject: String(publisherId) }
  assert.deepEqual(entries, [entry, entry])
})

test('a publisher that does not exist is not there', async () => {
  const operator = await visit(world, 'operator')
  assert.equal((await operator.get('/publishers/999999/permissions')).status, 404)
})

test('the log says what a change replaced, even when another person changed it at that moment', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const operator = await visit(world, 'operator')
  const { db } = world.database
  let changing: Promise<unknown> = Promise.resolve()
  await db.transaction().execute(async (trx) => {
    await permit(trx, TESTER, publisherId, { sharePpm: 700_000 })
    changing = operator.patch(`/publishers/${publisherId}/permissions`, { margin_percent: 10 })
    await untilLockIsAwaited(db)
  })
  await changing
  const [entry] = await listAuditEntries(db, { action: 'publisher.permit', subject: String(publisherId) }, 1)
  assert.ok(entry)
  const { before, after } = entry.details as Record<'before' | 'after', Shown>
  assert.deepEqual([before.margin_percent, after.margin_percent], [30, 10])
})

test('a form that was loaded before a publisher was suspended does not let it in again', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const [ann, bob] = [await visit(world, 'operator'), await visit(world, 'operator')]
  const path = `/publishers/${publisherId}/permissions`
  type Shown = { version: string; status: string; margin_percent: number }
  const { data: seen } = await bob.get<Shown>(path)
  assert.equal((await ann.patch(path, { status: 'suspended', seen_version: seen.version })).status, 200)
  const stale = await bob.patch(path, { status: seen.status, margin_percent: 10, seen_version: seen.version })
  assert.equal(stale.status, 409)
  assert.match(stale.error.message, /^Someone else changed these permissions/)
  const { data: now } = await bob.get<Shown>(path)
  assert.deepEqual([now.status, now.margin_percent], ['suspended', seen.margin_percent])
  assert.equal((await bob.patch(path, { margin_percent: 10, seen_version: now.version })).status, 200)
})
