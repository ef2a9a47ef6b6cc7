// Any history of an upstream that is good, bad and strange, an operator who edits, pauses, approves and changes settings,
// and workers that die: after each step the offers are as a plain model says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { type Trouble, Upstream } from '../../../test/upstreams/server.ts'
import { SHAPES } from '../../../test/upstreams/shapes.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { setOfferStatus } from '../offers/offers.ts'
import { createAddressGuard } from '../postbacks/address-guard.ts'
import { createSocketOpener } from '../postbacks/open-socket.ts'
import { FEED_DEFAULTS } from './feed-settings.ts'
import { changeFeed, createFeed } from './feeds.ts'
import { approveHeld, findFeedOfOffer, listHeld, releasePins } from './pins.ts'
import { removeFeed } from './remove-feed.ts'
import { runFeed } from './run.ts'

const world = useWorld('feed_model')
const open = createSocketOpener({
  guard: createAddressGuard({ allow: [], deny: [], allowLoopback: true }),
  proxy: null,
})
const HOLD_PPM = 500_000
const PLACES = 4
let count = 0

/** What the upstream pays, or publishers are paid, for each of two goals. */
type Pay = readonly [number, number]
/** What the feed wrote, or what is there: of what a model follows. */
type State = { name: string; pay: Pay; status: 'active' | 'paused' }
/** `paid`: by the upstream, for what was applied. `said`: by the feed in the last run. */
type Known = {
  now: State
  applied: State
  said: Pick<State, 'name' | 'pay'>
  paid: Pay
  held: Pay | null
  approved: Pay | null
}

/** From each to the next one is a small change. */
const AMOUNTS = [1, 1.4, 2, 2.8, 4]
const amount = fc.constantFrom(...AMOUNTS)
const pay = fc.tuple(amount, amount)
const lower = (one: number) => AMOUNTS[Math.max(0, AMOUNTS.indexOf(one) - 1)] ?? 1
const isSame = ([a, b]: Pay, [c, d]: Pay) => a === c && b === d
const changeOf = (before: number, after: number) => (Math.abs(after - before) / before) * 1_000_000
const isMuch = ([a, b]: Pay, [c, d]: Pay) => Math.max(changeOf(a, c), changeOf(b, d), changeOf(a + b, c + d)) > HOLD_PPM

const BAD = ['empty', 'error', 'cut', 'page', 'refusal', 'later'] as const
/** Whatever it is asked for, an upstream may send no more at once. */
const CAPPED = 2
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'run' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('bad' as const), how: fc.constantFrom(...BAD) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'preview' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'dead' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'remove' as const }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('offer' as const), n: fc.nat(PLACES - 1), name: fc.constantFrom('A', 'B'), pay }) }, // prettier-ignore
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('gone' as const), n: fc.nat(PLACES - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), n: fc.nat(PLACES - 1), name: fc.constantFrom('A', 'Mine') }) }, // prettier-ignore
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('status' as const), n: fc.nat(PLACES - 1), status: fc.constantFrom('active' as const, 'paused' as const) }) }, // prettier-ignore
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), n: fc.nat(PLACES - 1) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'approve' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('country' as const), n: fc.nat(PLACES - 1), country: fc.constantFrom('FR', 'FR+LU', 'BE') }) }, // prettier-ignore
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('share' as const), ppm: fc.constantFrom(500_000, 1_000_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lower' as const), n: fc.nat(PLACES - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('price' as const), n: fc.nat(PLACES - 1), pay }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('back' as const), n: fc.nat(PLACES - 1) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What chance alone seldom leads to: edits that are taken back, approvals that are used, pins that are released. */
const plot = fc.tuple(fc.nat(PLACES - 1), pay, pay).chain(([n, one, other]) => {
  const run: Step = { kind: 'run' }
  const offer = (is: Pay): Step => ({ kind: 'offer', n, name: 'A', pay: [...is] })
  const price: Step = { kind: 'price', n, pay: one }
  const approved: Step[] = [offer([1, 1]), run, offer([4, 4]), run, { kind: 'approve' }]
  return fc.constantFrom<Step[]>(
    [...approved, run, ...[1, 2, 3, 4].flatMap((): Step[] => [{ kind: 'lower', n }, run]), offer([4, 4]), run],
    [...approved, { kind: 'gone', n }, run, offer([4, 4]), run],
    [run, price, offer(other), run, { kind: 'back', n }, run],
    [run, price, offer(other), run, { kind: 'release', n }, run],
    [run, offer([one[1], one[0]]), run, price, run, { kind: 'release', n }, run],
    [offer([1, 4]), run, { kind: 'approve' }, run, offer([4, 1]), run],
    [...approved, { kind: 'share', ppm: 500_000 }, run],
  )
})
const history = fc.array(fc.oneof({ weight: 4, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: plot }), { minLength: 15, maxLength: 40 }).map((parts) => parts.flat()) // prettier-ignore

class Model {
  readonly upstream = new Map<number, { name: string; pay: Pay; country: string }>()
  readonly known = new Map<number, Known>()
  sharePpm = 1_000_000

  /** A complete answer. True: it changes something, or could. */
  run(): 'done' | 'refused' {
    const running = [...this.known].filter(
      ([, { now, applied }]) => now.status === 'active' && applied.status === 'active',
    )
    const gone = running.filter(([n]) => !this.upstream.has(n))
    if (this.upstream.size === 0 || (running.length > 0 && gone.length > 0 && gone.length === running.length))
      return 'refused' // fewer than four, so a few
    for (const [n, { name, pay: paid }] of this.upstream) this.#take(n, name, paid)
    for (const [, one] of gone) one.now.status = one.applied.status = 'paused'
    for (const [n, one] of this.known)
      if (!this.upstream.has(n)) Object.assign(one, { held: null, approved: null, said: { ...one.applied } })
    return 'done'
  }

  /** And added again. */
  remove(): void {
    for (const one of this.known.values()) {
      if (one.now.status === 'active') one.now.status = one.applied.status = 'paused'
      one.held = one.approved = null
    }
  }

  /** `paid`: by the upstream. */
  #take(n: number, name: string, paid: Pay): void {
    const came: State = { name, pay: [this.#payout(paid[0]), this.#payout(paid[1])], status: 'active' }
    const one = this.known.get(n)
    if (one === undefined) {
      this.known.set(n, { now: { ...came }, applied: { ...came }, said: came, paid, held: null, approved: null })
      return
    }
    const { now, applied } = one
    // What the feed has, too, is no edit. Of a goal that is edited, what the upstream pays stays.
    const isCame = isSame(now.pay, came.pay) && isSame(one.paid, paid)
    const isPinned = !isSame(now.pay, applied.pay) && !isCame
    const isApproved = one.approved !== null && isSame(one.approved, paid)
    const waits = !isPinned && !isApproved && isMuch(one.paid, paid) // only its payouts, and with them its return
    Object.assign(one, { said: came, held: waits ? paid : null, approved: null })
    if (now.name === applied.name || now.name === name) now.name = applied.name = name
    if ((now.status === applied.status || now.status === 'active') && !waits) now.status = applied.status = 'active'
    if (!waits && !isPinned) {
      now.pay = applied.pay = came.pay
      one.paid = paid
    }
  }

  #payout = (amount: number) => Math.round(amount * this.sharePpm)
}

/** Asked by offset, without a total. */
const IN_PAGES = { kind: 'offset', parameter: 'skip', size: { parameter: 'limit', value: 500 }, in: 'body' } as const
const GOALS = ['a', 'b']
const skipOf = (body: string) => (JSON.parse(body) as { skip: number }).skip

async function play(key: 'lootably' | 'trackier', isInPages: boolean, steps: readonly Step[]): Promise<void> {
  const { db } = world.database
  const upstream = new Upstream(key)
  await upstream.listen()
  try {
    const name = `Feed ${count++}`
    const { request: whole, credentials } = upstream.source
    const request = isInPages ? { ...whole, paging: IN_PAGES } : whole
    const { mapping } = upstream.preset
    const serve: Trouble = ({ body }, response) => {
      const shown = isInPages ? upstream.offers.slice(skipOf(body), skipOf(body) + CAPPED) : []
      if (isInPages) upstream.send(response, 200, { success: true, data: { offers: shown.map((item) => SHAPES[key]?.item(item)) } }) // prettier-ignore
      return isInPages
    }
    const settings = { ...FEED_DEFAULTS, maxPayoutChangePpm: HOLD_PPM }
    const create = (known: number | null, sharePpm = settings.sharePpm) => createFeed(db, TESTER, SECRET_KEY, { name, advertiserId: known, kind: { request, mapping }, credentials, settings: { ...settings, sharePpm } }) // prettier-ignore
    const { feedId: firstId, advertiserId } = await create(null)
    let feedId = firstId
    const model = new Model()
    const run = async (isPreview = false) => {
      const runId = await runFeed({ db, secretKey: SECRET_KEY, open }, TESTER, feedId, isPreview)
      return db.selectFrom('feed_runs').select(['outcome', 'message']).where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
    }
    const offersNow = async () => (await sql<{ offer_id: number; external_id: string; name: string; status: string; pay: number[] }>`
      SELECT offer_id, external_id, name, status, ARRAY (SELECT payout_micros FROM goals WHERE goals.offer_id = offers.offer_id AND NOT is_retired ORDER BY place)::float8[] AS pay
      FROM offers WHERE advertiser_id = ${advertiserId}`.execute(db)).rows // prettier-ignore
    const external = (n: number) => (key === 'lootably' ? `${n}-a` : String(n))
    const idOf = async (n: number) => (await offersNow()).find(({ external_id }) => external_id === external(n))?.offer_id // prettier-ignore
    for (const [i, one] of steps.entries()) {
      upstream.offers = [...model.upstream].map(([id, offer]) => ({ id, ...offer, payout: 0, platform: 'android', goals: GOALS.map((goal, g) => ({ id: goal, name: goal, payout: offer.pay[g]! })) })) // prettier-ignore
      upstream.trouble = serve
      const known = 'n' in one ? model.known.get(one.n) : undefined
      const offerId = 'n' in one ? await idOf(one.n) : undefined
      if (one.kind === 'run') {
        const { outcome, message } = await run()
        assert.equal(outcome, model.run(), `step ${i}: ${message}`)
      } else if (one.kind === 'preview') await run(true)
      else if (one.kind === 'bad') {
        upstream.trouble = (asked, response, page) => {
          if (one.how === 'later' && isInPages && skipOf(asked.body) === 0) return serve(asked, response, page)
          if (one.how === 'error') upstream.send(response, 500, {})
          else upstream.send(response, 200, { empty: { success: true, data: { offers: [], campaigns: [], count: 0 } }, cut: '{"success":true,"data":{"offers":[{"of', page: '<html>', refusal: { success: false }, later: { Error: 'Too many requests' } }[one.how]) // prettier-ignore
          return true
        }
        assert.match((await run()).outcome, /^(failed|refused)$/, `step ${i}: ${one.how}`)
      } else if (one.kind === 'dead')
        await db.insertInto('feed_runs').values({ feed_id: feedId, is_preview: false, beat_at: new Date(Date.now() - 600_000) }).onConflict((on) => on.doNothing()).execute() // prettier-ignore
      else if (one.kind === 'remove') {
        await removeFeed(db, TESTER, SECRET_KEY, feedId)
        model.remove()
        ;({ feedId } = await create(advertiserId, model.sharePpm))
      } else if (one.kind === 'offer')
        model.upstream.set(one.n, { name: one.name, pay: one.pay, country: model.upstream.get(one.n)?.country ?? 'FR' }) // prettier-ignore
      else if (one.kind === 'country') Object.assign(model.upstream.get(one.n) ?? {}, { country: one.country })
      else if (one.kind === 'lower') {
        const offer = model.upstream.get(one.n)
        if (offer !== undefined) offer.pay = [lower(offer.pay[0]), lower(offer.pay[1])]
      } else if (one.kind === 'gone') model.upstream.delete(one.n)
      else if (one.kind === 'share') {
        model.sharePpm = one.ppm
        await changeFeed(db, TESTER, SECRET_KEY, feedId, { settings: { ...settings, sharePpm: one.ppm } })
      } else if (one.kind === 'approve') {
        await approveHeld(db, TESTER, feedId, (await listHeld(db, feedId, '', 100)).map(({ external_id }) => external_id)) // prettier-ignore
        for (const each of model.known.values())
          if (each.held !== null) Object.assign(each, { approved: each.held, held: null })
      } else if (known !== undefined && offerId !== undefined) {
        if (one.kind === 'rename') {
          await editOffer(world, offerId, () => ({ name: one.name }))
          known.now.name = one.name
        } else if (one.kind === 'status') {
          await setOfferStatus(db, TESTER, offerId, one.status)
          known.now.status = one.status
        } else if (one.kind === 'price' || one.kind === 'back') {
          known.now.pay = one.kind === 'price' ? [one.pay[0] * 1_000_000, one.pay[1] * 1_000_000] : known.applied.pay
          const { pay: wanted } = known.now
          await editOffer(world, offerId, ({ goals }) => ({ goals: goals.map((goal, g) => ({ ...goal, payout_micros: wanted[g]! })), payout_micros: wanted[0] + wanted[1] })) // prettier-ignore
        } else {
          await releasePins(db, TESTER, offerId, ['name', 'status', 'goals'])
          Object.assign(known.applied, known.now)
        }
      }
      const held = (await listHeld(db, feedId, '', 100)).map(({ external_id }) => external_id)
      assert.deepEqual(held, [...model.known].filter(([, each]) => each.held !== null).map(([n]) => external(n)).toSorted(), `held after step ${i}, ${one.kind}`) // prettier-ignore
      const shown = (await offersNow()).map(({ external_id, name: is, pay: are, status }) => `${external_id} ${is} ${are.join()} ${status}`) // prettier-ignore
      const wanted = [...model.known].map(([n, { now }]) => `${external(n)} ${now.name} ${now.pay.join()} ${now.status}`) // prettier-ignore
      assert.deepEqual(shown.toSorted(), wanted.toSorted(), `after step ${i}, ${one.kind}`)
    }
    for (const [n, { now, applied, said }] of model.known) {
      const { pinned = [] } = (await findFeedOfOffer(db, (await idOf(n)) ?? 0)) ?? {}
      const payouts = (value: unknown) => (value as { payout: number }[]).map(({ payout }) => payout * 1_000_000)
      const found = pinned.map(({ field, feed_value }) => [field, field === 'goals' ? payouts(feed_value) : feed_value])
      const edited = [...(now.name === applied.name ? [] : [['name', said.name]]), ...(isSame(now.pay, applied.pay) ? [] : [['goals', said.pay]])] // prettier-ignore
      assert.deepEqual(found.filter(([field]) => field !== 'status'), edited, `pins of ${n} at the end`) // prettier-ignore
    }
    assert.deepEqual(await db.selectFrom('feed_staging').selectAll().execute(), [])
  } finally {
    upstream.close()
  }
}

for (const [key, isInPages] of [
  ['lootably', false],
  ['trackier', false],
  ['lootably', true],
] as const)
  test(`${key}${isInPages ? ' in pages' : ''}: after any history of answers, edits and settings, the offers of a feed are what a plain model says`, async () => {
    const [other = 0] = await world.createOffers({ name: 'Of no feed' })
    await fc.assert(
      fc.asyncProperty(history, (steps) => play(key, isInPages, steps)),
      { numRuns: 14 },
    )
    const left = await world.database.db.selectFrom('offers').select(['name', 'status']).where('offer_id', '=', other).executeTakeFirstOrThrow() // prettier-ignore
    assert.deepEqual(left, { name: 'Of no feed', status: 'active' })
  })
