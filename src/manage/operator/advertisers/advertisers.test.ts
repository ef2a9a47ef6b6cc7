// Advertisers and their calls, through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { publisherOfApp, visit, type Visitor } from '../../../../test/people.ts'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { useWorld } from '../../../../test/world.ts'
import type { AdvertiserPage, CallPage, PostbackUrls, ShownAdvertiser } from './schema.ts'

type Shown = Static<typeof ShownAdvertiser>
type Calls = Static<typeof CallPage>['calls']
type Issued = { advertiser_id: number; token: string }

let operator: Visitor
let count = 0
const world = useWorld('manage_advertisers', async () => {
  operator = await visit(world, 'operator')
})

const make = async () => (await operator.post<Issued>('/advertisers', { name: `Made ${count++}` })).data
const show = async (id: number) => (await operator.get<Shown>(`/advertisers/${id}`)).data
const callsOf = async (query: string) => (await operator.get<{ calls: Calls }>(`/inbound-calls?${query}`)).data.calls
const confirmWith = async (token: string) =>
  (await world.app.server.inject(`/postback?click_id=00000000-0000-7000-8000-000000000000&token=${token}`)).statusCode
const { auditOf } = createOwnedApps(world)

test('an advertiser is created, and its token is shown once', async () => {
  const { advertiser_id, token } = await make()
  assert.match(token, /^adv_/)
  const { text } = await operator.get(`/advertisers/${advertiser_id}`)
  assert.ok(!text.includes(token))
  assert.equal((await show(advertiser_id)).tokens.length, 1)
  assert.equal(await confirmWith(token), 202)
  const { name } = await show(advertiser_id)
  const again = await operator.post('/advertisers', { name })
  assert.equal(again.status, 400)
  assert.match(again.error.message, /already/)
  const listed = await operator.get<Static<typeof AdvertiserPage>>(`/advertisers?search=${encodeURIComponent(name)}`)
  assert.partialDeepStrictEqual(listed.data.advertisers[0], { advertiser_id, offers: 0, has_token: true })
  const entries = await auditOf(advertiser_id)
  assert.ok(entries.some(({ action }) => action === 'advertiser.create'))
  assert.ok(!JSON.stringify(entries).includes(token))
})

test('advertisers are listed page by page', async () => {
  const ids = [(await make()).advertiser_id, (await make()).advertiser_id, (await make()).advertiser_id]
  const list = async (query: string) =>
    (await operator.get<Static<typeof AdvertiserPage>>(`/advertisers?${query}`)).data
  const first = await list(`limit=2&cursor=${(ids[0] ?? 0) - 1}`)
  assert.deepEqual(first.advertisers.map(({ advertiser_id }) => advertiser_id), ids.slice(0, 2)) // prettier-ignore
  const second = await list(`limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual(second.advertisers.map(({ advertiser_id }) => advertiser_id), ids.slice(2)) // prettier-ignore
  assert.equal(second.next_cursor, null)
})

test('a token is rotated: the old one works for the grace, or not at all', async () => {
  const { advertiser_id, token: first } = await make()
  const rotate = (grace: string) =>
    operator.post<{ token: string; old_token_expires_at: string }>(`/advertisers/${advertiser_id}/rotate-token`, {
      grace,
    })
  const { data: second } = await rotate('24h')
  assert.ok(Date.parse(second.old_token_expires_at) > Date.now() + 86_000_000)
  assert.deepEqual([await confirmWith(first), await confirmWith(second.token)], [202, 202])
  const { tokens } = await show(advertiser_id)
  assert.deepEqual(tokens.map(({ expires_at }) => expires_at === null), [true, false]) // prettier-ignore
  const { data: third } = await rotate('0s')
  assert.deepEqual([await confirmWith(first), await confirmWith(second.token), await confirmWith(third.token)], [401, 401, 202]) // prettier-ignore
  assert.match((await rotate('soon')).error.details?.['grace'] ?? '', /grace must be/)
  assert.equal((await operator.post('/advertisers/987654/rotate-token', { grace: '0s' })).status, 404)
})

test('IP allowlist, statuses and parameter names are set separately, with before and after in the log', async () => {
  const { advertiser_id } = await make()
  const change = (body: object) => operator.patch<Shown>(`/advertisers/${advertiser_id}`, body)
  await change({ allowed_ips: ['192.0.2.0/24', '::ffff:198.51.100.7'] })
  await change({ status_map: [{ theirs: 'Lead', status: 'pending' }] })
  const { data } = await change({
    aliases: [{ parameter: 'click_id', theirs: 'cid' }, { parameter: 'click_id', theirs: 'sub1' }],
  }) // prettier-ignore
  assert.partialDeepStrictEqual(data, {
    allowed_ips: ['192.0.2.0/24', '198.51.100.7'],
    status_map: [{ theirs: 'lead', status: 'pending' }],
    aliases: [{ parameter: 'click_id', theirs: 'cid' }, { parameter: 'click_id', theirs: 'sub1' }],
  }) // prettier-ignore
  const bad = await change({ allowed_ips: ['nowhere', '0.0.0.0/0'] })
  assert.equal(bad.status, 400)
  assert.match(bad.error.message, /"nowhere" is not an address[\s\S]*every IP address/)
  const wrong = await change({ status_map: [{ theirs: ' ', status: 'approved' }], allowed_ips: ['0.0.0.0/0'] })
  assert.deepEqual([wrong.status, Object.keys(wrong.error.details ?? {})], [400, ['allowed_ips', 'status_map']])
  const { data: amounts } = await change({ negative_amount: 'reversal', decimal_mark: 'comma' })
  assert.partialDeepStrictEqual(amounts, { negative_amount: 'reversal', decimal_mark: 'comma' })
  assert.equal((await change({ negative_amount: 'guess' })).status, 400)
  const { data: cleared } = await change({ allowed_ips: [], aliases: [] })
  assert.deepEqual([cleared.allowed_ips, cleared.aliases, cleared.status_map.length], [[], [], 1])
  const [, first] = await auditOf(advertiser_id)
  const changes = { allowed_ips: { before: [], after: ['192.0.2.0/24', '198.51.100.7'] } }
  assert.deepEqual([first?.action, first?.details], ['advertiser.change', { changes }])
})

test('an operator says which callbacks are ignored, and they are from then on', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { live } = await world.createApp()
  const { advertiser_id } = (await operator.get<{ advertiser_id: number }>(`/offers/${offerId}`)).data
  const set = (ignored: object[], only_goal = false) => operator.patch<Shown>(`/advertisers/${advertiser_id}`, { call_rules: { ignored, only_goal } }) // prettier-ignore
  const rule = { parameter: 'stage', is: 'Trial', reason: 'A trial is not paid for.' }
  const { data } = await set([{ ...rule, parameter: ' stage ' }], true)
  assert.deepEqual(data.call_rules, { ignored: [{ ...rule, preset: null }], only_goal: true, only_goal_preset: null })
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId, { stage: 'TRIAL' })
  await world.confirm(offerId, clickId, { stage: 'paid' })
  const calls = await callsOf(`advertiser_id=${advertiser_id}`)
  assert.deepEqual(calls.map(({ outcome, reason }) => [outcome, reason]), [['approved', null], ['ignored', rule.reason]]) // prettier-ignore

  const wrong = await set([rule, { ...rule, is: 'trial' }, { parameter: 'a b', is: ' ', reason: '' }, { ...rule, parameter: 'token' }]) // prettier-ignore
  assert.equal(wrong.status, 400)
  assert.match(wrong.error.details?.['call_rules'] ?? '', /two rules for stage = trial[\s\S]*"a b" is not a valid parameter name[\s\S]*"" is not a value[\s\S]*A reason must have[\s\S]*cannot use the token/) // prettier-ignore
  assert.equal((await set(Array.from({ length: 51 }, (_, n) => ({ ...rule, is: `t${n}` })))).status, 400)
  assert.equal((await set([])).data.call_rules.only_goal, false)
  const changes = (await auditOf(advertiser_id)).map(({ details }) => details)
  const before = { ignored: [rule], only_goal: true }
  assert.deepEqual(changes.at(-1), { changes: { call_rules: { before, after: {} } } })
})

test('rules that came with the preset of a feed stay, whatever is set besides them', async () => {
  const { advertiser_id } = await make()
  const feed = { name: `AdGem of ${advertiser_id}`, advertiser_id, preset: 'adgem', credentials: { key: 'k' } }
  const { status, text } = await operator.post('/feeds', { ...feed, settings: { share_percent: 50 } })
  assert.equal(status, 200, text)
  const one = `/advertisers/${advertiser_id}`
  const { call_rules: came } = await show(advertiser_id)
  const [preset] = came.ignored
  assert.deepEqual([preset?.parameter, preset?.preset, came.only_goal_preset], ['nonpayable_install_goal', 'AdGem', 'AdGem']) // prettier-ignore
  const own = { parameter: 'test', is: '1', reason: 'A test.' }
  const again = { parameter: 'nonpayable_install_goal', is: 'TRUE', reason: 'Said in other words.' }
  const { data } = await operator.patch<Shown>(one, { call_rules: { ignored: [own, again], only_goal: false } })
  assert.deepEqual(data.call_rules, { ...came, ignored: [preset, { ...own, preset: null }] })
  await operator.patch<Shown>(one, { call_rules: { ignored: [], only_goal: false } })
  assert.deepEqual((await show(advertiser_id)).call_rules, came)
})

test('a rule that an operator has set and a preset brings is one, and settings with both of before can be changed', async () => {
  const { advertiser_id } = await make()
  const one = `/advertisers/${advertiser_id}`
  const own = { parameter: 'nonpayable_install_goal', is: 'TRUE', reason: 'Not paid.' }
  await operator.patch(one, { call_rules: { ignored: [own], only_goal: false } })
  const feed = { name: `AdGem beside ${advertiser_id}`, advertiser_id, preset: 'adgem', credentials: { key: 'k' } }
  await operator.post('/feeds', { ...feed, settings: { share_percent: 50 } })
  const joined = { ignored: [{ ...own, preset: 'AdGem' }], only_goal: true, only_goal_preset: 'AdGem' }
  assert.deepEqual((await show(advertiser_id)).call_rules, joined)
  const both = { ignored: [own, { ...own, is: 'true', reason: 'An install.' }], only_goal: true }
  await world.database.db.updateTable('advertisers').set({ call_rules: JSON.stringify(both) }).where('advertiser_id', '=', advertiser_id).execute() // prettier-ignore
  const more = { parameter: 'test', is: '1', reason: 'A test.' }
  const { status, data } = await operator.patch<Shown>(one, { call_rules: { ignored: [more], only_goal: false } })
  assert.deepEqual([status, data.call_rules], [200, { ...joined, ignored: [...joined.ignored, { ...more, preset: null }] }]) // prettier-ignore
})

test('the URLs to hand out have a placeholder for the token, and the advertiser’s own names', async () => {
  const [offerId = 0] = await world.createOffers({ goals: [{ name: 'Join', payout: 1 }] })
  const { advertiser_id } = (await operator.get<{ advertiser_id: number }>(`/offers/${offerId}`)).data
  await operator.patch(`/advertisers/${advertiser_id}`, { aliases: [{ parameter: 'click_id', theirs: 'cid' }] })
  const { data } = await operator.get<Static<typeof PostbackUrls>>(`/advertisers/${advertiser_id}/postback-urls`)
  const url = data.offers[0]?.goals[0]?.postback_url ?? ''
  assert.match(url, /^https:\/\/offers\.test\/postback\?cid=\{click_id\}&goal=\d+&txn_id=\{txn_id\}&token=YOUR_TOKEN$/)
  assert.equal(data.token_place, 'YOUR_TOKEN')
})

test('calls are listed with their outcome, masked, and filtered; one is processed again after a word was mapped', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { live, appId } = await world.createApp()
  const { advertiser_id } = (await operator.get<{ advertiser_id: number }>(`/offers/${offerId}`)).data
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId, { status: 'lead_ok' })
  await world.app.server.inject(`/postback?click_id=${clickId}&token=adv_wrong`)

  const [call] = await callsOf(`advertiser_id=${advertiser_id}`)
  assert.equal(call?.outcome, 'invalid')
  assert.match(call?.reason ?? '', /lead_ok/)
  assert.match(call?.query ?? '', /token=\*{8}/)
  assert.match(call?.advertiser ?? '', /^Advertiser/)
  const refused = (await callsOf('outcome=refused')).find(({ query }) => query.includes(clickId))
  assert.partialDeepStrictEqual(refused, { advertiser_id: null, advertiser: null, reason: 'wrong_token' })
  assert.equal((await operator.get('/inbound-calls?outcome=lost')).status, 400)
  assert.equal((await operator.get('/inbound-calls?cursor=lost')).status, 400)

  await operator.patch(`/advertisers/${advertiser_id}`, { status_map: [{ theirs: 'lead_ok', status: 'approved' }] })
  const ids = [refused?.inbound_id, call?.inbound_id]
  const { data, text } = await operator.post<{ results: { inbound_id: string; outcome: string }[] }>(
    '/inbound-calls/reprocess',
    { inbound_ids: ids },
  )
  assert.deepEqual(new Map(data.results.map(({ inbound_id, outcome }) => [inbound_id, outcome])), new Map([[ids[0], 'refused'], [ids[1], 'approved']]), text) // prettier-ignore
  const [after] = await callsOf(`click_id=${clickId}&advertiser_id=${advertiser_id}`)
  assert.partialDeepStrictEqual(after, { outcome: 'approved', attempts: 2 })
  const made = await world.database.db.selectFrom('conversions').select('status').where('app_id', '=', appId).execute()
  assert.deepEqual(made, [{ status: 'approved' }])
  const [entry] = await auditOf(call?.inbound_id ?? '')
  assert.deepEqual([entry?.action, entry?.details], ['call.reprocess', { advertiser_id, before: 'invalid' }])
  assert.equal((await operator.post('/inbound-calls/reprocess', { inbound_ids: ['x'] })).status, 404)
  assert.equal((await operator.post('/inbound-calls/reprocess', { inbound_ids: [] })).status, 400)
})

test('what came to nothing is listed as open, and dismissed for good', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { advertiser_id } = (await operator.get<{ advertiser_id: number }>(`/offers/${offerId}`)).data
  await world.confirm(offerId, 'nonsense')
  await world.confirm(offerId, '00000000-0000-7000-8000-000000000000')
  const open = () => callsOf(`advertiser_id=${advertiser_id}&open=yes`)
  const [waiting, invalid] = await open()
  assert.deepEqual([waiting?.outcome, invalid?.outcome, invalid?.is_open], ['unmatched', 'invalid', true])
  const inbound_ids = [waiting?.inbound_id, invalid?.inbound_id, 'x']
  const { data } = await operator.post<{ dismissed: string[] }>('/inbound-calls/dismiss', { inbound_ids })
  assert.deepEqual(data.dismissed, [invalid?.inbound_id], 'what is still waiting waits on')
  assert.deepEqual((await open()).map(({ outcome }) => outcome), ['unmatched']) // prettier-ignore
  assert.equal((await callsOf(`advertiser_id=${advertiser_id}`)).length, 2)
  assert.deepEqual((await auditOf(invalid?.inbound_id ?? '')).map(({ action }) => action), ['call.dismiss']) // prettier-ignore
})

test('those who only look change nothing, and publishers see nothing', async () => {
  const { advertiser_id } = await make()
  const { appId } = await world.createApp()
  const reader = await visit(world, 'operator_reader')
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const one = `/advertisers/${advertiser_id}`
  for (const path of ['/advertisers', one, `${one}/postback-urls`, '/inbound-calls']) {
    assert.equal((await reader.get(path)).status, 200, path)
    assert.equal((await owner.get(path)).status, 404, path)
  }
  const writes: [string, string, object][] = [
    ['POST', '/advertisers', { name: 'x' }],
    ['PATCH', one, { allowed_ips: [] }],
    ['POST', `${one}/rotate-token`, { grace: '0s' }],
    ['POST', '/inbound-calls/reprocess', { inbound_ids: ['x'] }],
    ['POST', '/inbound-calls/dismiss', { inbound_ids: ['x'] }],
  ]
  for (const [method, path, body] of writes) {
    assert.equal((await reader.send(method, path, body)).status, 403, path)
    assert.equal((await owner.send(method, path, body)).status, 404, path)
  }
  assert.equal((await operator.get('/advertisers/987654')).status, 404)
})
