// A feed of an upstream that the test plays, and what came of its runs.
import { TESTER } from '../tester.ts'
import { SECRET_KEY, type World } from '../world.ts'
import { FEED_DEFAULTS, type FeedSettings } from '../../src/features/feeds/feed-settings.ts'
import { createFeed } from '../../src/features/feeds/feeds.ts'
import type { Mapping } from '../../src/features/feeds/mapping/mapping.ts'
import { runFeed } from '../../src/features/feeds/run.ts'
import { showOffer } from '../../src/features/offers/offers.ts'
import { createAddressGuard } from '../../src/features/postbacks/address-guard.ts'
import { createSocketOpener } from '../../src/features/postbacks/open-socket.ts'
import { Upstream } from './server.ts'
import { upstreamOffer } from './shapes.ts'

/** Also to loopback, where upstreams of tests are. */
export const openSocket = createSocketOpener({
  guard: createAddressGuard({ allow: [], deny: [], allowLoopback: true }),
  proxy: null,
})

export const NO_CHANGES = {
  fetched: 0,
  created: 0,
  changed: 0,
  unchanged: 0,
  paused: 0,
  resumed: 0,
  held: 0,
  skipped: 0,
}

type Given = { settings?: Partial<FeedSettings>; offers?: number; preset?: string; mapping?: Partial<Mapping> }

let count = 0

export async function createTestFeed(world: World, { settings = {}, offers = 10, preset = 'everflow', mapping = {} }: Given = {}) {
  const { db } = world.database
  const upstream = await new Upstream(preset).open()
  upstream.offers = Array.from({ length: offers }, (_, n) => upstreamOffer(n))
  const { request, credentials } = upstream.source
  const kind = { request, mapping: { ...upstream.preset.mapping, ...mapping } }
  const { feedId, advertiserId } = await createFeed(db, TESTER, SECRET_KEY, { name: `Feed ${count++}`, advertiserId: null, kind, credentials, settings: { ...FEED_DEFAULTS, ...settings } }) // prettier-ignore
  const run = async (isPreview = false) => {
    const runId = await runFeed({ db, secretKey: SECRET_KEY, open: openSocket }, TESTER, feedId, isPreview)
    const { outcome, message, fetched, created, changed, unchanged, paused, resumed, held, skipped } = await db.selectFrom('feed_runs').selectAll().where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
    return {
      runId: runId ?? 0,
      outcome,
      message,
      counts: { fetched, created, changed, unchanged, paused, resumed, held, skipped },
    }
  }
  const offersNow = () => db.selectFrom('offers').select(['offer_id', 'external_id', 'name', 'payout_micros', 'status']).where('advertiser_id', '=', advertiserId).orderBy('external_id').execute() // prettier-ignore
  /** Offer n of the upstream. */
  const ofFeed = async (n: number) => {
    const { offer_id } = await db.selectFrom('feed_offers').select('offer_id').where('feed_id', '=', feedId).where('external_id', 'like', `${1_000 + n}%`).executeTakeFirstOrThrow() // prettier-ignore
    return showOffer(db, offer_id)
  }
  return { upstream, feedId, advertiserId, run, offersNow, ofFeed }
} // prettier-ignore
