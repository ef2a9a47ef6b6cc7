// Testing an advertiser's postback: a test click, then the call of its system. Tests move no money.
//
// A test is its click's user, so nothing is stored for it: click, call and conversion say how far it is.
import { requireTesterApp, findTesterApp } from '../../../features/apps/tester-app.ts'
import { type ListedClick, searchClicks } from '../../../features/clicks/clicks.ts'
import { findConversion, readNames } from '../../../features/conversions/conversions.ts'
import { type CallRow, searchCalls } from '../../../features/conversions/inbound/calls.ts'
import type { CallOutcome } from '../../../features/conversions/inbound/inbound-call.ts'
import { createLinkSigner } from '../../../features/offers/links.ts'
import { findOffers, type RecordedOffer } from '../../../features/offers/offers.ts'
import { postbackUrl } from '../../../features/offers/postback-urls.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import { TOKEN_PLACE } from '../../callback-shapes.ts'
import { AdvertiserParams } from '../../shapes.ts'
import type { ManageRoutes } from '../../route.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import { getOwnOffer } from '../own.ts'
import { NewPostbackTest, PostbackTest, PostbackTestParams, StartedPostbackTest } from './schema.ts'

const TAG = 'Advertiser account'
const LATEST = 50
const NOT_UNDERSTOOD = ['unmatched', 'invalid', 'refused']

export function advertiserTestRoutes(routes: ManageRoutes, { db, secretKey, config, refresh }: ManageContext): void {
  const links = createLinkSigner(secretKey)

  routes.post('/advertisers/:advertiser_id/postback-tests', {
    id: 'startAdvertiserTest',
    summary: "Start a test of an advertiser's postback",
    about: 'Returns a link for a test click. No money is involved, and tests are excluded from reports.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    body: NewPostbackTest,
    reply: StartedPostbackTest,
    async run({ params: { advertiser_id }, body: { offer_id }, by, request }) {
      await getOwnOffer(db, advertiser_id, offer_id)
      const isKnown = (await findTesterApp(db)) !== null
      const appId = await requireTesterApp(db, by, secretKey)
      if (!isKnown) await refresh()
      const now = Date.now()
      const userId = uuid7(now)
      const issuedAt = Math.floor(now / 1000)
      const token = links.sign({ appId, isTest: true, issuedAt, requestId: request.id, userId, subIds: null })
      return { test_id: userId, link: `${config.publicUrl}/c/${offer_id}/${token}` }
    },
  })

  routes.get('/advertisers/:advertiser_id/postback-tests/:test_id', {
    id: 'getAdvertiserTest',
    summary: "Get a test of an advertiser's postback",
    about: 'Its progress: the click, the latest callback for that click, and the resulting conversion.',
    tag: TAG,
    access: 'advertiser',
    params: PostbackTestParams,
    reply: PostbackTest,
    async run({ params: { advertiser_id, test_id } }) {
      await findAdvertiserOf(db, advertiser_id)
      const appId = await findTesterApp(db)
      if (appId === null) throw notThere('There is no such test.')
      const { rows } = await searchClicks(db, { appId, userId: test_id, isTest: true }, 1)
      const [click] = rows
      const [offer] = click === undefined ? [] : await findOffers(db, [click.offer_id])
      // The same for a test of another advertiser and for one whose link has not been followed.
      if (click === undefined || offer?.advertiser_id !== advertiser_id)
        return { test_id, click: null, call: null, conversion: null }
      const call = await findCallAbout(advertiser_id, click.click_id)
      return {
        test_id,
        click: await presentClick(offer, click),
        call: call === undefined ? null : presentCall(call),
        conversion: await presentConversion(advertiser_id, call?.conversion_id ?? null),
      }
    },
  })

  /** The log knows the click only of calls that could be read: the others are found by their text among the latest. */
  async function findCallAbout(advertiserId: number, clickId: string): Promise<CallRow | undefined> {
    const { rows: read } = await searchCalls(db, { advertiserId, clickId }, 1)
    const { rows: latest } = await searchCalls(db, { advertiserId }, LATEST)
    const unread = latest.find(({ query, body }) => `${query} ${body}`.toLowerCase().includes(clickId))
    return [...read, ...(unread === undefined ? [] : [unread])].toSorted((a, b) =>
      a.inbound_id < b.inbound_id ? 1 : -1,
    )[0]
  }

  async function presentClick(offer: RecordedOffer, { click_id, clicked_at, offer_id }: ListedClick) {
    const goal = offer.goals.find(({ is_retired }) => !is_retired)
    if (goal === undefined) throw new Error(`Offer ${offer_id} has no goals.`)
    const target = { publicUrl: config.publicUrl, token: TOKEN_PLACE, goal, goals: offer.goals }
    const url = postbackUrl(await findAdvertiserOf(db, offer.advertiser_id), target)
    const filled = url
      .replace('{click_id}', click_id)
      .replace('{txn_id}', `test-${click_id.slice(-12)}`)
      .replace('{amount}', '10')
    return { click_id, clicked_at, offer_id, callback_url: filled }
  }

  async function presentConversion(advertiserId: number, conversionId: string | null) {
    const found = conversionId === null ? null : await findConversion(db, conversionId, null)
    if (found === null || found.advertiser_id !== advertiserId || !found.is_test) return null
    const goal = (await readNames(db, [found])).get(found.conversion_id)?.goal ?? ''
    const { conversion_id, status, revenue_micros } = found
    return { conversion_id, status, goal, spend: microsToUsd(revenue_micros) }
  }
}

const presentCall = ({ received_at, method, query, body, outcome, reason }: CallRow) => ({
  received_at,
  method,
  query: query === '' ? body : query,
  outcome: outcome as CallOutcome['outcome'],
  reason,
  is_understood: !NOT_UNDERSTOOD.includes(outcome),
})
