import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { STATUSES } from '../../../features/conversions/conversions.ts'
import { setFraudRule } from '../../../features/conversions/fraud.ts'
import { DEFAULTS, saveSettings } from '../../../features/postbacks/settings.ts'
import { writeConversions } from './csv.ts'
import type { AppConversionList, ConversionHistory } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

const world = useWorld('manage_app_conversions')
type List = Static<typeof AppConversionList>
type History = Static<typeof ConversionHistory>

/** An app, and a member of its publisher. */
async function createOwned() {
  const made = await world.createApp()
  const publisherId = await publisherOfApp(world, made.appId)
  const visitor = await visit(world, 'publisher_developer', publisherId)
  return { ...made, publisherId, base: `/apps/${made.appId}/conversions`, visitor }
}
type Owned = Awaited<ReturnType<typeof createOwned>>

/** Clicks as this user and has the advertiser confirm it. */
async function convert({ live }: Pick<Owned, 'live'>, offerId: number, query: string, more = {}): Promise<string> {
  const { clickId } = await world.click(offerId, live, query)
  const { conversion_id } = await world.confirm(offerId, clickId, more)
  return conversion_id ?? ''
}

async function idsOf({ visitor, base }: Owned, query: string): Promise<string[]> {
  const { data } = await visitor.get<List>(`${base}?${query}`)
  return data.conversions.map(({ conversion_id }) => conversion_id)
}

test('conversions are found by user, offer, state, any sub-ID, time and mode', async () => {
  const owned = await createOwned()
  const [one = 0, two = 0] = await world.createOffers({ name: 'First offer' }, {})
  const a = await convert(owned, one, 'userId=ann&aff_sub=mail&aff_sub3=x')
  const b = await convert(owned, two, 'userId=ann&aff_sub4=mail')
  const c = await convert(owned, one, 'userId=bob', { status: 'rejected' })
  const d = await convert({ live: owned.test }, one, 'userId=ann')
  assert.deepEqual(await idsOf(owned, ''), [c, b, a])
  assert.deepEqual(await idsOf(owned, 'user_id=ann'), [b, a])
  assert.deepEqual(await idsOf(owned, `offer_id=${one}`), [c, a])
  assert.deepEqual(await idsOf(owned, 'status=rejected'), [c])
  assert.deepEqual(await idsOf(owned, 'sub_id=mail'), [b, a])
  assert.deepEqual(await idsOf(owned, `sub_id=mail&offer_id=${one}`), [a])
  assert.deepEqual(await idsOf(owned, 'sub_id=mai'), [])
  assert.deepEqual(await idsOf(owned, 'mode=test'), [d])
  assert.deepEqual(await idsOf(owned, `to=${new Date(Date.now() - 3_600_000).toISOString()}`), [])
  assert.equal((await idsOf(owned, `from=${new Date(Date.now() - 3_600_000).toISOString()}`)).length, 3)
  const { data } = await owned.visitor.get<List>(`${owned.base}?status=approved&user_id=ann&offer_id=${one}`)
  assert.deepEqual(data.conversions.map(({ offer_name, aff_sub, payout }) => [offer_name, aff_sub, payout]), [['First offer', 'mail', 1]]) // prettier-ignore
})

test('a list goes on where the page before ended', async () => {
  const owned = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  for (const user of ['a', 'b', 'c']) await convert(owned, offerId, `userId=${user}`)
  const first = await owned.visitor.get<List>(`${owned.base}?limit=2`)
  assert.equal(first.data.conversions.length, 2)
  const rest = await owned.visitor.get<List>(`${owned.base}?limit=2&cursor=${first.data.next_cursor}`)
  assert.deepEqual([rest.data.conversions.map(({ user_id }) => user_id), rest.data.next_cursor], [['a'], null])
  assert.deepEqual(Object.keys((await owned.visitor.get(`${owned.base}?cursor=x`)).error.details ?? {}), ['cursor'])
})

test('the export is CSV of what is filtered, safe to open in a spreadsheet, and no longer than it may be', async () => {
  const { db } = world.database
  const owned = await createOwned()
  const [offerId = 0] = await world.createOffers({ name: 'Tea, "hot"' })
  await convert(owned, offerId, `userId=${encodeURIComponent('=1+1')}&aff_sub=mail`)
  await convert(owned, offerId, 'userId=other')
  const { status, text } = await owned.visitor.get(`/apps/${owned.appId}/conversions.csv?sub_id=mail`)
  const [head = '', row = '', ...rest] = text.split('\r\n')
  assert.equal(status, 200)
  assert.match(head, /^conversion_id,created_at,status,/)
  assert.match(row, /,approved,,\d+,"Tea, ""hot""",\d+,'=1\+1,,1,100,Coins,mail,/)
  assert.deepEqual(rest, [''])
  await sql`INSERT INTO conversions SELECT (jsonb_populate_record(c, jsonb_build_object('conversion_id', gen_random_uuid(),
    'event_id', gen_random_uuid(), 'user_id', n::text, 'aff_sub2', 'many'))).*
    FROM conversions c, generate_series(1, 2001) n WHERE c.app_id = ${owned.appId} AND c.aff_sub = 'mail'`.execute(db)
  const all = await owned.visitor.get(`/apps/${owned.appId}/conversions.csv?sub_id=many`)
  const idsIn = (text: string) => new Set(text.trim().split('\r\n').slice(1).map((row) => row.slice(0, 36))) // prettier-ignore
  assert.equal(idsIn(all.text).size, 2_001)
  const some = await Array.fromAsync(writeConversions(db, { appId: owned.appId, subId: 'many' }, 1_500))
  assert.equal(idsIn(some.join('')).size, 1_500)
  const none = await owned.visitor.get(`/apps/${owned.appId}/conversions.csv?user_id=nobody`)
  assert.equal(none.text.split('\r\n').length, 2)
  assert.equal((await owned.visitor.get(`/apps/${owned.appId}/conversions.csv?status=lost`)).status, 400)
})

test('one conversion has its whole history: click, moves, postbacks, money', async () => {
  const owned = await createOwned()
  const { db } = world.database
  await saveSettings(db, TESTER, SECRET_KEY, owned.appId, {
    ...DEFAULTS,
    events: [...STATUSES],
    url: 'https://example.com/{transaction_id}/{status}',
  })
  const [offerId = 0] = await world.createOffers({ name: 'Tea', payout: '1.5', revenue: '2', hold: '1d' })
  const id = await convert(owned, offerId, 'userId=ann&aff_sub=mail')
  const operator = await visit(world, 'operator')
  const before = await owned.visitor.get<History>(`${owned.base}/${id}`)
  assert.deepEqual(before.data.ledger.map(({ balance, amount }) => [balance, amount]), [['pending', 1.5]]) // prettier-ignore
  await world.confirm(offerId, before.data.click?.click_id ?? '', { status: 'rejected' })
  const { data } = await owned.visitor.get<History>(`${owned.base}/${id}`)
  const { conversion, click, events, ledger, postbacks } = data
  assert.deepEqual([conversion.offer_name, conversion.status, conversion.payout], ['Tea', 'rejected', 1.5])
  assert.deepEqual([click?.aff_sub, click?.device], ['mail', 'desktop'])
  assert.match(click?.request_id ?? '', /^req_/)
  assert.deepEqual(
    events.map(({ sequence, status, status_reason, actor, payout }) => [
      sequence,
      status,
      status_reason,
      actor,
      payout,
    ]),
    [
      [1, 'pending', null, 'advertiser', 1.5],
      [2, 'rejected', 'advertiser_rejected', 'advertiser', 1.5],
    ],
  )
  assert.deepEqual(ledger.map(({ balance, amount }) => [balance, amount]), [['pending', 1.5], ['pending', -1.5]]) // prettier-ignore
  assert.deepEqual(
    postbacks.map(({ status, state, tries }) => [status, state, tries]),
    [
      ['pending', 'queued', []],
      ['rejected', 'queued', []],
    ],
  )
  assert.equal(data.operator, null)
  assert.equal((await operator.get<History>(`${owned.base}/${id}`)).data.operator?.revenue, 2)
})

test('an approved conversion shows what became payable, a reversed one what was reversed', async () => {
  const owned = await createOwned()
  const [offerId = 0] = await world.createOffers({ payout: '2' })
  const { clickId } = await world.click(offerId, owned.live)
  const { conversion_id } = await world.confirm(offerId, clickId)
  await world.confirm(offerId, clickId, { status: 'reversed' })
  const { data } = await owned.visitor.get<History>(`${owned.base}/${conversion_id}`)
  assert.deepEqual(data.events.map(({ status }) => status), ['approved', 'reversed']) // prettier-ignore
  assert.deepEqual(data.ledger.map(({ balance, amount }) => [balance, amount]), [['payable', 2], ['payable', -2]]) // prettier-ignore
})

test('fraud signals are shown to operators, and to no publisher', async () => {
  const owned = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  await setFraudRule(world.database.db, TESTER, { offerId, signal: 'too_fast', threshold: 60, action: 'reject' })
  const id = await convert(owned, offerId, 'userId=quick')
  const seen = await owned.visitor.get<History>(`${owned.base}/${id}`)
  assert.deepEqual([seen.data.conversion.status, seen.data.conversion.status_reason], ['rejected', 'fraud'])
  for (const path of [owned.base, `${owned.base}/${id}`, `/apps/${owned.appId}/conversions.csv`])
    assert.doesNotMatch((await owned.visitor.get(path)).text, /too_fast|signals|127\.0\.0\.1/, path)
  const operator = await visit(world, 'operator_reader')
  assert.ok((await operator.get<History>(`${owned.base}/${id}`)).data.operator?.signals.includes('too_fast'))
})

test('a dropped click is shown from the conversion', async () => {
  const owned = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  const id = await convert(owned, offerId, 'userId=u&aff_sub2=kept')
  await world.database.db.deleteFrom('clicks').where('offer_id', '=', offerId).execute()
  const { data } = await owned.visitor.get<History>(`${owned.base}/${id}`)
  assert.deepEqual([data.click?.aff_sub2, data.click?.device, data.click?.request_id], ['kept', 'desktop', null])
})

test('no one sees the conversions of another publisher', async () => {
  const owned = await createOwned()
  const stranger = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  const id = await convert(owned, offerId, 'userId=u')
  for (const path of [
    owned.base,
    `${owned.base}/${id}`,
    `/apps/${owned.appId}/conversions.csv`,
    `${stranger.base}/${id}`,
  ])
    assert.equal((await stranger.visitor.get(path)).status, 404, path)
  assert.equal((await owned.visitor.get(`${owned.base}/not-an-id`)).status, 404)
  assert.equal((await owned.visitor.get(`${owned.base}/${id.toUpperCase()}`)).status, 200)
})
