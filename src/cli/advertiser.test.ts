import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { useOperator } from '../../test/operator.ts'
import { TESTER } from '../../test/tester.ts'
import { propose } from '../features/offers/proposals/proposals.ts'

type Made = { advertiser_id: number; name: string; token: string }

const { home, world } = useOperator()
let acme: Made
let offers: number[]
before(async () => {
  acme = await home.json<Made>('advertiser', 'create', '--name', 'Acme')
  const plain = { advertiser: 'Acme', name: 'An offer', category: 'app', payout: 1.5 }
  const file = join(home.folder, 'offers.json')
  writeFileSync(
    file,
    JSON.stringify([
      { ...plain, external_id: 'a', destination_url: 'https://ads.example.com/?c={click_id}', hold: '36h' },
      { ...plain, external_id: 'b', destination_url: 'https://ads.example.com/' },
    ]),
  )
  await home.json('offer', 'import', file)
  offers = (await home.json<{ offer_id: number }[]>('offer', 'list')).map((offer) => offer.offer_id)
})

test('an advertiser is shown with the URLs to paste, its own names in them, and a warning where they are in vain', async () => {
  const id = String(acme.advertiser_id)
  await home.json('advertiser', 'set', id, '--allow-ip', '192.0.2.0/24', '--allow-ip', '2001:db8::1', '--map', 'a=b=approved', '--alias', 'click_id=cid') // prettier-ignore
  const { status, out } = await home.run(['advertiser', 'show', id, '--token', acme.token])
  assert.equal(status, 0)
  assert.match(out, /allowed_ips +192\.0\.2\.0\/24, 2001:db8::1\nstatus_map +\{"a=b":"approved"\}/)
  assert.match(out, /\{click_id\} +the click ID it received in its destination URL/)
  const url = String.raw`http://127\.0\.0\.1:\d+/postback\?cid=\{click_id\}&goal=\d+&txn_id=\{txn_id\}&token=${acme.token}`
  assert.match(out, new RegExp(`Offer ${offers[0]}, "An offer"\n  Goal \\d+, "Complete"\n    ${url}\n`))
  assert.match(
    out,
    new RegExp(`Offer ${offers[1]}, "An offer"\n  WARNING: .* no \\{click_id\\}, .* cannot be confirmed`),
  )
  const bare = await home.json<{ offers: { goals: { postback_url: string }[] }[] }>('advertiser', 'show', id)
  assert.match(bare.offers[0]?.goals[0]?.postback_url ?? '', /&token=YOUR_TOKEN$/)
  assert.partialDeepStrictEqual(await home.json('advertiser', 'set', id, '--any-ip', '--no-map', '--no-aliases'), {
    allowed_ips: [],
    status_map: {},
    aliases: {},
  })
  assert.partialDeepStrictEqual(await home.json('advertiser', 'set', id, '--sees-publishers', 'name'), { sees_publishers: 'name' }) // prettier-ignore
})

test('a rotated token is no longer taken as its own when its grace is over', async () => {
  const made = await home.json<Made>('advertiser', 'create', '--name', 'Rotating')
  const id = String(made.advertiser_id)
  const rotated = await home.json<Made>('advertiser', 'rotate-token', id, '--grace', '0s', '--yes')
  const [old, fresh, foreign] = await Promise.all(
    [made.token, rotated.token, acme.token].map((token) => home.run(['advertiser', 'show', id, '--token', token])),
  )
  assert.equal(fresh?.status, 0)
  for (const refused of [old, foreign]) {
    assert.equal(refused?.status, 1)
    assert.match(
      refused?.err ?? '',
      new RegExp(`not a valid token of advertiser ${id}\\. Issue a new one with: npx offerdeck`),
    )
  }
})

test('caps are set, shown with what is used, and taken away', async () => {
  const id = String(offers[0])
  const run = (...args: string[]) => home.run(['offer', 'caps', id, ...args])
  assert.match((await run()).out, /has no caps\. Its usage is not counted/)
  const caps = ['--daily-clicks', '5', '--total-payout', '12.5', '--over-cap', 'reject']
  assert.partialDeepStrictEqual(await home.json('offer', 'caps', id, ...caps), {
    daily_click_cap: 5,
    total_click_cap: null,
    total_payout_cap: 12.5,
    over_cap: 'reject',
    full: 'no',
    total: { clicks: 0, conversions: 0, payout: 0, revenue: 0 },
  })
  assert.match(
    (await run()).out,
    /clicks +0 +5 +0 +-\nconversions .*\npayout +0 +- +0 +12\.5\nrevenue +0 +- +0 +-\n\nThe offer is open\./,
  )
  assert.partialDeepStrictEqual(await home.json('offer', 'show', id), {
    attribution_window: '30d',
    hold: '36h',
    total_payout_cap: 12.5,
    state: 'active',
    is_out_of_budget: false,
    usage: { full: 'no', total: { clicks: 0, conversions: 0, payout: 0, revenue: 0 } },
  })
  assert.partialDeepStrictEqual(await home.json('offer', 'caps', id, '--daily-revenue', '40'), {
    daily_revenue_cap: 40,
  })
  assert.match(
    (await run('--daily-clicks', 'none', '--total-payout', 'none', '--daily-revenue', 'none')).out,
    /has no caps/,
  )
})

test('proposals are listed, shown with what they change, approved with payouts of new goals, and refused', async () => {
  const { advertiser_id: advertiserId } = acme
  const write = (fields: object) => propose(world.database.db, TESTER, { advertiserId, offerId: offers[1] ?? 0, fields }, new Date()) // prettier-ignore
  const id = String(await write({ name: 'Better', goals: [{ name: 'Complete', revenue: 2 }, { name: 'Buy', revenue: 9 }] })) // prettier-ignore
  assert.partialDeepStrictEqual(await home.json('offer', 'proposals', '--status', 'waiting'), [{ proposal_id: Number(id), advertiser: 'Acme', is_new: false }]) // prettier-ignore
  const { out } = await home.run(['offer', 'proposals', id])
  assert.match(
    out,
    /name +"An offer" +"Better" +false[\s\S]*Approve it with: npx offerdeck offer approve \d+ --payout "Buy=USD"/,
  )
  assert.match((await home.run(['offer', 'approve', id])).err, /goals\[2\]\.payout is missing/i)
  assert.match((await home.run(['offer', 'approve', id, '--payout', 'Sell=1'])).err, /has no goal "Sell"/)
  assert.match((await home.run(['offer', 'approve', id, '--payout', 'Buy=6'])).out, /is approved, as offer/)
  assert.partialDeepStrictEqual(await home.json('offer', 'show', String(offers[1])), { name: 'Better', payout: 7.5 })
  const second = String(await write({ name: 'Worse' }))
  assert.match((await home.run(['offer', 'refuse', second, '--reason', 'No.'])).out, /is refused/)
  assert.match((await home.run(['offer', 'approve', second])).err, /was already refused by/)
})

test('a bad option of these commands is reported in a sentence', async () => {
  const id = String(acme.advertiser_id)
  const attempts: [string[], RegExp][] = [
    [['advertiser', 'set', id], /Nothing to set. Use --allow-ip/],
    [['advertiser', 'set', id, '--allow-ip', '0.0.0.0/0'], /^--allow-ip: .* allows every IP address/],
    [['advertiser', 'set', id, '--sees-publishers', 'all'], /^--sees-publishers: .*Use one of nothing, id, name/],
    [['advertiser', 'set', id, '--map', 'paid'], /--map must be a pair such as paid=approved/],
    [['advertiser', 'rotate-token', id, '--grace', 'soon'], /--grace must be a duration/],
    [['advertiser', 'show', '999999'], /There is no advertiser 999999/],
    [['offer', 'caps', '999999', '--daily-clicks', '1'], /There is no offer 999999/],
    [['offer', 'caps', '1', '--daily-clicks', '0', '--total-payout', '-1'], /--daily-clicks must be a whole number[\s\S]*--total-payout must be an amount/],
  ] // prettier-ignore
  const results = await Promise.all(attempts.map(([args]) => home.run(args)))
  for (const [i, [, message]] of attempts.entries()) {
    assert.match(results[i]?.err ?? '', message)
    assert.ok([1, 2].includes(results[i]?.status ?? 0))
  }
})

test('a budget is set, shown and removed', async () => {
  const id = String(acme.advertiser_id)
  const none = { daily_budget: null, monthly_budget: null, total_budget: null, closed_until: null }
  assert.partialDeepStrictEqual(await home.json('advertiser', 'budget', id), none)
  const set = await home.json<{ total_since: string }>(
    'advertiser',
    'budget',
    id,
    '--daily',
    '500',
    '--total',
    '20000.5',
  )
  assert.partialDeepStrictEqual(set, { daily_budget: 500, daily_spent: 0, total_budget: 20_000.5, total_spent: 0 })
  assert.deepEqual(await home.json('advertiser', 'budget', id), set)
  const wrong = await home.run(['advertiser', 'budget', id, '--monthly', 'much'])
  assert.match(wrong.err, /--monthly must be an amount in USD above 0, such as 500, or "none"\./)
  assert.partialDeepStrictEqual(await home.json('advertiser', 'budget', id, '--daily', 'none', '--total', 'none'), none)
})
