// Budgets over all offers of an advertiser: what they count, when they close and open offers, and who is mailed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal, moveConversion } from '../../../../test/conversion-rows.ts'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { createPerson, visit, type Visitor } from '../../../../test/people.ts'
import { TESTER } from '../../../../test/tester.ts'
import { untilLockIsAwaited } from '../../../../test/waiting.ts'
import { useWorld } from '../../../../test/world.ts'
import { isConflict } from '../../../db/pg-errors.ts'
import { InvalidInput } from '../../../errors.ts'
import { recordAdjustment } from '../corrections.ts'
import { recordReceipt } from '../payments.ts'
import { rollUp } from '../rollup.ts'
import { keepBudgets, readOne, setBudgets } from './budgets.ts'
import { budgetWarningWriter, warnOfBudgets } from './warnings.ts'

const USD = 1_000_000
const DAY_MS = 86_400_000

let operator: Visitor
const world = useWorld('budgets', async () => {
  operator = await visit(world, 'operator')
})

const { auditOf } = createOwnedApps(world)

const spend = (deal: Deal, usd: number, at: Date, status: 'pending' | 'approved' = 'approved') =>
  createConversion(world, deal, { status, payoutMicros: usd * 500_000, revenueMicros: usd * USD, at })
const untilOf = async ({ offerId }: Deal) =>
  (await world.database.db.selectFrom('offers').select('budget_until').where('offer_id', '=', offerId).executeTakeFirstOrThrow()).budget_until // prettier-ignore
const set = (deal: Deal, given: Parameters<typeof setBudgets>[3], now: Date) =>
  setBudgets(world.database.db, TESTER, deal.advertiserId, given, now)

test('pending and approved conversions count, payments and adjustments do not, and a reversal gives back', async () => {
  const { db } = world.database
  const now = new Date()
  const deal = await createDeal(world)
  await set(deal, { daily: 10 * USD }, now)
  const pending = await spend(deal, 4, now, 'pending')
  const approved = await spend(deal, 3, now)
  await recordReceipt(db, TESTER, { advertiserId: deal.advertiserId, amountMicros: 5 * USD, reference: 'r', at: now })
  await db.transaction().execute((trx) => recordAdjustment(trx, TESTER, { party: { advertiserId: deal.advertiserId }, amountMicros: 2 * USD, reference: 'a', reason: 'Why.', at: now })) // prettier-ignore
  for (let i = 0; i < 2; i++) {
    assert.equal((await readOne(db, deal.advertiserId, now)).spent.daily, 7 * USD)
    await rollUp(db) // summed up or not
  }
  await moveConversion(world, deal, pending, 'approved', now)
  assert.equal((await readOne(db, deal.advertiserId, now)).spent.daily, 7 * USD)
  await spend(deal, 3, now)
  await keepBudgets(db, now)
  assert.equal((await untilOf(deal))?.toISOString().slice(11, 19), '00:00:00')
  await moveConversion(world, deal, approved, 'reversed', now)
  await keepBudgets(db, now)
  assert.equal(await untilOf(deal), null)
})

test('an offer that is closed is listed again when the budget is raised, and the next day', async () => {
  const { db } = world.database
  const now = new Date()
  const deal = await createDeal(world, { name: 'Budgeted survey' })
  const { live } = await world.createApp()
  const isListed = async () => {
    await world.app.refresh()
    return (await world.get(`/v1/offers?userId=u&limit=100`, live)).text.includes('Budgeted survey')
  }
  assert.equal(await isListed(), true)
  await spend(deal, 6, now)
  await set(deal, { daily: 5 * USD }, now)
  assert.equal(await isListed(), false)
  await set(deal, { daily: 7 * USD }, now)
  assert.equal(await isListed(), true)
  await set(deal, { daily: 6 * USD }, now)
  const tomorrow = new Date(now.getTime() + DAY_MS)
  await keepBudgets(db, tomorrow)
  assert.equal(await untilOf(deal), null)
})

test('a report without a click is rejected while a budget is used up; one with an earlier click is not', async () => {
  const now = new Date()
  const deal = await createDeal(world)
  const { live, test: testMode } = await world.createApp()
  await world.click(deal.offerId, live, 'userId=early')
  await spend(deal, 6, now)
  const statusOf = async (userId: string, credentials = live) => {
    const { status, status_reason } = (await world.report(credentials, { userId, offerId: deal.offerId })).body.data.conversion // prettier-ignore
    return [status, status_reason]
  }
  for (const [name, given] of Object.entries({
    daily: { daily: 5 * USD },
    monthly: { daily: null, monthly: 5 * USD },
  })) {
    await set(deal, given, now)
    assert.deepEqual(await statusOf(`late ${name}`), ['rejected', 'cap_exceeded'])
  }
  assert.deepEqual(await statusOf('early'), ['pending', null])
  assert.equal((await statusOf('tester', testMode))[0], 'approved')
  await set(deal, { monthly: 50 * USD, total: USD }, now)
  assert.deepEqual(await statusOf('in time'), ['pending', null])
  await spend(deal, 2, now)
  await keepBudgets(world.database.db, now)
  assert.deepEqual(await statusOf('after the total'), ['rejected', 'cap_exceeded'])
  await set(deal, { total: null }, now)
  assert.deepEqual(await statusOf('after it was removed'), ['pending', null])
})

test('an offer that is imported while its advertiser is out of budget is closed, too, and one whose budget is removed opens', async () => {
  const { db } = world.database
  const now = new Date()
  const deal = await createDeal(world)
  await spend(deal, 6, now)
  await set(deal, { monthly: 5 * USD }, now)
  await db.updateTable('offers').set({ budget_until: null }).where('offer_id', '=', deal.offerId).execute() // as a new one
  await keepBudgets(db, now)
  assert.equal((await untilOf(deal))?.getUTCDate(), 1)
  await db.deleteFrom('advertiser_budgets').where('advertiser_id', '=', deal.advertiserId).execute()
  await keepBudgets(db, now)
  assert.equal(await untilOf(deal), null)
})

test('a budget is set also while another process changes the same offers in another order', async () => {
  const { db } = world.database
  const now = new Date()
  const deal = await createDeal(world)
  const { name } = await db.selectFrom('advertisers').select('name').where('advertiser_id', '=', deal.advertiserId).executeTakeFirstOrThrow() // prettier-ignore
  await world.createOffers({ advertiser: name, external_id: 'second' })
  const own = await db.selectFrom('offers').select('offer_id').where('advertiser_id', '=', deal.advertiserId).orderBy('offer_id').execute() // prettier-ignore
  const [first = 0, second = 0] = own.map(({ offer_id }) => offer_id)
  await spend(deal, 6, now)
  let isSet: ReturnType<typeof set> | undefined
  const changing = db.transaction().execute(async (trx) => {
    const touch = (offerId: number) => trx.updateTable('offers').set({ popularity: 1 }).where('offer_id', '=', offerId).execute() // prettier-ignore
    await touch(second)
    isSet = set(deal, { daily: 5 * USD }, now)
    await untilLockIsAwaited(db)
    await touch(first)
  })
  await changing.catch((error: unknown) => assert.ok(isConflict(error))) // PostgreSQL ends one of them
  await isSet
  const closed = await db.selectFrom('offers').select('offer_id').where('advertiser_id', '=', deal.advertiserId).where('budget_until', 'is not', null).execute() // prettier-ignore
  assert.equal(closed.length, 2)
})

test('a total counts from when it is set, keeps counting when it is changed, and begins anew when it was removed', async () => {
  const now = new Date()
  const deal = await createDeal(world)
  await spend(deal, 50, now)
  assert.equal((await set(deal, { total: 10 * USD }, now)).spent.total, 0)
  await spend(deal, 4, now)
  assert.equal((await set(deal, { total: 20 * USD, daily: null }, now)).spent.total, 4 * USD)
  const { closedUntil } = await set(deal, { total: 3 * USD }, now)
  assert.deepEqual([closedUntil, Number(await untilOf(deal))], [Infinity, Infinity])
  await set(deal, { total: null }, now)
  assert.equal(await untilOf(deal), null)
  assert.equal((await set(deal, { total: 3 * USD }, now)).spent.total, 0)
})

test('at 80 % and when it is used up, the advertiser and the operators are mailed once each', async () => {
  const { db } = world.database
  const now = new Date()
  const deal = await createDeal(world)
  const person = await createPerson(world, 'advertiser', { publisherId: null, advertiserId: deal.advertiserId })
  const stranger = await createPerson(world, 'publisher_owner', deal.publisherId)
  const writer = budgetWarningWriter({ publicUrl: 'https://net.example' })
  const warn = async (at = now) => {
    const before = await db.selectFrom('mails').select('mail_id').where('kind', '=', 'budget_warning').execute()
    await warnOfBudgets(db, at)
    const known = new Set(before.map(({ mail_id }) => mail_id))
    const all = await db.selectFrom('mails').select(['mail_id', 'about']).where('kind', '=', 'budget_warning').execute()
    return all.filter(({ mail_id, about }) => !known.has(mail_id) && about.startsWith(`${deal.advertiserId}:`)).map(({ about }) => about) // prettier-ignore
  }
  const letter = (about: string, at = now) => db.transaction().execute((trx) => writer.write(trx, about, at))
  await set(deal, { daily: 10 * USD, monthly: 100 * USD }, now)
  await spend(deal, 7, now)
  assert.deepEqual(await warn(), [])
  const eighth = await spend(deal, 1, now)
  const near = await warn()
  assert.deepEqual([near, await warn()], [[`${deal.advertiserId}:daily:80`], []])
  await moveConversion(world, deal, eighth, 'reversed', now)
  assert.deepEqual(await warn(), [])
  await spend(deal, 1, now)
  assert.deepEqual(await warn(), [], 'a reversal that is made up for is no news')
  const to = await db.transaction().execute((trx) => writer.findRecipients(trx, near[0] ?? '', now))
  assert.ok(to.includes(person.email) && !to.includes(stranger.email))
  assert.match((await letter(near[0] ?? ''))?.subject ?? '', /has used 80 % of its daily budget$/)
  await spend(deal, 3, now)
  assert.deepEqual(await warn(), [`${deal.advertiserId}:daily:100`])
  const used = await letter(`${deal.advertiserId}:daily:100`)
  assert.match(used?.text ?? '', /has spent \$11\.00 of \$10\.00, its daily budget\.\n\nAll its offers are closed until midnight UTC\./) // prettier-ignore
  await set(deal, { daily: 50 * USD }, now)
  assert.equal(await letter(`${deal.advertiserId}:daily:100`), null, 'it was raised before the mail went out')
  assert.deepEqual(await warn(), [])
  await set(deal, { daily: 10 * USD }, now)
  assert.deepEqual(await warn(), [`${deal.advertiserId}:daily:100`], 'one mail where both are passed at once')
  assert.deepEqual(await warn(new Date(now.getTime() + DAY_MS)), [], 'a new day has used nothing')
})

test('everyone who looks at a closed offer reads that it is closed: operators why, publishers that it is full', async () => {
  type Shown = { state: string; is_out_of_budget: boolean }
  const now = new Date()
  const deal = await createDeal(world)
  const own = await visit(world, 'advertiser', { publisherId: null, advertiserId: deal.advertiserId })
  const seen = async () => {
    await world.app.refresh()
    const pages = [await operator.get<Shown>(`/offers/${deal.offerId}`), await own.get<Shown>(`/advertisers/${deal.advertiserId}/offers/${deal.offerId}`)] // prettier-ignore
    const { data } = await operator.get<{ cap: string; reasons: unknown[] }>(`/apps/${deal.appId}/offers/${deal.offerId}`) // prettier-ignore
    return [...pages.map(({ data: { state, is_out_of_budget } }) => ({ state, is_out_of_budget })), data.cap, data.reasons] // prettier-ignore
  }
  const open = { state: 'active', is_out_of_budget: false }
  assert.deepEqual(await seen(), [open, open, 'open', []])
  await spend(deal, 6, now)
  await set(deal, { monthly: 5 * USD }, now)
  const closed = { state: 'full', is_out_of_budget: true }
  const message = 'The offer has reached one of its caps, or the budget of its advertiser.'
  assert.deepEqual(await seen(), [closed, closed, 'full', [{ code: 'full', message }]])
})

test('operators set budgets, their advertiser reads them, and nonsense is refused', async () => {
  type Shown = { daily: { amount: number; spent: number } | null; is_closed: boolean; opens_at: string | null }
  const deal = await createDeal(world)
  const path = `/advertisers/${deal.advertiserId}/budget`
  await spend(deal, 6, new Date())
  const { data } = await operator.patch<Shown>(path, { daily: 5, total: 12.5 })
  assert.deepEqual([data.daily, data.is_closed, typeof data.opens_at], [{ amount: 5, spent: 6 }, true, 'string'])
  const own = await visit(world, 'advertiser', { publisherId: null, advertiserId: deal.advertiserId })
  assert.deepEqual((await own.get<Shown>(path)).data, data)
  assert.equal((await own.patch(path, { daily: null })).status, 404)
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.patch(path, { daily: null })).status, 403)
  for (const daily of [0, -1, 1e12, 0.00001, '5']) {
    const refused = await operator.patch(path, { daily })
    assert.deepEqual([refused.status, Object.keys(refused.error.details ?? {})], [400, ['daily']], String(daily))
  }
  assert.deepEqual((await operator.get<Shown>(path)).data, data)
  const [entry] = await auditOf(deal.advertiserId)
  assert.deepEqual(entry?.details, {
    changes: { daily: { before: null, after: 5 }, total: { before: null, after: 12.5 } },
  })
  await assert.rejects(set({ ...deal, advertiserId: 987_654 }, { daily: USD }, new Date()), (error) => !(error instanceof InvalidInput)) // prettier-ignore
})
