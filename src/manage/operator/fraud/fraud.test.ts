// Signals of fraud and the rules about them, through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { publisherOfApp, visit, type Visitor } from '../../../../test/people.ts'
import { untilLockIsAwaited } from '../../../../test/waiting.ts'
import { useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import type { IssuedCredentials } from '../../../features/apps/keys.ts'
import { setFraudRule } from '../../../features/conversions/fraud.ts'
import type { FraudOverview } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

let operator: Visitor
let live: IssuedCredentials
let appId: number
const world = useWorld('manage_fraud', async () => {
  operator = await visit(world, 'operator')
  ;({ live, appId } = await world.createApp())
})

let users = 0
async function convert(offerId: number) {
  const { clickId } = await world.click(offerId, live, `userId=u${users++}`)
  const { conversion_id } = await world.confirm(offerId, clickId)
  const { body } = await world.get(`/v1/conversions/${conversion_id}`, live)
  return body.data.conversion
}

const overview = async () => (await operator.get<Static<typeof FraudOverview>>('/fraud')).data
const ruleOf = async (signal: string, offerId: number | null) =>
  (await overview()).rules.find((rule) => rule.signal === signal && rule.offer_id === offerId)

test('every signal says what it means, and the rules of the beginning are there', async () => {
  const { signals, rules } = await overview()
  assert.equal(signals.length, 7)
  assert.ok(signals.every(({ meaning }) => meaning.endsWith('.')))
  assert.deepEqual(
    signals.filter(({ threshold_of }) => threshold_of !== null).map(({ signal }) => signal),
    ['too_fast', 'ip_users', 'user_velocity'],
  )
  assert.equal(rules.length, 7)
  assert.ok(rules.every(({ action, offer_id }) => action === 'flag' && offer_id === null))
})

test('an offer’s rule holds at once, is counted separately, and can be deleted', async () => {
  const [strict = 0, lax = 0] = await world.createOffers({ name: 'Strict' }, { name: 'Lax' })
  const before = (await ruleOf('too_fast', null))?.seen ?? 0
  const rule = { signal: 'too_fast', offer_id: strict, threshold: 60, action: 'reject' }
  assert.equal((await operator.put('/fraud/rules', rule)).status, 200)
  assert.deepEqual([(await convert(strict)).status, (await convert(lax)).status], ['rejected', 'approved'])
  assert.deepEqual(await ruleOf('too_fast', strict), { ...rule, offer: 'Strict', seen: 1 })
  assert.equal((await ruleOf('too_fast', null))?.seen, before + 1)
  assert.equal((await operator.put('/fraud/rules', { ...rule, action: 'hold' })).status, 200)
  assert.equal((await convert(strict)).status, 'pending')
  assert.equal((await operator.delete(`/fraud/rules/too_fast?offer_id=${strict}`)).status, 200)
  assert.equal((await convert(strict)).status, 'approved')
  assert.equal((await operator.delete(`/fraud/rules/too_fast?offer_id=${strict}`)).status, 404)
  const entries = await listAuditEntries(world.database.db, { action: 'fraud_rule.', subject: 'too_fast' }, 10)
  assert.deepEqual(
    entries.map(({ action, details }) => [action, details]),
    [
      ['fraud_rule.delete', { offer_id: strict, before: { threshold: 60, action: 'hold' } }],
      [
        'fraud_rule.set',
        { offer_id: strict, threshold: 60, action: 'hold', before: { threshold: 60, action: 'reject' } },
      ],
      ['fraud_rule.set', { offer_id: strict, threshold: 60, action: 'reject', before: null }],
    ],
  )
})

test('a rule that many set at once is one rule', async () => {
  const [offerId = 0] = await world.createOffers({ name: 'Wanted' })
  const thresholds = [1, 2, 3, 4, 5, 6]
  for (const offer of [{ offer_id: offerId }, {}]) {
    const answers = await Promise.all(
      thresholds.map((threshold) =>
        operator.put('/fraud/rules', { signal: 'user_velocity', ...offer, threshold, action: 'hold' }),
      ),
    )
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  }
  const set = (await overview()).rules.filter(({ signal }) => signal === 'user_velocity')
  assert.deepEqual([set.length, set.every(({ action }) => action === 'hold')], [2, true])
  await operator.put('/fraud/rules', { signal: 'user_velocity', threshold: 30, action: 'flag' })
})

test('an invalid rule is refused', async () => {
  const set = (body: object) => operator.put('/fraud/rules', body)
  const noThreshold = await set({ signal: 'too_fast', action: 'flag' })
  assert.deepEqual([noThreshold.status, Object.keys(noThreshold.error.details ?? {})], [400, ['threshold']])
  assert.equal((await set({ signal: 'bot', threshold: 5, action: 'flag' })).status, 400)
  assert.equal((await set({ signal: 'bot', action: 'shout' })).status, 400)
  assert.equal((await set({ signal: 'smell', action: 'flag' })).status, 400)
  assert.match((await set({ signal: 'bot', offer_id: 999_999, action: 'flag' })).error.message, /no offer 999999/)
  assert.equal((await operator.delete('/fraud/rules/smell')).status, 404)
})

test('publishers see none of this, and who may only look changes none of it', async () => {
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const reader = await visit(world, 'operator_reader')
  assert.equal((await owner.get('/fraud')).status, 404)
  assert.equal((await reader.get('/fraud')).status, 200)
  const rule = { signal: 'bot', action: 'reject' }
  for (const [who, status] of [
    [owner, 404],
    [reader, 403],
  ] as const) {
    assert.equal((await who.put('/fraud/rules', rule)).status, status)
    assert.equal((await who.delete('/fraud/rules/bot')).status, status)
  }
  assert.equal((await ruleOf('bot', null))?.action, 'flag')
})

test('the log says which rule was replaced or deleted, even when another person set it at that moment', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { db } = world.database
  const set = (threshold: number) => ({ signal: 'too_fast', offerId, threshold, action: 'hold' }) as const
  await setFraudRule(db, TESTER, set(1))
  const logged = async (action: string, change: () => Promise<unknown>, threshold: number) => {
    let changing: Promise<unknown> = Promise.resolve()
    await db.transaction().execute(async (trx) => {
      await setFraudRule(trx, TESTER, set(threshold))
      changing = change()
      await untilLockIsAwaited(db)
    })
    await changing
    const [entry] = await listAuditEntries(db, { action, subject: 'too_fast' }, 1)
    assert.ok(entry)
    return (entry.details as { before: unknown }).before
  }
  const put = { signal: 'too_fast', offer_id: offerId, threshold: 9, action: 'reject' }
  assert.deepEqual(await logged('fraud_rule.set', () => operator.put('/fraud/rules', put), 2), {
    threshold: 2,
    action: 'hold',
  })
  const path = `/fraud/rules/too_fast?offer_id=${offerId}`
  assert.deepEqual(await logged('fraud_rule.delete', () => operator.delete(path), 3), { threshold: 3, action: 'hold' })
})
