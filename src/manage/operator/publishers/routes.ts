// Publishers as the operator sees them: who they are, what they are owed, and what their apps are allowed.
import {
  createPublisher,
  readPublisher,
  searchPublishers,
  setPublisherEmail,
} from '../../../features/accounts/publishers.ts'
import { distrustApp, listAllowances, listTrust, setRateLimit, trustApp } from '../../../features/apps/trust.ts'
import { readLastTimes } from '../../../features/conversions/conversions.ts'
import { readBalances, readOwed } from '../../../features/ledger/ledger.ts'
import { beforeId, cutPage } from '../../../http/paging.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams, OK, Ok, PublisherParams } from '../../shapes.ts'
import {
  ChangedPublisher,
  MadePublisher,
  NewPublisher,
  NewRateLimit,
  PublisherList,
  PublisherListQuery,
  PublisherReply,
  TrustChange,
  TrustChanged,
  TrustList,
  TrustQuery,
} from './schema.ts'

const TAG = 'Publishers'

export function publisherRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db } = context

  routes.get('/publishers', {
    id: 'listPublishers',
    summary: 'List publishers',
    about: 'With status and payable balance. Search by name.',
    tag: TAG,
    access: 'operator',
    query: PublisherListQuery,
    reply: PublisherList,
    async run({ query: { search, status, cursor, limit = 20 } }) {
      const filter = {
        ...(search === undefined ? {} : { search }),
        ...(status === undefined ? {} : { status }),
        ...beforeId(cursor),
      }
      const found = await searchPublishers(db, filter, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, (one) => String(one.publisher_id))
      const ids = page.map((one) => one.publisher_id)
      const [last, owed] = [await readLastTimes(db, ids), await readOwed(db, ids)]
      const publishers = page.map(({ apps, ...one }) => {
        const { pendingMicros = 0, payableMicros = 0 } = owed.get(one.publisher_id) ?? {}
        const money = { pending: microsToUsd(pendingMicros), payable: microsToUsd(payableMicros) }
        return { ...one, apps: apps ?? 0, ...money, last_conversion_at: last.get(one.publisher_id) ?? null }
      })
      return { publishers, next_cursor: nextCursor }
    },
  })

  routes.post('/publishers', {
    id: 'createPublisher',
    summary: 'Create a publisher',
    about: 'Names are unique. Add people and apps next.',
    tag: TAG,
    access: 'operator',
    body: NewPublisher,
    reply: MadePublisher,
    async run({ body: { name, email = null }, by }) {
      return createPublisher(db, by, name.trim(), email)
    },
  })

  routes.get('/publishers/:publisher_id', {
    id: 'getPublisher',
    summary: 'Get a publisher',
    about: 'One publisher with its apps and balances.',
    tag: TAG,
    access: 'operator',
    params: PublisherParams,
    reply: PublisherReply,
    async run({ publisherId }) {
      const publisher = await readPublisher(db, publisherId)
      if (publisher === null) throw notThere('There is no such publisher.')
      const [apps, money, last] = await Promise.all([
        listAllowances(db, publisherId),
        readMoney(publisherId),
        readLastTimes(db, [publisherId]),
      ])
      return {
        ...publisher,
        ...money,
        last_conversion_at: last.get(publisherId) ?? null,
        apps: apps.map(({ rate_micros, trusted_offers, ...app }) => ({
          ...app,
          rate: microsToUsd(rate_micros),
          trusted_offers: trusted_offers ?? 0,
        })),
      }
    },
  })

  routes.patch('/publishers/:publisher_id', {
    id: 'changePublisher',
    summary: "Set a publisher's notification address",
    about: 'Delivery problems and other notices are mailed there.',
    tag: TAG,
    access: 'operator',
    sensitive: true,
    params: PublisherParams,
    body: ChangedPublisher,
    reply: Ok,
    async run({ publisherId, body: { email }, by }) {
      if ((await readPublisher(db, publisherId)) === null) throw notThere('There is no such publisher.')
      await setPublisherEmail(db, by, publisherId, email)
      return OK
    },
  })

  routes.put('/apps/:app_id/rate-limit', {
    id: 'setRateLimit',
    summary: 'Set the rate limit of an app',
    about: 'Requests per minute for each key of the app.',
    tag: TAG,
    access: 'operator',
    params: AppParams,
    body: NewRateLimit,
    reply: Ok,
    async run({ app: { appId }, body: { rate_limit }, by }) {
      await setRateLimit(db, by, appId, rate_limit)
      await context.refresh()
      return OK
    },
  })

  routes.get('/apps/:app_id/trust', {
    id: 'listTrust',
    summary: 'List offers with their trust',
    about: 'For which offers conversions that the app reports are approved without a confirmation of the advertiser.',
    tag: TAG,
    access: 'operator',
    params: AppParams,
    query: TrustQuery,
    reply: TrustList,
    async run({ app: { appId }, query: { search, trusted, cursor, limit = 20 } }) {
      const filter = {
        ...(search === undefined ? {} : { search }),
        ...(trusted === undefined ? {} : { isTrusted: trusted === 'yes' }),
        ...beforeId(cursor),
      }
      const { rows, next } = await listTrust(db, appId, filter, limit)
      return { offers: rows, next_cursor: next }
    },
  })

  routes.post('/apps/:app_id/trust', {
    id: 'changeTrust',
    summary: 'Change trust for offers',
    about: 'Approve what the app reports for these offers without a confirmation of the advertiser, or stop doing so.',
    tag: TAG,
    access: 'operator',
    params: AppParams,
    body: TrustChange,
    reply: TrustChanged,
    async run({ app: { appId }, body: { trusted, offer_ids }, by }) {
      return { changed: await (trusted ? trustApp : distrustApp)(db, by, appId, offer_ids ?? 'all') }
    },
  })

  async function readMoney(publisherId: number) {
    const { pendingMicros, payableMicros, paidMicros } = await readBalances(db, { publisherId })
    return {
      pending: microsToUsd(pendingMicros),
      payable: microsToUsd(payableMicros),
      paid: microsToUsd(paidMicros),
    }
  }
}
