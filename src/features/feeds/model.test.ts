// Any history of an upstream that is good, bad and strange, an operator who edits, pauses, approves and changes settings,
// and workers that die: after each step the offers are as a plain model says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
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
import { approveHeld, listHeld, releasePins } from './pins.ts'
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

/** What the feed wrote, or what is there: of what a model follows. */
type State = { name: string; payout: number; status: 'active' | 'paused' }
type Known = { now: State; applied: State; paid: number; hash: string; held: string | null; approved: string | null }

const BAD = ['empty', 'error', 'cut', 'page', 'refusal', 'later'] as const
/** Whatever it is asked for, an upstream may send no more at once. */
const CAPPED = 2
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'run' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('bad' as const), how: fc.constantFrom(...BAD) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'preview' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'dead' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'remove' as const }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('offer' as const), n: fc.nat(PLACES - 1), name: fc.constantFrom('A', 'B'), payout: fc.constantFrom(1, 1.2, 4) }) }, // prettier-ignore
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
)

class Model {
  readonly upstream = new Map<number, { name: string; payout: number; country: string }>()
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
    for (const [n, { name, payout, country }] of this.upstream) this.#take(n, name, payout, country)
    for (const [, one] of gone) one.now.status = one.applied.status = 'paused'
    for (const [n, one] of this.known) if (!this.upstream.has(n)) one.held = null
    return 'done'
  }

  /** And added again. */
  remove(): void {
    for (const one of this.known.values()) {
      if (one.now.status === 'active') one.now.status = one.applied.status = 'paused'
      one.held = null
    }
  }

  /** `paid`: by the upstream. */
  #take(n: number, name: string, paid: number, country: string): void {
    const payout = (paid * this.sharePpm) / 1_000_000
    const hash = `${name} ${payout} ${country}`
    const came: State = { name, payout, status: 'active' }
    const one = this.known.get(n)
    if (one === undefined) {
      this.known.set(n, { now: { ...came }, applied: { ...came }, paid, hash, held: null, approved: null })
      return
    }
    const { now, applied } = one
    if (one.hash === hash && applied.status === 'active') {
      one.held = null
      return
    }
    if (now.name === applied.name) now.name = applied.name = name
    if ((Math.abs(paid - one.paid) / one.paid) * 1_000_000 > HOLD_PPM && one.approved !== hash) {
      Object.assign(one, { hash: '', held: hash }) // only its payout waits, and with it its return
      return
    }
    if (now.status === applied.status) now.status = applied.status = 'active'
    now.payout = applied.payout = payout
    Object.assign(one, { paid, hash, held: null })
  }
}

/** Asked by offset, without a total. */
const IN_PAGES = { kind: 'offset', parameter: 'skip', size: { parameter: 'limit', value: 500 }, in: 'body' } as const
const skipOf = (body: string) => (JSON.parse(body) as { skip: number }).skip

type Steps = readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]

async function play(key: 'lootably' | 'trackier', isInPages: boolean, steps: Steps): Promise<void> {
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
    const offersNow = () => db.selectFrom('offers').select(['offer_id', 'external_id', 'name', 'payout_micros', 'status']).where('advertiser_id', '=', advertiserId).execute() // prettier-ignore
    const external = (n: number) => (key === 'lootably' ? `${n}-a` : String(n))
    const idOf = async (n: number) => (await offersNow()).find(({ external_id }) => external_id === external(n))?.offer_id // prettier-ignore
    for (const [i, one] of steps.entries()) {
      upstream.offers = [...model.upstream].map(([id, offer]) => ({ id, ...offer, platform: 'android', goals: [] })) // prettier-ignore
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
        model.upstream.set(one.n, { name: one.name, payout: one.payout, country: model.upstream.get(one.n)?.country ?? 'FR' }) // prettier-ignore
      else if (one.kind === 'country') Object.assign(model.upstream.get(one.n) ?? {}, { country: one.country })
      else if (one.kind === 'gone') model.upstream.delete(one.n)
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
        } else {
          await releasePins(db, TESTER, offerId, ['name', 'status'])
          const isPinned = known.now.name !== known.applied.name || known.now.status !== known.applied.status
          Object.assign(known.applied, { name: known.now.name, status: known.now.status })
          if (isPinned) known.hash = ''
        }
      }
      const held = (await listHeld(db, feedId, '', 100)).map(({ external_id }) => external_id)
      assert.deepEqual(held, [...model.known].filter(([, each]) => each.held !== null).map(([n]) => external(n)).toSorted(), `held after step ${i}, ${one.kind}`) // prettier-ignore
      const shown = (await offersNow()).map(({ external_id, name: is, payout_micros, status }) => `${external_id} ${is} ${payout_micros} ${status}`) // prettier-ignore
      const wanted = [...model.known].map(([n, { now }]) => `${external(n)} ${now.name} ${Math.round(now.payout * 1_000_000)} ${now.status}`) // prettier-ignore
      assert.deepEqual(shown.toSorted(), wanted.toSorted(), `after step ${i}, ${one.kind}`)
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
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => play(key, isInPages, steps)),
      { numRuns: 14 },
    )
    const left = await world.database.db.selectFrom('offers').select(['name', 'status']).where('offer_id', '=', other).executeTakeFirstOrThrow() // prettier-ignore
    assert.deepEqual(left, { name: 'Of no feed', status: 'active' })
  })
