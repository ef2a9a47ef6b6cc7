// The operator's offers: finding, creating, changing, pausing and copying them, and their history.
import { AppError } from '../../../errors.ts'
import { findAdvertiserName } from '../../../features/accounts/advertisers.ts'
import { searchAuditEntries } from '../../../features/accounts/audit.ts'
import { changeOffer, createOffer } from '../../../features/offers/edit-offers.ts'
import {
  type FoundOffer,
  type OfferFilter,
  searchOffers,
  setOfferStatus,
  setOfferStatuses,
} from '../../../features/offers/offers.ts'
import { storeImage } from '../../../features/offers/images.ts'
import { MAX_IMAGE_BYTES } from '../../../lib/image-format.ts'
import { warningsOf } from '../../../features/offers/offer-warnings.ts'
import type { ReportFigures } from '../../../features/reports/network-report.ts'
import { addFigures, MAX_RANKED, rankOffers } from '../../../features/reports/offer-figures.ts'
import { beforeId } from '../../../http/paging.ts'
import { parseTime } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { Image, NewImage } from '../../image-shapes.ts'
import { OK, Ok } from '../../shapes.ts'
import { importRoutes } from './import.ts'
import { readOffer } from '../../../features/offers/import-record.ts'
import { getOffer, presentSummary } from '../../offer-record.ts'
import { presentOffer, presentRecord } from './record.ts'
import {
  ChangedOffer,
  CopiedOffer,
  HistoryQuery,
  MadeOffer,
  NewOffer,
  NewStatus,
  OfferHistory,
  OfferPage,
  OfferParams,
  OfferSearch,
  ShownOffer,
  StatusChange,
} from './schema.ts'

const TAG = 'Offers of the network'
const LIMIT = 20

export function offersRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, refresh } = context

  routes.get('/offers', {
    id: 'searchOffers',
    summary: 'Search all offers',
    about: 'Newest first, or by a figure of the last 30 days. Search by name, ID or external ID.',
    tag: TAG,
    access: 'operator',
    query: OfferSearch,
    reply: OfferPage,
    async run({ query }) {
      const { limit = LIMIT, sort = 'newest', order, with: more, cursor } = query
      const now = new Date()
      const present = (offer: FoundOffer & { figures?: ReportFigures }) => ({
        ...presentSummary(offer, now),
        figures: offer.figures ?? null,
      })
      if (sort === 'newest') {
        const { rows, next } = await searchOffers(db, { ...filterOf(query), ...beforeId(cursor) }, limit)
        return { offers: (more === 'figures' ? await addFigures(db, rows, now) : rows).map(present), next_cursor: next }
      }
      const offset = Number(cursor ?? 0)
      if (offset > MAX_RANKED - limit) throw tooFar()
      const ranking = { sort, isAscending: order === 'asc', offset, limit }
      const ranked = await rankOffers(db, filterOf(query), ranking, now)
      const end = offset + limit
      const hasNext = ranked.length > limit && end <= MAX_RANKED - limit
      return { offers: ranked.slice(0, limit).map(present), next_cursor: hasNext ? String(end) : null }
    },
  })

  routes.get('/offers/:offer_id', {
    id: 'showOffer',
    summary: 'Get an offer',
    about: 'All fields of the offer, with the usage of its caps and warnings about its settings.',
    tag: TAG,
    access: 'operator',
    params: OfferParams,
    reply: ShownOffer,
    run: async ({ params }) => presentOffer(db, await getOffer(db, params.offer_id), new Date()),
  })

  routes.post('/offers', {
    id: 'createOffer',
    summary: 'Create an offer',
    about: 'Goals and their payouts are part of the offer. Fields that you leave out get their defaults.',
    tag: TAG,
    access: 'operator',
    body: NewOffer,
    reply: MadeOffer,
    async run({ body, by }) {
      const { advertiser_id, ...fields } = body
      const advertiser = await findAdvertiserName(db, advertiser_id)
      if (advertiser === null)
        throw new AppError('INVALID_REQUEST', 'There is no such advertiser.', {
          advertiser_id: 'No advertiser has this id.',
        })
      const offer = readOffer({ ...fields, advertiser })
      const offerId = await createOffer(db, by, { advertiserId: advertiser_id, offer }, new Date())
      await refresh()
      return { offer_id: offerId, warnings: warningsOf(offer.goals) }
    },
  })

  routes.put('/offers/:offer_id', {
    id: 'changeOffer',
    summary: 'Replace an offer',
    about: 'Fields that you leave out get their defaults. Clicks keep the terms that applied when they were made.',
    tag: TAG,
    access: 'operator',
    params: OfferParams,
    body: ChangedOffer,
    reply: ShownOffer,
    async run({ params, body, by }) {
      const { seen_updated_at, ...fields } = body
      const { offer_id: offerId, external_id, advertiser } = await getOffer(db, params.offer_id)
      const offer = readOffer({ ...fields, external_id, advertiser })
      const seen = seen_updated_at === undefined ? undefined : parseTime(seen_updated_at)
      await changeOffer(db, by, { offerId, offer, seen }, new Date())
      await refresh()
      return presentOffer(db, await getOffer(db, params.offer_id), new Date())
    },
  })

  for (const [verb, status, summary, about] of [
    ['pause', 'paused', 'Pause an offer', 'Removes it from all lists. Earlier clicks can still convert.'],
    ['resume', 'active', 'Resume an offer', 'Puts a paused offer back on the lists.'],
  ] as const)
    routes.post(`/offers/:offer_id/${verb}`, {
      id: `${verb}Offer`,
      summary,
      about,
      tag: TAG,
      access: 'operator',
      params: OfferParams,
      reply: Ok,
      async run({ params, by }) {
        await getOffer(db, params.offer_id)
        await setOfferStatus(db, by, params.offer_id, status)
        await refresh()
        return OK
      },
    })

  routes.post('/offers/status', {
    id: 'setOfferStatuses',
    summary: 'Pause or resume several offers',
    about: 'All or none. Offers that have the status already stay as they are.',
    tag: TAG,
    access: 'operator',
    body: NewStatus,
    reply: StatusChange,
    async run({ body: { offer_ids, status }, by }) {
      const change = await setOfferStatuses(db, by, offer_ids, status)
      await refresh()
      return change
    },
  })

  routes.post('/offers/:offer_id/duplicate', {
    id: 'duplicateOffer',
    summary: 'Duplicate an offer',
    about: 'Creates a paused copy under the same advertiser, with a new external ID.',
    tag: TAG,
    access: 'operator',
    params: OfferParams,
    body: CopiedOffer,
    reply: MadeOffer,
    async run({ params, body, by }) {
      const original = await getOffer(db, params.offer_id)
      const offer = readOffer({
        ...presentRecord(original),
        name: body.name ?? original.name,
        external_id: body.external_id,
        status: 'paused',
      })
      const details = { copy_of: params.offer_id }
      const offerId = await createOffer(db, by, { advertiserId: original.advertiser_id, offer, details }, new Date())
      await refresh()
      return { offer_id: offerId, warnings: warningsOf(offer.goals) }
    },
  })

  routes.get('/offers/:offer_id/history', {
    id: 'listOfferChanges',
    summary: 'List the changes of an offer',
    about: 'Who changed what, by hand or by an import, with values before and after.',
    tag: TAG,
    access: 'operator',
    params: OfferParams,
    query: HistoryQuery,
    reply: OfferHistory,
    async run({ params, query: { limit = LIMIT, cursor } }) {
      await getOffer(db, params.offer_id)
      const filter = { action: 'offer.', subject: String(params.offer_id), ...beforeId(cursor) }
      const { rows: page, next } = await searchAuditEntries(db, filter, limit)
      return {
        changes: page.map(({ audit_id, created_at, who, action, details }) => ({
          audit_id,
          created_at,
          who,
          action,
          fields: changedFields(details),
        })),
        next_cursor: next,
      }
    },
  })

  routes.post('/images', {
    id: 'uploadImage',
    summary: 'Upload an image',
    about:
      'Stores a picture and returns its path, an `image_url` for offers or the logo of the network. SVG is refused.',
    tag: TAG,
    access: 'operator',
    body: NewImage,
    reply: Image,
    bodyLimit: 2 * MAX_IMAGE_BYTES, // base64 is longer
    run: ({ by, body }) => storeImage(db, by, Buffer.from(body.content, 'base64')),
  })

  importRoutes(routes, context)
}

const tooFar = () =>
  new AppError('INVALID_REQUEST', 'This list ends here.', {
    cursor: `At most ${MAX_RANKED} offers can be sorted by a figure. Add a filter.`,
  })

type Search = { search?: string; status?: string; advertiser_id?: number; category?: string }

function filterOf({ search, status, advertiser_id, category }: Search): OfferFilter {
  return {
    ...(search === undefined ? {} : { search: search.trim() }),
    ...(status === undefined ? {} : { status }),
    ...(advertiser_id === undefined ? {} : { advertiserId: advertiser_id }),
    ...(category === undefined ? {} : { category }),
  }
}

function changedFields(details: unknown) {
  const { changes = {} } = details as { changes?: Record<string, { before: unknown; after: unknown }> }
  return Object.entries(changes).map(([field, change]) => ({ field, before: change.before, after: change.after }))
}
