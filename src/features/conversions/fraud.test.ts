// Fraud signals: what is detected, what is done about it, and how little of that the publisher sees.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import type { App } from '../../app.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { checkLedger } from '../ledger/check.ts'
import { ACTIONS, deleteRule, type FraudRule, readFraudRules, setFraudRule, type Signal } from './fraud.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

let live: IssuedCredentials
let first: FraudRule[]
let behindProxy: App
const world = useWorld('fraud', async () => {
  live = (await world.createApp()).live
  first = await readFraudRules(world.database.db)
  // All tests click fast: that counts as no signal, unless a test says otherwise.
  await deleteRule(world.database.db, TESTER, { offerId: null, signal: 'too_fast' })
  const listedIps = join(world.dataDir, 'listed.txt')
  writeFileSync(listedIps, '203.0.113.0/24\n')
  const closed = world.app
  behindProxy = await world.start({ listedIps, trustProxy: ['127.0.0.1'], countryHeader: 'x-country' })
  world.app = behindProxy
  await closed.close()
})

afterEach(async () => {
  const { db } = world.database
  for (const rule of await readFraudRules(db)) await deleteRule(db, TESTER, rule)
  for (const rule of first) if (rule.signal !== 'too_fast') await setFraudRule(db, TESTER, rule)
})

let users = 0
const newUser = () => `u${users++}`

async function newOffer(): Promise<number> {
  return (await world.createOffers({}))[0] ?? 0
}

type Visit = {
  userId?: string
  headers?: Record<string, string>
  confirm?: Record<string, string>
  click?: typeof clickBy
}

const clickBy = (offerId: number, userId: string, headers: Record<string, string>) =>
  world.click(offerId, live, `userId=${userId}`, headers)

/** From a wall that says where its visitor is. */
async function clickFromWall(offerId: number, userId: string, headers: Record<string, string>) {
  const query = new URLSearchParams({ apiKey: live.api_key, userId, country: 'US', search: String(offerId) })
  const all = { 'user-agent': BROWSER, ...headers }
  const { body } = await world.app.server.inject({ url: `/wall/v1/offers?${query.toString()}`, headers: all })
  const { data } = JSON.parse(body) as { data: { offers: { offer_id: number; link: string }[] } }
  return world.follow(data.offers.find(({ offer_id }) => offer_id === offerId)?.link ?? '', headers)
}

/** Clicks and confirms. Each user has its own IP address, unless one is given. */
async function convert(
  offerId: number,
  { userId = newUser(), headers = {}, confirm = {}, click = clickBy }: Visit = {},
) {
  const ip = `198.51.${100 + (users >> 8)}.${users & 255}`
  const { clickId } = await click(offerId, userId, { 'x-forwarded-for': ip, ...headers })
  const answer = await world.confirm(offerId, clickId, confirm)
  const row = await world.database.db
    .selectFrom('conversions')
    .selectAll()
    .where('conversion_id', '=', answer.conversion_id ?? '')
    .executeTakeFirstOrThrow()
  return { answer, row }
}

const rule = (signal: Signal, action: FraudRule['action'], threshold: number | null, offerId: number | null = null) =>
  setFraudRule(world.database.db, TESTER, { signal, action, threshold, offerId })

/** What triggers each signal, and its threshold then. */
const WAYS: Record<Signal, { threshold: number | null; convert: (offerId: number) => ReturnType<typeof convert> }> = {
  too_fast: { threshold: 60, convert: (offerId) => convert(offerId) },
  ip_users: {
    threshold: 2,
    convert: async (offerId) => {
      const headers = { 'x-forwarded-for': `192.0.2.${offerId % 250}` }
      for (let i = 0; i < 2; i++) await convert(offerId, { headers })
      return convert(offerId, { headers })
    },
  },
  user_velocity: {
    threshold: 1,
    convert: async (offerId) => {
      const userId = newUser()
      await convert(await newOffer(), { userId })
      return convert(offerId, { userId })
    },
  },
  geo_mismatch: {
    threshold: null,
    convert: (offerId) => convert(offerId, { headers: { 'x-country': 'US' }, confirm: { country: 'de' } }),
  },
  listed_ip: {
    threshold: null,
    convert: (offerId) => convert(offerId, { headers: { 'x-forwarded-for': '203.0.113.5' } }),
  },
  bot: { threshold: null, convert: (offerId) => convert(offerId, { headers: { 'user-agent': 'curl/8.0' } }) },
  claimed_country: {
    threshold: null,
    convert: (offerId) => convert(offerId, { headers: { 'x-country': 'DE' }, click: clickFromWall }),
  },
}

const EXPECTED = { flag: 'approved', hold: 'pending', reject: 'rejected' } as const

for (const [signal, way] of Object.entries(WAYS) as [Signal, (typeof WAYS)[Signal]][]) {
  test(`${signal} is recorded, and flagged, held or rejected as the rules say`, async () => {
    for (const scope of ['network', 'offer'] as const) {
      for (const action of ACTIONS) {
        const offerId = await newOffer()
        await rule(signal, action, way.threshold, scope === 'offer' ? offerId : null)
        const { answer, row } = await way.convert(offerId)
        const reason = action === 'flag' ? null : signal === 'geo_mismatch' ? 'geo_mismatch' : 'fraud'
        assert.deepEqual([answer.outcome, answer.reason], [EXPECTED[action], reason], `${scope} ${action}`)
        assert.deepEqual(row.signals, [signal])
        const { conversion } = (await world.get(`/v1/conversions/${row.conversion_id}`, live)).body.data
        assert.deepEqual([conversion.status, conversion.status_reason], [EXPECTED[action], reason])
        assert.ok(!('signals' in conversion), 'which signals there were stays with the operator')
        await deleteRule(world.database.db, TESTER, { signal, offerId: scope === 'offer' ? offerId : null })
      }
    }
  })
}

test('what is held is not released by time, and the operator decides', async () => {
  const offerId = await newOffer()
  await rule('bot', 'hold', null)
  const { row } = await WAYS.bot.convert(offerId)
  assert.equal(row.hold_until, null)
  const conversionId = row.conversion_id
  const inAYear = new Date(Date.now() + 365 * 86_400_000)
  const [released] = await applyCommands(world.database.db, [{ kind: 'release', conversionId }], inAYear)
  assert.deepEqual([released?.kind, released?.conversion?.status], ['duplicate', 'pending'])
  const [moved] = await applyCommands(
    world.database.db,
    [{ kind: 'move', by: TESTER, conversionId, to: 'approved' }],
    new Date(),
  )
  assert.equal(moved?.conversion?.status, 'approved')
})

test('what a click was suspected of still counts when the click is gone', async () => {
  const { db } = world.database
  await setFraudRule(db, TESTER, { offerId: null, signal: 'bot', threshold: null, action: 'hold' })
  const offerId = await newOffer()
  const { clickId } = await clickBy(offerId, newUser(), {})
  await db
    .updateTable('clicks')
    .set({ signals: ['bot'] })
    .where('click_id', '=', clickId)
    .execute()
  assert.equal((await world.confirm(offerId, clickId, { status: 'pending' })).outcome, 'pending')
  await db.deleteFrom('clicks').where('click_id', '=', clickId).execute()
  const { outcome, reason } = await world.confirm(offerId, clickId)
  assert.deepEqual([outcome, reason], ['pending', 'fraud'])
})

test('the rule of an offer takes precedence over the network’s, whether stricter or not', async () => {
  const [lenient, strict] = [await newOffer(), await newOffer()]
  await rule('bot', 'reject', null)
  await rule('bot', 'flag', null, lenient)
  assert.equal((await WAYS.bot.convert(lenient)).answer.outcome, 'approved')
  assert.equal((await WAYS.bot.convert(strict)).answer.outcome, 'rejected')
  await rule('bot', 'flag', null)
  await rule('bot', 'reject', null, strict)
  assert.equal((await WAYS.bot.convert(lenient)).answer.outcome, 'approved')
  assert.equal((await WAYS.bot.convert(strict)).answer.outcome, 'rejected')
})

test('of several signals all are recorded, and the strictest action is taken', async () => {
  const offerId = await newOffer()
  await rule('bot', 'hold', null)
  await rule('listed_ip', 'reject', null)
  const { answer, row } = await convert(offerId, {
    headers: { 'user-agent': 'curl/8.0', 'x-forwarded-for': '203.0.113.9' },
  })
  assert.deepEqual([answer.outcome, answer.reason], ['rejected', 'fraud'])
  assert.deepEqual(row.signals.toSorted(), ['bot', 'listed_ip'])
})

test('without a rule a signal is not even recorded', async () => {
  await deleteRule(world.database.db, TESTER, { signal: 'bot', offerId: null })
  const { answer, row } = await WAYS.bot.convert(await newOffer())
  assert.deepEqual([answer.outcome, row.signals], ['approved', []])
})

test('who is at a threshold has not passed it; the same country, or an unknown one, is no mismatch', async () => {
  const offerId = await newOffer()
  await rule('user_velocity', 'reject', 2)
  await rule('geo_mismatch', 'reject', null)
  const userId = newUser()
  await convert(await newOffer(), { userId })
  assert.equal((await convert(offerId, { userId })).answer.outcome, 'approved')
  assert.equal((await convert(await newOffer(), { userId })).answer.outcome, 'rejected')
  const us = { 'x-country': 'US' }
  for (const confirm of [{ country: 'US' }, { country: 'us' }, { country: 'nowhere' }, {}])
    assert.equal((await convert(offerId, { headers: us, confirm })).answer.outcome, 'approved', JSON.stringify(confirm))
  assert.equal((await convert(offerId, { confirm: { country: 'DE' } })).answer.outcome, 'approved')
})

test('a report is judged as well, and the confirmation that adopts it judges again', async () => {
  const offerId = await newOffer()
  await rule('bot', 'hold', null, offerId)
  const userId = newUser()
  const { clickId } = await world.click(offerId, live, `userId=${userId}`, { 'user-agent': 'curl/8.0' })
  const reported = (await world.report(live, { userId, offerId })).body.data.conversion
  assert.deepEqual([reported.status, reported.status_reason], ['pending', 'fraud'])
  const answer = await world.confirm(offerId, clickId)
  assert.deepEqual([answer.outcome, answer.reason, answer.conversion_id], ['pending', 'fraud', reported.conversion_id])
})

test('a rejected conversion of a fraud is paid neither now nor when it is confirmed again', async () => {
  const offerId = await newOffer()
  await rule('bot', 'reject', null)
  const { clickId } = await world.click(offerId, live, 'userId=fraud', { 'user-agent': 'curl/8.0' })
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'rejected')
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'duplicate')
  const { pool } = world.database
  const { rowCount } = await pool.query(
    'SELECT FROM ledger_entries JOIN conversions USING (conversion_id) WHERE offer_id = $1',
    [offerId],
  )
  assert.equal(rowCount, 0)
  assert.deepEqual(await checkLedger(world.database), [])
})

test('to begin with everything is flagged and nothing refused', () => {
  assert.deepEqual(first.map(({ signal }) => signal).toSorted(), Object.keys(WAYS).toSorted())
  for (const { action, offerId } of first) assert.deepEqual([action, offerId], ['flag', null])
})

test('a rule needs a threshold or has none, and an offer that is there', async () => {
  await assert.rejects(rule('bot', 'flag', 5), /takes no threshold/)
  await assert.rejects(rule('too_fast', 'flag', null), /needs a threshold/)
  await assert.rejects(rule('bot', 'flag', null, 999_999), /There is no offer 999999/)
})
