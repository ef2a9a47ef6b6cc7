// What users get: rounding, minimum reward and sales, the same in lists, conversions, events, balances and reports.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TESTER } from '../../../test/tester.ts'
import { useWorld } from '../../../test/world.ts'
import { rewardSteps, type Rounding, ROUNDINGS } from '../../lib/money.ts'
import { changeRewardSettings, type RewardSettings } from '../apps/reward-settings.ts'
import { readMessages } from '../conversions/messages.ts'

const world = useWorld('rewards')
const HOUR_MS = 3_600_000

async function createApp(settings: Partial<RewardSettings>, more = {}) {
  const app = await world.createApp(more)
  const set = async (change: Partial<RewardSettings>) => {
    await changeRewardSettings(world.database.db, TESTER, app.appId, change)
    await world.app.refresh()
  }
  await set({ keepsBalance: true, ...settings })
  return { ...app, set }
}
type App = Awaited<ReturnType<typeof createApp>>

// oxlint-disable-next-line typescript/no-explicit-any -- answers of several shapes
const ask = async ({ live }: App, path: string): Promise<any> => (await world.get(`/v1${path}`, live)).body.data

const saleOf = (multiplier: number, fromMs: number, toMs: number) => ({
  multiplierPpm: multiplier * 1_000_000,
  startsAt: new Date(Date.now() + fromMs),
  endsAt: new Date(Date.now() + toMs),
})

/** What each place says that the user got, and the sale. */
async function readEverywhere(app: App, conversionId: string | null) {
  await world.app.refresh()
  const { conversion } = await ask(app, `/conversions/${conversionId}`)
  const { events } = await ask(app, '/events')
  const event = events.findLast((one: { data: { conversion_id: string } }) => one.data.conversion_id === conversionId)
  const macros = await readMacros(event.id)
  const { entries } = await ask(app, '/users/u')
  const entry = entries.find((one: { conversion_id: string }) => one.conversion_id === conversionId)
  return {
    rewards: [conversion.payout_local, event.data.payout_local, macros.reward, entry?.amount],
    multipliers: [conversion.multiplier, event.data.multiplier, macros.multiplier],
    payout: conversion.payout,
  }
}

/** What the postback of an event would say. */
async function readMacros(eventId: string) {
  const { db } = world.database
  const event = await db.selectFrom('conversion_events').select(['conversion_id', 'sequence']).where('event_id', '=', eventId).executeTakeFirstOrThrow() // prettier-ignore
  const messages = await readMessages(db, [{ postback_id: eventId, ...event }])
  return messages.get(eventId)?.macros ?? assert.fail('the event has no message')
}

async function complete(app: App, offerId: number, clickId: string) {
  const { outcome, conversion_id } = await world.confirm(offerId, clickId)
  assert.equal(outcome, 'approved')
  return readEverywhere(app, conversion_id)
}

test('the program and the database round rewards alike, exactly, and never by more than a unit', async () => {
  const micros = fc.integer({ min: 0, max: 100_000_000_000 })
  const rate = fc.integer({ min: 1, max: 1_000_000_000_000 })
  const rounding = fc.option(fc.tuple(fc.constantFrom(...ROUNDINGS), fc.integer({ min: 0, max: 4 })).map(([mode, decimals]) => `${mode}${decimals}` as Rounding)) // prettier-ignore
  const rows = fc.sample(fc.tuple(micros, rate, rounding), 2_000)
  const { rows: found } = await world.database.pool.query<{ steps: string }>(
    `SELECT reward_steps(m, r, nullif(o, ''))::text AS steps
     FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS t (m, r, o, place) ORDER BY place`,
    [rows.map(([one]) => one), rows.map(([, one]) => one), rows.map(([, , one]) => one ?? '')],
  )
  for (const [i, [payout, rateMicros, rule]] of rows.entries()) {
    const steps = rewardSteps(payout, rateMicros, rule)
    assert.equal(Number(found[i]?.steps), steps, `${payout} ${rateMicros} ${rule}`)
    const exact = (BigInt(payout) * BigInt(rateMicros)) / 100_000_000n
    const unit = 10 ** (4 - Number(rule?.at(-1) ?? 4))
    assert.ok(Math.abs(steps - Number(exact)) <= Math.max(unit, Number(exact) / 2 ** 50), `${payout} ${rateMicros} ${rule}`) // prettier-ignore
  }
})

test('half of a unit is rounded up to the nearest', () => {
  const units = (rounding: Rounding) => [1_499_999, 1_500_000, 1_500_001].map((one) => rewardSteps(one, 1_000_000, rounding) / 10_000) // prettier-ignore
  assert.deepEqual([units('down0'), units('nearest0'), units('up0')], [[1, 1, 1], [1, 2, 2], [2, 2, 2]]) // prettier-ignore
  assert.deepEqual([units('down2'), units('nearest2'), units('up2')], [[1.49, 1.5, 1.5], [1.5, 1.5, 1.5], [1.5, 1.5, 1.51]]) // prettier-ignore
})

test('rewards are rounded as the app says, everywhere alike; the offer shows the sum of its goals', async () => {
  const goals = [{ name: 'a', payout: '0.333' }, { name: 'b', payout: '0.333' }, { name: 'c', payout: '0.333' }] // prettier-ignore
  const [offerId = 0] = await world.createOffers({ payout: undefined, goals })
  for (const [rounding, reward] of [[null, 3.33], ['down0', 3], ['nearest0', 3], ['up0', 4], ['nearest1', 3.3], ['up1', 3.4]] as const) {
    const app = await createApp({ rounding }, { rateMicros: 10_000_000 })
    const { offer } = await ask(app, `/offers/${offerId}?userId=u`)
    assert.deepEqual(offer.goals.map((goal: { payout_local: number }) => goal.payout_local), [reward, reward, reward])
    assert.equal(offer.payout_local, Math.round(reward * 3 * 10_000) / 10_000)
    assert.equal(offer.payout, 0.999)
    const { clickId } = await world.click(offerId, app.live)
    await app.set({ rounding: rounding === 'down0' ? 'up0' : 'down0' }) // what the click was promised stays
    assert.deepEqual(await complete(app, offerId, clickId), { rewards: [reward, reward, reward, reward], multipliers: [1, 1, 1], payout: 0.333 })
    assert.equal((await ask(app, '/stats')).totals.payout_local, reward)
  } // prettier-ignore
})

test('the publisher’s share is taken before rounding', async () => {
  const app = await createApp({ rounding: 'nearest0' }, { rateMicros: 10_000_000 })
  await world.database.pool.query(
    'UPDATE publishers SET share_ppm = 500000 WHERE publisher_id = (SELECT publisher_id FROM apps WHERE app_id = $1)',
    [app.appId],
  )
  await app.set({ keepsBalance: true })
  const [offerId = 0] = await world.createOffers({ payout: '0.91' })
  assert.equal((await ask(app, `/offers/${offerId}?userId=u`)).offer.payout_local, 5)
})

test('offers below the minimum reward are not shown, and their links say that they are not available here', async () => {
  const [low = 0, high = 0] = await world.createOffers({ payout: '0.49' }, { payout: '0.5' })
  const app = await createApp({}, { rateMicros: 100_000_000 })
  const listed = async (sort = 'payout_asc') => {
    const { offers } = await ask(app, `/offers?userId=u&limit=100&sort=${sort}`)
    return [low, high].filter((id) => offers.some((one: { offer_id: number }) => one.offer_id === id))
  }
  const { link } = (await ask(app, `/offers/${low}?userId=u`)).offer
  assert.deepEqual(await listed(), [low, high])
  await app.set({ minRewardSteps: 500_000 })
  assert.deepEqual([await listed(), await listed('newest')], [[high], [high]])
  assert.equal((await world.get(`/v1/offers/${low}?userId=u`, app.live)).status, 404)
  assert.match((await world.get(`/v1/offers/${low}/why?userId=u`, app.live)).text, /below the app's minimum/)
  const followed = await world.follow(link)
  assert.equal(followed.status, 403)
  assert.match(followed.text, /not available here/)
  // A sale shows no more of them, a rule of rounding may.
  await app.set({ sale: saleOf(2, 0, HOUR_MS) })
  assert.deepEqual(await listed(), [high])
  await app.set({ sale: null, rounding: 'nearest1', minRewardSteps: 490_000 })
  assert.deepEqual(await listed(), [low, high])
  await app.set({ minRewardSteps: null, rounding: null })
  assert.equal((await world.follow(link)).status, 302)
})

test('a click in a sale keeps it after its end, and a click after it does not have it', async () => {
  const app = await createApp({}, { rateMicros: 100_000_000 })
  const [first = 0, second = 0, third = 0] = await world.createOffers({ payout: '1' }, { payout: '1' }, { payout: '1' })
  const before = await world.click(first, app.live)
  assert.equal('sale' in (await ask(app, '/offers?userId=u')), false)
  const sale = saleOf(2.5, -1_000, HOUR_MS)
  await app.set({ sale })
  const list = await ask(app, '/offers?userId=u&limit=100')
  assert.deepEqual(list.sale, { multiplier: 2.5, ends_at: `${sale.endsAt.toISOString().slice(0, 19)}Z` })
  const shown = list.offers.find((one: { offer_id: number }) => one.offer_id === second)
  assert.deepEqual([shown.payout, shown.payout_local], [1, 250])
  const during = await world.click(second, app.live)
  await app.set({ sale: null })
  const after = await world.click(third, app.live)
  assert.deepEqual(await complete(app, first, before.clickId), { rewards: [100, 100, 100, 100], multipliers: [1, 1, 1], payout: 1 }) // prettier-ignore
  assert.deepEqual(await complete(app, second, during.clickId), { rewards: [250, 250, 250, 250], multipliers: [2.5, 2.5, 2.5], payout: 1 }) // prettier-ignore
  assert.deepEqual(await complete(app, third, after.clickId), { rewards: [100, 100, 100, 100], multipliers: [1, 1, 1], payout: 1 }) // prettier-ignore
  assert.deepEqual([(await ask(app, '/stats')).totals.payout_local, (await ask(app, '/users/u')).balance], [450, 450])
  const reversed = await world.confirm(second, during.clickId, { status: 'reversed' })
  const { rewards } = await readEverywhere(app, reversed.conversion_id)
  assert.deepEqual([rewards, (await ask(app, '/users/u')).balance], [[250, -250, -250, -250], 200])
})

test('a sale starts and ends by the clock, without another change', async () => {
  const app = await createApp({ sale: saleOf(3, HOUR_MS, 2 * HOUR_MS) }, { rateMicros: 100_000_000 })
  const [offerId = 0] = await world.createOffers({ payout: '1' })
  const reward = async () => (await ask(app, `/offers/${offerId}?userId=u`)).offer.payout_local
  assert.equal(await reward(), 100)
  const shift = (hours: number) =>
    world.database.pool.query(
      "UPDATE apps SET sale_starts_at = sale_starts_at - $2 * interval '1 hour', sale_ends_at = sale_ends_at - $2 * interval '1 hour' WHERE app_id = $1",
      [app.appId, hours],
    )
  await shift(1)
  await world.app.refresh()
  assert.equal(await reward(), 300)
  await shift(1)
  await world.app.refresh()
  assert.equal(await reward(), 100)
})

test('a report without a click has the sale of its time', async () => {
  const app = await createApp({ sale: saleOf(2, -1_000, HOUR_MS) }, { rateMicros: 100_000_000 })
  const [offerId = 0, other = 0] = await world.createOffers({ payout: '1' }, { payout: '1' })
  const report = async (id: number) => (await world.report(app.live, { userId: 'u', offerId: id })).body.data.conversion // prettier-ignore
  const inSale = (await report(offerId)) as unknown as { payout_local: number; multiplier: number }
  await app.set({ sale: null })
  const later = (await report(other)) as unknown as typeof inSale
  assert.deepEqual([inSale.payout_local, inSale.multiplier, later.payout_local, later.multiplier], [200, 2, 100, 1])
})
