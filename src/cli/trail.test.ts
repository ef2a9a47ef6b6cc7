// One flow, from the list to the postback, found from the ID of any of its requests.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { until } from '../../test/installation.ts'
import { useOperator } from '../../test/operator.ts'
import { visit } from '../../test/people.ts'
import type { Step } from '../features/conversions/request-trail.ts'

const { home, world, serverUrl } = useOperator({ env: { POSTBACK_ALLOW: '127.0.0.0/8' } })
const received: IncomingMessage[] = []
const receiver = createServer((request, response) => {
  received.push(request)
  response.end('OK')
})
let offerId: number
let live: { api_key: string; api_secret: string }
let appId: number

before(async () => {
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  ;({ appId, live } = await world.createApp())
  ;[offerId = 0] = await world.createOffers({ destination_url: 'https://ads.example.com/?c={click_id}' })
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/?user={user_id}&tx={transaction_id}&status={status}&test={is_test}&request={request_id}`
  await home.json('app', 'set-postback', `id:${appId}`, '--url', url, '--event', 'approved')
})
after(() => {
  receiver.closeAllConnections()
  receiver.close()
})

const idOf = (answer: Response) => answer.headers.get('x-request-id') ?? ''
const headers = () => ({ 'x-api-key': live.api_key, 'x-api-secret': live.api_secret })

async function flow(userId: string) {
  const listed = await fetch(`${serverUrl()}/v1/offers/${offerId}?userId=${userId}`, { headers: headers() })
  const { link } = ((await listed.json()) as { data: { offer: { link: string } } }).data.offer
  const followed = await fetch(link, { redirect: 'manual' })
  const clickId = URL.parse(followed.headers.get('location') ?? '')?.searchParams.get('c') ?? ''
  const query = new URLSearchParams({ click_id: clickId, token: world.tokenOf(offerId) })
  const confirmed = await fetch(`${serverUrl()}/postback?${query.toString()}`)
  const { conversion_id: conversionId } = (await confirmed.json()) as { conversion_id: string }
  return { list: idOf(listed), click: idOf(followed), call: idOf(confirmed), clickId, conversionId }
}

const find = (id: string) => home.json<Step[]>('find', id)
/** The clicks of a list are found by the request log, which is written in batches. */
const isFound = async (id: string) => (await home.run(['find', id])).status === 0

test('from the ID of the list, the click or the callback, the command finds every row of the flow', async () => {
  const { list, click, call, clickId, conversionId } = await flow('ann')
  assert.deepEqual([list.slice(0, 4), click], ['req_', `click_${clickId}`])
  await until(async () => (await find(call)).some(({ what }) => what === 'attempt'))
  await until(() => isFound(list))
  const whole = await find(list)
  assert.deepEqual(whole.map(({ what, request_id }) => `${what} ${request_id}`).toSorted(), [
    `attempt ${call}`,
    `callback ${call}`,
    `click ${list}`,
    `event ${call}`,
    `request ${list}`,
  ])
  assert.equal(whole.find(({ what }) => what === 'event')?.conversion_id, conversionId)
  for (const id of [click, call, clickId, conversionId]) assert.deepEqual(await find(id), whole, id)

  const { out } = await home.run(['find', call])
  assert.match(out, new RegExp(`^conversion_id +${conversionId}$`, 'm'))
  assert.match(out, /^what +at +about +id/m)
  for (const line of out.split('\n')) assert.ok(line.length <= 100, line)
  for (const { what, at, id } of whole) {
    const row = new RegExp(`^${what} +${String(at).slice(0, 19)}Z .* ${id}\\b`, 'm')
    assert.match(out, row)
  }

  const [postback] = received
  assert.equal(postback?.headers['x-request-id'], call)
  assert.equal(new URL(postback?.url ?? '', 'http://x').searchParams.get('request'), call)
})

test('an operator’s decision is in the trail with its request; what the command line does has none', async () => {
  const { call, conversionId } = await flow('bob')
  const operator = await visit(world, 'operator')
  const move = { conversion_ids: [conversionId], to: 'reversed', reason: 'a refund' }
  const decided = await operator.post('/conversions/moves', move)
  assert.equal(decided.status, 200, decided.text)
  const { meta } = JSON.parse(decided.text) as { meta: { request_id: string } }
  const decision = meta.request_id
  const trail = await find(decision)
  const mine = trail.filter(({ request_id }) => request_id === decision).map(({ what }) => what)
  assert.deepEqual(mine.filter((what) => what !== 'attempt').toSorted(), ['audit', 'event'])
  assert.ok(trail.some(({ request_id }) => request_id === call))
  const shown = await home.json<{ history: { status: string; request_id: string }[] }>('conversion', 'show', conversionId) // prettier-ignore
  assert.deepEqual(shown.history.map(({ status, request_id }) => [status, request_id]), [['approved', call], ['reversed', decision]]) // prettier-ignore

  const { conversionId: other } = await flow('cleo')
  await home.json('conversion', 'reverse', other, '--yes')
  const { history } = await home.json<typeof shown>('conversion', 'show', other)
  assert.deepEqual(history.map(({ request_id }) => request_id === null), [false, true]) // prettier-ignore
})

test('a report is found by its request, and in the search of the dashboard by people who may see it', async () => {
  const reported = await fetch(`${serverUrl()}/v1/conversions`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify({ userId: 'dora', offerId }),
  })
  const { conversion_id } = ((await reported.json()) as { data: { conversion: { conversion_id: string } } }).data.conversion // prettier-ignore
  type Results = { conversions: { conversion_id: string; matched: string }[] }
  const operator = await visit(world, 'operator')
  const search = async (text: string) => (await operator.get<Results>(`/search?q=${text}`)).data.conversions
  const [found] = await search(idOf(reported))
  assert.deepEqual([found?.conversion_id, found?.matched], [conversion_id, 'request'])
  const stranger = await world.createApp()
  const { publisher_id } = await world.database.db.selectFrom('apps').select('publisher_id').where('app_id', '=', stranger.appId).executeTakeFirstOrThrow() // prettier-ignore
  const other = await visit(world, 'publisher_owner', publisher_id)
  assert.deepEqual((await other.get<Results>(`/search?q=${idOf(reported)}`)).data.conversions, [])

  const { list, click, call, conversionId } = await flow('eve')
  await until(async () => (await search(list)).length > 0)
  for (const id of [list, click, call])
    assert.deepEqual((await search(id)).map((one) => one.conversion_id), [conversionId], id) // prettier-ignore
})

test('a callback that is refused is found as well, and what there is not is said', async () => {
  const refused = await fetch(`${serverUrl()}/postback?token=wrong&click_id=x`)
  const steps = await find(idOf(refused))
  assert.deepEqual(steps.map(({ what, about }) => [what, about]), [['callback', 'refused (wrong_token)']]) // prettier-ignore
  const { status, err } = await home.run(['find', 'req_nothing'])
  assert.equal(status, 1)
  assert.match(err, /Nothing is recorded for "req_nothing"/)
})
