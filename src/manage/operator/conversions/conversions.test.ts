// Conversions of the whole network, through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { type Deal, createConversion, createDeal, type NewRow } from '../../../../test/conversion-rows.ts'
import { createPerson, keepOut, publisherOfApp, visit, type Visitor } from '../../../../test/people.ts'
import { TESTER } from '../../../../test/tester.ts'
import { useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import { banUser } from '../../../features/apps/bans.ts'
import { createCommandQueue } from '../../../features/conversions/command-queue.ts'
import { numberEvents } from '../../../features/conversions/events.ts'
import { checkLedger } from '../../../features/ledger/check.ts'
import type { ConversionReply, ConversionSearch, Moved } from './schema.ts'

let operator: Visitor
const world = useWorld('manage_conversions', async () => {
  operator = await visit(world, 'operator')
})

const PLAIN: NewRow = { status: 'pending', payoutMicros: 1_000_000, revenueMicros: 1_500_000, at: new Date() }
const make = async (deal: Deal, more: Partial<NewRow> = {}) =>
  (await createConversion(world, deal, { ...PLAIN, at: new Date(), ...more })).conversionId
const search = async (query: string) =>
  (await operator.get<Static<typeof ConversionSearch>>(`/conversions?${query}`)).data
const idsOf = ({ conversions }: Static<typeof ConversionSearch>) => conversions.map((one) => one.conversion_id)
const move = (to: string, conversion_ids: string[], reason?: string, status_reason?: string) =>
  operator.post<Static<typeof Moved>>('/conversions/moves', {
    to,
    conversion_ids,
    ...(reason === undefined ? {} : { reason }),
    ...(status_reason === undefined ? {} : { status_reason }),
  })
const show = async (id: string) => (await operator.get<Static<typeof ConversionReply>>(`/conversions/${id}`)).data

test('the queue has the oldest first, page by page', async () => {
  const deal = await createDeal(world)
  const ids = []
  for (const minutes of [30, 20, 10]) ids.push(await make(deal, { at: new Date(Date.now() - minutes * 60_000) }))
  await make(deal, { status: 'approved' })
  await make(deal, { isTest: true })
  const query = `status=pending&order=oldest&publisher_id=${deal.publisherId}&limit=2`
  const first = await search(query)
  assert.deepEqual(idsOf(first), ids.slice(0, 2))
  const second = await search(`${query}&cursor=${first.next_cursor}`)
  assert.deepEqual([idsOf(second), second.next_cursor], [ids.slice(2), null])
  const [row] = first.conversions
  assert.deepEqual([row?.publisher, row?.app, row?.payout, row?.revenue], [deal.publisher, 'App', 1, 1.5])
})

test('every filter narrows', async () => {
  const [one, other] = [await createDeal(world), await createDeal(world)]
  const old = await make(one, { status: 'rejected', at: new Date('2026-01-10T12:00:00Z') })
  const fresh = await make(one)
  const tried = await make(one, { isTest: true })
  const foreign = await make(other)
  const own = (query: string) => search(`app_id=${one.appId}&${query}`).then(idsOf)
  assert.deepEqual(await own(''), [fresh, old])
  assert.deepEqual(await own('status=rejected'), [old])
  assert.deepEqual(await own('reason=operator'), [old])
  assert.deepEqual(await own('reason=fraud'), [])
  assert.deepEqual(await own(`user_id=${fresh}`), [fresh])
  assert.deepEqual(await own('from=2026-01-10&to=2026-01-11'), [old])
  assert.deepEqual(await own('to=2026-01-10'), [])
  assert.deepEqual(await own('mode=test'), [tried])
  assert.deepEqual(await search(`offer_id=${other.offerId}`).then(idsOf), [foreign])
  assert.deepEqual(await search(`advertiser_id=${other.advertiserId}`).then(idsOf), [foreign])
  assert.deepEqual(await search(`publisher_id=${other.publisherId}`).then(idsOf), [foreign])
  const bad = await operator.get('/conversions?status=lost&cursor=x&from=yesterday&app_id=me')
  assert.equal(bad.status, 400)
  assert.deepEqual(Object.keys(bad.error.details ?? {}).toSorted(), ['app_id', 'cursor', 'from', 'status'])
  assert.equal((await operator.get('/conversions?cursor=x')).status, 400)
})

test('many are approved at once; each has its result, and is in the audit log', async () => {
  const deal = await createDeal(world)
  const waiting = []
  for (let i = 0; i < 60; i++) waiting.push(await make(deal))
  const approved = await make(deal, { status: 'approved' })
  const rejected = await make(deal, { status: 'rejected' })
  const unknown = '01890000-0000-7000-8000-000000000000'
  const { data } = await move('approved', [
    ...waiting,
    ` ${waiting[0]?.toUpperCase()} `,
    approved,
    rejected,
    unknown,
    'no id',
  ])
  assert.equal(data.results.length, 64)
  assert.deepEqual(
    data.results.slice(0, 60).map(({ conversion_id, outcome }) => [conversion_id, outcome]),
    waiting.map((id) => [id, 'done']),
  )
  assert.deepEqual(
    data.results.slice(60).map(({ outcome, problem }) => [outcome, problem]),
    [
      ['already', null],
      ['refused', 'This conversion is rejected and cannot be approved.'],
      ['refused', 'There is no such conversion.'],
      ['refused', 'This is not a conversion ID.'],
    ],
  )
  assert.equal((await search(`status=approved&app_id=${deal.appId}&limit=100`)).conversions.length, 61)
  const entries = await listAuditEntries(
    world.database.db,
    { action: 'conversion.', publisherId: deal.publisherId },
    100,
  )
  assert.deepEqual(entries.map(({ subject }) => subject).toSorted(), waiting.toSorted())
  assert.deepEqual(await checkLedger(world.database), [])
})

test('who may no longer decide fails no one whose decisions are written together with theirs', async () => {
  const deal = await createDeal(world)
  const gone = await createPerson(world, 'operator')
  await keepOut(world, gone)
  const by = { id: gone.id, email: gone.email, ip: null, role: 'operator' as const }
  const queue = createCommandQueue(world.database.db)
  const conversionIds = [await make(deal), await make(deal)]
  const [theirs, ours] = await Promise.allSettled([
    queue.apply({ kind: 'move', by, conversionId: conversionIds[0] ?? '', to: 'approved' }),
    queue.apply({ kind: 'move', by: TESTER, conversionId: conversionIds[1] ?? '', to: 'approved' }),
  ])
  assert.deepEqual([theirs.status, ours.status], ['rejected', 'fulfilled'])
  const statuses = await Promise.all(conversionIds.map(async (id) => (await show(id)).status))
  assert.deepEqual(statuses, ['pending', 'approved'])
  await queue.close()
})

test('rejecting and reversing need a reason, which stays with the conversion', async () => {
  const deal = await createDeal(world)
  const [a, b] = [await make(deal), await make(deal, { status: 'approved' })]
  const refused = await move('rejected', [a])
  assert.deepEqual([refused.status, Object.keys(refused.error.details ?? {})], [400, ['reason']])
  assert.equal((await move('reversed', [b], '   ')).status, 400)
  assert.equal((await move('rejected', [a], 'Same device as 40 others')).data.results[0]?.outcome, 'done')
  assert.equal((await move('reversed', [b], 'Charged back')).data.results[0]?.outcome, 'done')
  const [rejected, reversed] = [await show(a), await show(b)]
  assert.deepEqual(
    rejected.decisions.map(({ action, reason }) => [action, reason]),
    [['reject', 'Same device as 40 others']],
  )
  assert.match(rejected.decisions[0]?.who ?? '', /@example\.com$/)
  assert.deepEqual(
    reversed.history.map(({ sequence, status, actor }) => [sequence, status, actor]),
    [
      [1, 'approved', 'system'],
      [2, 'reversed', 'operator'],
    ],
  )
  assert.deepEqual(
    reversed.entries.map(({ account, amount }) => [account, amount]),
    [
      ['advertiser_receivable', 1.5],
      ['publisher_payable', -1],
      ['network_margin', -0.5],
      ['advertiser_receivable', -1.5],
      ['publisher_payable', 1],
      ['network_margin', 0.5],
    ],
  )
})

test('the publisher sees the reason that the operator chose, but not the operator’s note', async () => {
  const { appId, live } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const [offerId = 0] = await world.createOffers({ name: 'Judged' })
  const report = async (userId: string) =>
    (await world.report(live, { userId, offerId })).body.data.conversion.conversion_id
  const [a, b] = [await report('u1'), await report('u2')]
  const bad = await move('rejected', [a], 'x', 'advertiser_reversed')
  assert.deepEqual([bad.status, Object.keys(bad.error.details ?? {})], [400, ['status_reason']])
  assert.match(bad.error.details?.['status_reason'] ?? '', /must be one of: operator, fraud, not_eligible/)
  assert.equal((await move('rejected', [a], 'x', 'bad mood')).status, 400)
  assert.equal((await move('approved', [a], 'x', 'fraud')).status, 400)

  await move('rejected', [a], 'Same device as 40 others', 'fraud')
  await move('approved', [b])
  await move('reversed', [b], 'They wrote us', 'advertiser_reversed')
  await numberEvents(world.database.db)
  const { events } = (await world.get('/v1/events', live)).body.data
  for (const [id, reason] of [
    [a, 'fraud'],
    [b, 'advertiser_reversed'],
  ] as const) {
    const shown = await world.get(`/v1/conversions/${id}`, live)
    assert.equal(shown.body.data.conversion.status_reason, reason)
    assert.equal(events.findLast(({ data }) => data.conversion_id === id)?.data.status_reason, reason)
    const page = await owner.get<{ events: { status_reason: string | null }[] }>(`/apps/${appId}/conversions/${id}`)
    assert.equal(page.data.events.at(-1)?.status_reason, reason)
    assert.doesNotMatch(JSON.stringify(page.data), /40 others|They wrote/)
  }
})

test('a conversion of a banned user is marked, described and found by it', async () => {
  const { appId, live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  await banUser(world.database.db, TESTER, { userId: 'bad', appId, reason: 'A bot' })
  await world.app.refresh()
  const { body } = await world.report(live, { userId: 'bad', offerId })
  const { conversion_id } = body.data.conversion
  assert.deepEqual((await show(conversion_id)).signals, ['banned_user'])
  assert.deepEqual(idsOf(await search('signal=banned_user')), [conversion_id])
})

test('a conversion is shown from click to postback, with the signals that publishers do not see', async () => {
  const { appId, live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Shown' })
  const { clickId } = await world.click(offerId, live, 'userId=u7&aff_sub=mail')
  const { conversion_id } = await world.confirm(offerId, clickId)
  const one = await show(conversion_id ?? '')
  assert.deepEqual(
    [one.app_id, one.offer, one.user_id, one.aff_sub, one.click_id, one.source, one.signals],
    [appId, 'Shown', 'u7', 'mail', clickId, 'advertiser', ['too_fast']],
  )
  assert.equal(one.entries.length > 0, true)
  assert.equal(
    one.entries.reduce((sum, { amount }) => sum + amount, 0),
    0,
  )
  assert.deepEqual(idsOf(await search(`app_id=${appId}&signal=any`)), [conversion_id])
  assert.deepEqual(idsOf(await search(`app_id=${appId}&signal=too_fast`)), [conversion_id])
  assert.deepEqual(idsOf(await search(`app_id=${appId}&signal=bot`)), [])
})

test('bad lists are refused whole', async () => {
  assert.equal((await move('approved', [])).status, 400)
  assert.equal((await move('pending', ['x'])).status, 400)
  assert.equal(
    (
      await move(
        'approved',
        Array.from({ length: 1001 }, (_, i) => String(i)),
      )
    ).status,
    400,
  )
  assert.equal((await operator.get('/conversions/nothing')).status, 404)
})

test('publishers see none of this, and who may only look decides nothing', async () => {
  const deal = await createDeal(world)
  const id = await make(deal)
  const owner = await visit(world, 'publisher_owner', deal.publisherId)
  for (const path of ['/conversions', `/conversions/${id}`]) assert.equal((await owner.get(path)).status, 404)
  const body = { to: 'approved', conversion_ids: [id] }
  assert.equal((await owner.post('/conversions/moves', body)).status, 404)
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.get(`/conversions/${id}`)).status, 200)
  assert.equal((await reader.post('/conversions/moves', body)).status, 403)
  assert.equal((await show(id)).status, 'pending')
})
