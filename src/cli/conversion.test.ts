// The commands of the path of money, beside a running server: what an operator does all day.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { failsWith, useOperator } from '../../test/operator.ts'

type Credentials = { api_key: string; api_secret: string }
type Shown = { conversion_id: string; status: string; status_reason: string | null }

const { home, serverUrl, world } = useOperator()
let app: { app_id: number; live: Credentials; test: Credentials }
let token: string
let offerIds: number[]

before(async () => {
  await home.json('publisher', 'create', '--name', 'P')
  app = await home.json('app', 'create', '--publisher', 'P', '--name', 'A', '--rate-limit', '100000')
  token = (await home.json<{ token: string }>('advertiser', 'create', '--name', 'Acme')).token
  const file = join(home.folder, 'offers.json')
  const offer = { advertiser: 'Acme', name: 'An offer', category: 'app', payout: 1, revenue: 1.5 }
  const url = 'https://ads.example.com/?c={click_id}'
  const rows = [1, 2].map((n) => ({ ...offer, external_id: `o${n}`, destination_url: url }))
  writeFileSync(file, JSON.stringify(rows))
  await home.json('offer', 'import', file)
  offerIds = (await home.json<{ offer_id: number }[]>('offer', 'list')).map((row) => row.offer_id)
  await world.app.refresh()
})

const keysOf = (of: Credentials) => ({ 'x-api-key': of.api_key, 'x-api-secret': of.api_secret })

async function report(userId: string, offerId = offerIds[0]): Promise<Shown> {
  const answer = await fetch(`${serverUrl()}/v1/conversions`, {
    method: 'POST',
    headers: { ...keysOf(app.live), 'content-type': 'application/json' },
    body: JSON.stringify({ userId, offerId }),
  })
  return ((await answer.json()) as { data: { conversion: Shown } }).data.conversion
}

async function click(userId: string, of: Credentials): Promise<string> {
  const path = `/v1/offers/${offerIds[1]}?userId=${userId}`
  const listed = await fetch(`${serverUrl()}${path}`, { headers: keysOf(of) })
  const { link } = ((await listed.json()) as { data: { offer: { link: string } } }).data.offer
  const followed = await fetch(link, { redirect: 'manual' })
  return URL.parse(followed.headers.get('location') ?? '')?.searchParams.get('c') ?? ''
}

test('conversions are approved, rejected and reversed one by one and by file, each standing for itself', async () => {
  const made = await Promise.all(['a', 'b', 'c', 'd'].map((userId) => report(userId)))
  const [a = '', b = '', c = '', d = ''] = made.map((one) => one.conversion_id)
  type Result = { moved: number; unchanged: number; problems: { conversion_id: string; problem: string }[] }
  assert.equal((await home.json<Result>('conversion', 'approve', a)).moved, 1)
  const file = join(home.folder, 'ids.csv')
  writeFileSync(file, `conversion_id,user\n${a},a\n"${b}",b\n\n# later\nnonsense\n`)
  const bulk = await home.run(['conversion', 'approve', '--file', file, '--json'])
  assert.equal(bulk.status, 1)
  assert.deepEqual(JSON.parse(bulk.out), {
    moved: 1,
    unchanged: 1,
    problems: [{ conversion_id: 'nonsense', problem: 'This is not a conversion ID.' }],
  })
  assert.equal((await home.json<Result>('conversion', 'reject', c, '--reason', 'fraud', '--yes')).moved, 1)
  assert.equal((await home.json<Result>('conversion', 'reverse', b, '--yes')).moved, 1)
  const illegal = await home.run(['conversion', 'reverse', d, '--yes'])
  assert.equal(illegal.status, 1)
  assert.match(illegal.out, /This conversion is pending and cannot be reversed/)
  assert.equal((await home.json<Shown>('conversion', 'show', c)).status_reason, 'fraud')
  const unfit = await home.run(['conversion', 'reverse', a, '--reason', 'cap_exceeded'])
  assert.match(unfit.err, /--reason must be one of operator, fraud, not_eligible, geo_mismatch, advertiser_reversed/)
  const shown = await home.json<Shown & { history: { status: string; actor: string }[] }>('conversion', 'show', b)
  assert.deepEqual([shown.status, shown.status_reason], ['reversed', 'operator'])
  assert.deepEqual(
    shown.history.map(({ status, actor }) => [status, actor]),
    [
      ['pending', 'publisher'],
      ['approved', 'operator'],
      ['reversed', 'operator'],
    ],
  )
  const pending = await home.json<Shown[]>('conversion', 'list', '--status', 'pending')
  assert.deepEqual(
    pending.map((one) => one.conversion_id),
    [d],
  )
  const check = await home.run(['ledger', 'check'])
  assert.equal(check.status, 0, check.out)
})

test('a test click is found, confirmed by playing the advertiser, and touches no ledger; a live one is refused', async () => {
  const clickId = await click('tester', app.test)
  const clicks = await home.json<{ click_id: string; is_test: boolean }[]>(
    'click',
    'list',
    '--user',
    'tester',
    '--test',
  )
  assert.deepEqual(
    clicks.map((one) => [one.click_id, one.is_test]),
    [[clickId, true]],
  )
  const result = await home.json<{ outcome: string; conversion_id: string }>('advertiser', 'test-confirm', clickId)
  assert.equal(result.outcome, 'approved')
  // One rule for all lists: test rows only where they are asked for.
  for (const noun of ['click', 'conversion', 'postback'])
    assert.ok(
      (await home.json<{ is_test: boolean }[]>(noun, 'list')).every((row) => !row.is_test),
      noun,
    )
  assert.match(
    (await home.run(['click', 'list', '--user', 'tester'])).out,
    /^No clicks found\. Add --test for test traffic\.$/m,
  )
  const listed = await home.json<Shown[]>('conversion', 'list', '--test')
  assert.deepEqual(
    listed.map((one) => one.conversion_id),
    [result.conversion_id],
  )
  const live = await home.run(['advertiser', 'test-confirm', await click('somebody', app.live)])
  assert.equal(live.status, 1)
  assert.match(live.err, /only its advertiser can confirm it/)
  const unknown = await home.run(['advertiser', 'test-confirm', 'nonsense'])
  assert.match(unknown.err, /There is no click "nonsense"/)
})

test("an advertiser's call that was not understood is listed and processed again after its status was mapped", async () => {
  const clickId = await click('mapped', app.live)
  const call = `${serverUrl()}/postback?click_id=${clickId}&status=gut&token=${token}`
  assert.equal((await fetch(call)).status, 400)
  const [logged] = await home.json<{ inbound_id: string; query: string; outcome: string }[]>(
    'inbound',
    'list',
    '--outcome',
    'invalid',
  )
  assert.ok(logged !== undefined && !logged.query.includes(token) && logged.query.includes(clickId))
  assert.deepEqual(await home.json('inbound', 'show', logged.inbound_id), logged)
  assert.match((await home.run(['inbound', 'show', logged.inbound_id])).out, /^outcome +invalid$/m)
  await home.json('advertiser', 'set', '1', '--map', 'gut=approved')
  const { name } = await home.json<{ name: string }>('advertiser', 'show', '1')
  const again = await home.json<{ outcome: string }[]>('inbound', 'reprocess', '--advertiser', name, '--yes')
  assert.deepEqual(again.map(({ outcome }) => outcome), ['approved']) // prettier-ignore
  assert.equal((await home.json<{ outcome: string }[]>('inbound', 'reprocess', logged.inbound_id))[0]?.outcome, 'duplicate') // prettier-ignore
  assert.equal((await home.run(['inbound', 'reprocess'])).status, 2)
  assert.deepEqual(await home.json('inbound', 'list', '--open'), [])
  assert.equal((await fetch(call.replace('gut', 'gar_nicht'))).status, 400)
  const [open] = await home.json<{ inbound_id: string }[]>('inbound', 'list', '--open')
  assert.deepEqual(await home.json('inbound', 'dismiss', open?.inbound_id ?? '', '--yes'), {
    dismissed: [open?.inbound_id],
  })
  for (const verb of ['show', 'dismiss'])
    failsWith(await home.run(['inbound', verb, 'nonsense']), /There is no callback nonsense\. List callbacks with/)
  for (const list of [
    ['postback', 'list', '--conversion'],
    ['conversion', 'show'],
  ])
    failsWith(await home.run([...list, 'nope']), /There is no conversion "nope"\. List conversions with/)
  failsWith(await home.run(['inbound', 'list', '--click', 'nope']), /There is no click "nope"\. List clicks with/)
  assert.notDeepEqual(await home.json('inbound', 'list', '--click', clickId), [])
  const unknown = await home.run(['inbound', 'reprocess', 'nonsense'])
  assert.deepEqual([unknown.status, /There is no callback nonsense/.test(unknown.out)], [1, true])
})

test('fraud rules are set, listed and deleted; mistakes are reported', async () => {
  await home.json('fraud', 'set', 'too_fast', '--action', 'reject', '--threshold', '60', '--offer', String(offerIds[0]))
  assert.match((await home.run(['fraud', 'set', 'listed_ip', '--action', 'flag'])).out, /^Conversions with the signal listed_ip will only be flagged\.$/m) // prettier-ignore
  const rules = await home.json<{ signal: string; offer_id: number | null; action: string }[]>('fraud', 'list')
  assert.ok(rules.some((rule) => rule.offer_id === offerIds[0] && rule.action === 'reject'))
  assert.match(
    (await home.run(['fraud', 'set', 'bot', '--action', 'hold', '--threshold', '3'])).err,
    /takes no threshold/,
  )
  assert.match((await home.run(['fraud', 'set', 'bot', '--action', 'hold', '--offer', '99999'])).err, /no offer 99999/)
  await home.json('fraud', 'unset', 'too_fast', '--offer', String(offerIds[0]), '--yes')
  assert.match(
    (await home.run(['fraud', 'unset', 'too_fast', '--offer', String(offerIds[0]), '--yes'])).err,
    /There is no such rule/,
  )
})
