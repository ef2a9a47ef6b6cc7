import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addConversions } from '../../../test/seed-rows.ts'
import { FORMATS, useOfferFiles, write } from '../../../test/offer-files.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { createAdvertiser } from '../accounts/advertisers.ts'
import { setCaps } from './edit-offers.ts'
import { showCaps } from './caps.ts'
import { TESTER } from '../../../test/tester.ts'
import { untilLockIsAwaited } from '../../../test/waiting.ts'

const ADVERTISER = 'Acme'
let appId = 0
const world = useWorld('terms', async (opened) => {
  await createAdvertiser(opened.database.db, TESTER, SECRET_KEY, ADVERTISER)
  appId = (await opened.createApp()).appId
})
const files = useOfferFiles()
let count = 0

const row = (more: Record<string, unknown> = {}) => ({
  external_id: `row-${count++}`,
  advertiser: ADVERTISER,
  name: 'An offer',
  category: 'app',
  payout: 1,
  destination_url: 'https://ads.example.com/?c={click_id}&t={timestamp}',
  ...more,
})

async function bring(rows: Record<string, unknown>[], format: 'json' | 'csv' = 'json') {
  const { created, updated, unchanged, problems } = await files.importText(world.database.db, `offers.${format}`, write(format, rows)) // prettier-ignore
  assert.deepEqual(problems, [])
  return { created, updated, unchanged }
}

const offerOf = (externalId: string) =>
  world.database.db.selectFrom('offers').selectAll().where('external_id', '=', externalId).executeTakeFirstOrThrow()

const goalsOf = (offerId: number) =>
  world.database.db.selectFrom('goals').selectAll().where('offer_id', '=', offerId).orderBy('place').execute()

const termsOf = (offerId: number) =>
  world.database.db.selectFrom('terms').selectAll().where('offer_id', '=', offerId).orderBy('terms_id').execute()

for (const format of FORMATS) {
  test(`a ${format} row sets windows, caps, shares and repeatable goals, and the same row again changes nothing`, async () => {
    const full = row({
      payout: undefined,
      attribution_window: '90s',
      hold: '7d',
      over_cap: 'Reject',
      daily_click_cap: '10',
      total_click_cap: 1_000_000_000_000,
      daily_conversion_cap: 2,
      total_conversion_cap: 30,
      daily_payout_cap: '0.0001',
      total_payout_cap: 999_999_999.9999,
      goals: [
        { name: 'Buy', payout: 1, is_repeatable: true, payout_percent: 12.3456, revenue_percent: '20' },
        { name: 'Join', payout: 2, payout_percent: 0 },
        { name: 'Stay', payout: 3, is_optional: true, revenue_percent: 100 },
      ],
    })
    assert.deepEqual(await bring([full], format), { created: 1, updated: 0, unchanged: 0 })
    const offer = await offerOf(full.external_id)
    assert.partialDeepStrictEqual(offer, {
      attribution_s: 90,
      hold_s: 604_800,
      over_cap: 'reject',
      daily_click_cap: 10,
      total_click_cap: 1_000_000_000_000,
      daily_conversion_cap: 2,
      total_conversion_cap: 30,
      daily_payout_cap_micros: 100,
      total_payout_cap_micros: 999_999_999_999_900,
      is_capped: true,
    })
    const goals = (await goalsOf(offer.offer_id)).map((goal) => [goal.is_repeatable, goal.payout_ppm, goal.revenue_ppm])
    assert.deepEqual(goals, [[true, 123_456, 200_000], [false, 0, 0], [false, null, 1_000_000]]) // prettier-ignore
    assert.deepEqual(await bring([full], format), { created: 0, updated: 0, unchanged: 1 })
    assert.equal((await termsOf(offer.offer_id)).length, 1)
  })
}

test('without any of that an offer has 30 days, no hold and no caps', async () => {
  const plain = row({ total_click_cap: '', daily_payout_cap: null })
  await bring([plain])
  const offer = await offerOf(plain.external_id)
  assert.partialDeepStrictEqual(offer, { attribution_s: 2_592_000, hold_s: 0, over_cap: 'honour', is_capped: false })
  assert.partialDeepStrictEqual(await goalsOf(offer.offer_id), [
    { is_repeatable: false, payout_ppm: null, revenue_ppm: null },
  ])
})

test('a change of any one of these fields is noticed', async () => {
  const plain = row({ payout: undefined, goals: [{ name: 'Buy', payout: 1 }] })
  await bring([plain])
  const changes: Record<string, unknown>[] = [
    { attribution_window: '1d' },
    { hold: '1d' },
    { confirm_within: '1d' },
    { redo_after_reversal: false },
    { over_cap: 'reject' },
    ...['click', 'conversion', 'payout'].flatMap((of) => [{ [`daily_${of}_cap`]: 5 }, { [`total_${of}_cap`]: 5 }]),
    ...[{ is_repeatable: true }, { name: 'Purchase' }, { payout_percent: 5 }, { revenue_percent: 5 }].map((more) => ({
      goals: [{ name: 'Buy', payout: 1, ...more }],
    })),
  ]
  for (const change of changes) {
    assert.deepEqual(await bring([{ ...plain, ...change }]), { created: 0, updated: 1, unchanged: 0 })
    assert.deepEqual(await bring([{ ...plain, ...change }]), { created: 0, updated: 0, unchanged: 1 })
    assert.deepEqual(await bring([plain]), { created: 0, updated: 1, unchanged: 0 }, 'and back')
  }
})

test('every new offer has terms, and gets new ones when its promise changes, and only then', async () => {
  const stepped = row({ payout: undefined, goals: [{ name: 'Join', payout: 1 }, { name: 'Buy', payout: 2 }] }) // prettier-ignore
  const other = row()
  await bring([stepped, other])
  const { offer_id, terms_id } = await offerOf(stepped.external_id)
  const [join, buy] = (await goalsOf(offer_id)).map((goal) => String(goal.goal_id))
  const promise = (place: number, name: string, payout: number) => ({ place, name, external_id: null, is_repeatable: false, payout_micros: payout, revenue_micros: payout, payout_ppm: null, revenue_ppm: null }) // prettier-ignore
  assert.deepEqual(
    (await termsOf(offer_id)).map(({ terms_id: id, attribution_s, goals }) => ({ id, attribution_s, goals })),
    [{ id: terms_id, attribution_s: 2_592_000, goals: { [`${join}`]: promise(1, 'Join', 1_000_000), [`${buy}`]: promise(2, 'Buy', 2_000_000) } }], // prettier-ignore
  )
  const before = (await offerOf(other.external_id)).terms_id
  const none = { created: 0, updated: 1, unchanged: 1 }
  const steps: [Record<string, unknown>, number][] = [
    [{ name: 'Another name', hold: '1d', over_cap: 'reject', total_click_cap: 5 }, 1],
    [{ attribution_window: '1d' }, 2],
    [{ goals: [{ name: 'Join', payout: 1 }, { name: 'Buy', payout: 3 }] }, 3],
    [{ goals: [{ name: 'Join', payout: 1 }] }, 4],
    [{ goals: [{ name: 'Join', payout: 1, revenue_percent: 10 }] }, 5],
    [{ goals: [{ name: 'Join', payout: 1, revenue_percent: 10, description: 'Now' }] }, 5],
    [{ goals: [{ name: 'Join now', payout: 1, revenue_percent: 10, description: 'Now' }] }, 6],
  ] // prettier-ignore
  let latest: Record<string, unknown> = stepped
  for (const [change, versions] of steps) {
    latest = { ...latest, ...change }
    assert.deepEqual(await bring([latest, other]), none)
    const terms = await termsOf(offer_id)
    assert.equal(terms.length, versions, JSON.stringify(change))
    assert.equal((await offerOf(stepped.external_id)).terms_id, terms.at(-1)?.terms_id)
  }
  assert.equal((await offerOf(other.external_id)).terms_id, before)
})

/** An offer that was completed a moment ago. */
async function createCompleted() {
  const offer = row()
  await bring([offer])
  const { offer_id: offerId } = await offerOf(offer.external_id)
  const at = new Date().toISOString()
  await addConversions(world.database.db, { at, appId, offerId, status: 'approved', payoutMicros: 1_000_000 })
  return {
    offerId,
    again: (more: Record<string, unknown>, before: Record<string, unknown>[] = []) =>
      bring([...before, { ...offer, ...more }]),
    fullUntil: async (): Promise<unknown> => (await offerOf(offer.external_id)).full_until,
  }
}

test('an import that caps an offer counts, one that changes a cap re-evaluates it, and one without caps opens it', async () => {
  const { db } = world.database
  const { offerId, again, fullUntil } = await createCompleted()
  await again({ total_conversion_cap: 1 })
  assert.equal(await fullUntil(), Infinity)
  assert.equal((await showCaps(db, offerId, new Date())).total?.conversions, 1)
  await again({ total_conversion_cap: 2 })
  assert.equal(await fullUntil(), null)
  await again({ daily_payout_cap: 1 })
  assert.ok(Number(await fullUntil()) > Date.now())
  await again({})
  assert.equal(await fullUntil(), null)
})

test('an import that waits does not overlook caps that are set and reached meanwhile', async () => {
  const { db } = world.database
  const first = row()
  await bring([first])
  const { offerId, again, fullUntil } = await createCompleted()
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.transaction().execute(async (trx) => {
    await trx.updateTable('offers').set({ popularity: 1 }).where('external_id', '=', first.external_id).execute()
    held.resolve()
    await release.promise
  })
  await held.promise
  const importing = again({ name: 'Later' }, [{ ...first, name: 'First' }])
  await untilLockIsAwaited(db)
  await setCaps(db, TESTER, offerId, { totalConversions: 1 }, new Date())
  assert.equal(await fullUntil(), Infinity)
  release.resolve()
  await Promise.all([holding, importing])
  assert.equal((await showCaps(db, offerId, new Date())).total_conversion_cap, null)
  assert.equal(await fullUntil(), null)
})

test('an import and a command that set caps at once leave an offer that is closed only if it is capped', async () => {
  const { db } = world.database
  const { offerId, again, fullUntil } = await createCompleted()
  for (let i = 0; i < 30; i++) {
    await Promise.all([again({ name: `Name ${i}` }), setCaps(db, TESTER, offerId, { totalConversions: 1 }, new Date())])
    const { total_conversion_cap } = await showCaps(db, offerId, new Date())
    assert.equal(await fullUntil(), total_conversion_cap === null ? null : Infinity)
    await again({})
  }
})
