// One search over everything that a person can open in the dashboard, answered while they type: each part reads a few
// pages of an index or a short table, and a few results of each kind are all there is. The lists have the rest.
import { searchAdvertisers } from '../../../features/accounts/advertisers.ts'
import { isOperatorRole } from '../../../features/accounts/people.ts'
import { readPublisher, searchPublishers } from '../../../features/accounts/publishers.ts'
import { searchApps } from '../../../features/apps/apps.ts'
import { listAppsOf } from '../../../features/apps/read-app.ts'
import { type ConversionRow, findConversion, readNames } from '../../../features/conversions/conversions.ts'
import { findConversionsOf } from '../../../features/conversions/request-trail.ts'
import { findConfirmed, listConversions } from '../../../features/conversions/search.ts'
import { readOfferNames, searchOffers } from '../../../features/offers/offers.ts'
import { idOf } from '../../../db/search.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { type FoundConversion, SearchQuery, SearchResults } from './schema.ts'

const MOST = 5 // of each kind

export function searchRoutes(routes: ManageRoutes, { db, catalogue, credentials }: ManageContext): void {
  routes.get('/search', {
    id: 'search',
    summary: 'Search everything',
    about:
      'Operators find publishers, advertisers, apps, offers (also by external ID) and conversions of the network; people of a publisher find their own apps and conversions, and offers as their users see them: by ID, or by name among the 1,000 most popular; people of an advertiser find its offers. At most five of each.',
    tag: 'Search',
    access: 'session',
    query: SearchQuery,
    reply: SearchResults,
    async run({ caller: { role, publisherId, advertiserId }, query }) {
      const text = query.q.trim()
      if (isOperatorRole(role)) {
        const [publishers, advertisers, apps, offers, conversions] = await Promise.all([
          findPublishers(text),
          searchAdvertisers(db, text, MOST),
          searchApps(db, text, null, MOST),
          searchOffers(db, { search: text }, MOST),
          findConversions(query.q, null),
        ])
        const named = offers.rows.slice(0, MOST).map(({ offer_id, name }) => ({ offer_id, name, app_id: null }))
        return { publishers, advertisers, apps, offers: named, conversions }
      }
      if (advertiserId !== null) {
        const { rows } = await searchOffers(db, { search: text, advertiserId }, MOST)
        const offers = rows.slice(0, MOST).map(({ offer_id, name }) => ({ offer_id, name, app_id: null }))
        return { publishers: [], advertisers: [], apps: [], offers, conversions: [] }
      }
      if (publisherId === null) throw notThere()
      const [apps, offers, conversions] = await Promise.all([
        searchApps(db, text, publisherId, MOST),
        findOffersOf(publisherId, query.app_id, text),
        findConversions(query.q, publisherId),
      ])
      return { publishers: [], advertisers: [], apps, offers, conversions }
    },
  })

  async function findPublishers(text: string) {
    const exact = await readPublisher(db, idOf(text))
    const others = await searchPublishers(db, { search: text }, MOST)
    const all = exact === null ? others : [exact, ...others.filter((one) => one.publisher_id !== exact.publisher_id)]
    return all.slice(0, MOST).map(({ publisher_id, name }) => ({ publisher_id, name }))
  }

  async function findOffersOf(publisherId: number, wantedApp: number | undefined, text: string) {
    const apps = await listAppsOf(db, publisherId)
    const app =
      wantedApp === undefined
        ? (apps.find(({ revoked_at }) => revoked_at === null) ?? apps[0])
        : apps.find(({ app_id }) => app_id === wantedApp)
    if (app === undefined && wantedApp !== undefined) throw notThere()
    const credential = app === undefined ? undefined : credentials.ofApp(app.app_id, false)
    if (app === undefined || credential === undefined) return []
    const { rules } = credential
    const exact = catalogue.find(idOf(text), rules)?.offer.offerId
    const found = await catalogue.searchFirst(await catalogue.list({ rules }, 'popular'), text, MOST)
    const ids = [...new Set([...(exact === undefined ? [] : [exact]), ...found])].slice(0, MOST)
    const names = new Map((await readOfferNames(db, ids)).map(({ offer_id, name }) => [offer_id, name]))
    return ids.map((offer_id) => ({ offer_id, name: names.get(offer_id) ?? '', app_id: app.app_id }))
  }

  async function findOfRequest(text: string): Promise<ConversionRow[]> {
    const ids = await findConversionsOf(db, text, MOST)
    const found = await Promise.all(ids.map((conversionId) => findConversion(db, conversionId, null)))
    return found.filter((row) => row !== null)
  }

  /** User and transaction IDs may begin or end with blanks: both as typed and without. */
  async function findConversions(typed: string, publisherId: number | null): Promise<FoundConversion[]> {
    const whose = publisherId === null ? {} : { publisherId }
    const texts = [...new Set([typed, typed.trim()])]
    const each = async (find: (text: string) => Promise<ConversionRow[]>) => (await Promise.all(texts.map(find))).flat()
    const [exact, ofUser, reported, confirmed, ofRequest] = await Promise.all([
      findConversion(db, typed.trim(), null),
      each((userId) => listConversions(db, { ...whose, userId }, MOST)),
      each((transactionId) => listConversions(db, { ...whose, transactionId }, MOST)),
      publisherId === null ? each((text) => findConfirmed(db, text, MOST)) : [], // advertisers' IDs are not for publishers
      findOfRequest(typed.trim()),
    ])
    const isOwn = (row: ConversionRow | null) =>
      row !== null && (publisherId === null || row.publisher_id === publisherId)
    const found = new Map<string, { row: ConversionRow; matched: FoundConversion['matched'] }>()
    const add = (rows: ConversionRow[], matched: FoundConversion['matched']) => {
      for (const row of rows) if (!found.has(row.conversion_id)) found.set(row.conversion_id, { row, matched })
    }
    add(exact !== null && isOwn(exact) ? [exact] : [], 'id')
    add([...reported, ...confirmed], 'transaction')
    add(ofUser, 'user')
    add(ofRequest.filter(isOwn), 'request')
    const shown = [...found.values()].slice(0, MOST)
    const names = await readNames(db, shown.map(({ row }) => row)) // prettier-ignore
    return shown.map(({ row, matched }) => ({
      conversion_id: row.conversion_id,
      app_id: row.app_id,
      app: names.get(row.conversion_id)?.app ?? '',
      offer: names.get(row.conversion_id)?.offer ?? '',
      user_id: row.user_id,
      status: row.status,
      is_test: row.is_test,
      created_at: row.created_at,
      matched,
    }))
  }
}
