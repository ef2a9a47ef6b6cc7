// Advertisers' calls: their outcome, and processing them again.
import { findAdvertiserName } from '../../../features/accounts/advertisers.ts'
import { openCountryFinder } from '../../../features/clicks/geo.ts'
import { type CallFilter, findCall, searchCalls } from '../../../features/conversions/inbound/calls.ts'
import { reprocessCalls } from '../../../features/conversions/inbound/confirm.ts'
import type { CallOutcome } from '../../../features/conversions/inbound/inbound-call.ts'
import { dismissCalls } from '../../../features/conversions/inbound/open-calls.ts'
import { isUuid } from '../../../lib/uuid7.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AdvertiserParams } from '../../shapes.ts'
import { CallPage, CallSearch, Dismissed, OwnCallSearch, Reprocess, Reprocessed } from './schema.ts'

const TAG = 'Advertisers of the network'
const LIMIT = 20

export function callRoutes(routes: ManageRoutes, { db, applyCommand, config }: ManageContext): void {
  routes.get('/inbound-calls', {
    id: 'listInboundCalls',
    summary: 'List advertiser callbacks',
    about: 'What advertisers sent, and the outcome, newest first. Tokens are masked.',
    tag: TAG,
    access: 'operator',
    query: CallSearch,
    reply: CallPage,
    run: ({ query }) => list(query),
  })

  routes.get('/advertisers/:advertiser_id/inbound-calls', {
    id: 'listCallbacksOfAdvertiser',
    summary: 'List the callbacks of an advertiser',
    about: 'What the advertiser’s system sent and how it was read, newest first. Tokens are masked.',
    tag: 'Advertiser account',
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnCallSearch,
    reply: CallPage,
    run: ({ params: { advertiser_id }, query }) => list({ ...query, advertiser_id }),
  })

  routes.post('/inbound-calls/reprocess', {
    id: 'reprocessInboundCalls',
    summary: 'Process callbacks again',
    about:
      'Oldest first. A callback with a wrong token is refused again; one from an IP address that is now allowed is accepted.',
    tag: TAG,
    access: 'operator',
    body: Reprocess,
    reply: Reprocessed,
    async run({ body, by, request }) {
      const ids = [...new Set(body.inbound_ids)].toSorted() // their ids are in the order in which they came
      const calls = await Promise.all(ids.map((inboundId) => findCall(db, inboundId)))
      if (calls.includes(null)) throw notThere('There is no such callback.')
      const countries = await openCountryFinder({ file: config.geoipDb, log: request.log })
      try {
        const options = { applyCommand, countryOf: (ip: string) => countries.find(ip) }
        const found = calls.filter((call) => call !== null)
        return { results: await reprocessCalls(db, by, found, options) }
      } finally {
        countries.close()
      }
    },
  })

  routes.post('/inbound-calls/dismiss', {
    id: 'dismissInboundCalls',
    summary: 'Dismiss callbacks',
    about: 'Removes them from the list of those that need attention. The log keeps them.',
    tag: TAG,
    access: 'operator',
    body: Reprocess,
    reply: Dismissed,
    async run({ body, by }) {
      return { dismissed: await dismissCalls(db, by, body.inbound_ids.filter(isUuid)) }
    },
  })

  async function list({ limit = LIMIT, ...query }: Search & { limit?: number }) {
    if (query.inbound_id !== undefined && !isUuid(query.inbound_id)) return { calls: [], next_cursor: null }
    const { rows: page, next } = await searchCalls(db, filterOf(query), limit)
    const names = await namesOf([...new Set(page.flatMap(({ advertiser_id }) => advertiser_id ?? []))])
    return {
      calls: page.map((call) => ({
        ...call,
        outcome: call.outcome as CallOutcome['outcome'],
        advertiser: names.get(call.advertiser_id) ?? null,
      })),
      next_cursor: next,
    }
  }

  async function namesOf(advertiserIds: number[]): Promise<Map<number | null, string | null>> {
    const names = advertiserIds.map(async (id): Promise<[number, string | null]> => [
      id,
      await findAdvertiserName(db, id),
    ])
    return new Map(await Promise.all(names))
  }
}

type Search = {
  outcome?: string
  open?: 'yes'
  advertiser_id?: number
  click_id?: string
  inbound_id?: string
  cursor?: string
}

function filterOf({ outcome, open, advertiser_id, click_id, inbound_id, cursor }: Search): CallFilter {
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(open === undefined ? {} : { isOpen: true }),
    ...(advertiser_id === undefined ? {} : { advertiserId: advertiser_id }),
    ...(click_id === undefined ? {} : { clickId: click_id.trim().toLowerCase() }),
    ...(inbound_id === undefined ? {} : { inboundId: inbound_id }),
    ...(cursor === undefined ? {} : { before: cursor }),
  }
}
