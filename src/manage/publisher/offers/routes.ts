// What the users of an app would see, from the same lists that they are answered from; and what its publisher does not
// want them to see.
import type { Static } from 'typebox'
import { AppError } from '../../../errors.ts'
import { readContentRules, setContentRules, tidyKeywords } from '../../../features/apps/content-rules.ts'
import { currencyAt } from '../../../features/apps/credentials.ts'
import { showCaps } from '../../../features/offers/caps.ts'
import type { Catalogue } from '../../../features/offers/catalogue.ts'
import type { ShownOffer } from '../../../features/offers/shown-offers.ts'
import type { Filter } from '../../../features/offers/filters.ts'
import { recommendedTo } from '../../../features/offers/offer-answers.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { type Currency, fillPayouts, TOKEN } from '../../../features/offers/offer-text.ts'
import { readFiguresInApp } from '../../../features/reports/offer-figures.ts'
import { VisibilityReply } from '../../../features/offers/schema.ts'
import { explainVisibility } from '../../../features/offers/visibility.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import {
  type AppOffer,
  AppOfferList,
  AppOfferQuery,
  AppOfferReply,
  ContentRules,
  MAX_KEYWORD,
  MAX_KEYWORDS,
  type Mode,
  NewContentRules,
  OfferOfAppParams,
  WhyOfAppQuery,
} from './schema.ts'

const TAG = 'Offers of an app'
/** What does not keep its publisher from reading about an offer: it opens again, or they can allow it themselves. */
const HARMLESS = new Set(['full', 'content', 'reward'])
const CAP_STATES = { no: 'open', today: 'full_today', 'for good': 'full' } as const

export function appOfferRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, catalogue, completions, credentials } = context

  async function credentialOf(appId: number, mode: Mode = 'live') {
    const find = () => credentials.ofApp(appId, mode === 'test')
    if (find() === undefined) await context.refresh() // another process created it a moment ago
    const found = find()
    if (found === undefined) throw notThere()
    return found
  }

  const completedBy = async (appId: number, mode: Mode = 'live', userId?: string) =>
    userId === undefined ? [] : completions.of({ appId, isTest: mode === 'test', userId })

  routes.get('/apps/:app_id/offers', {
    id: 'listOffersOfApp',
    summary: 'List offers as users of an app see them',
    about:
      'The same list that the offers API returns, or in the order of the wall, without links. Add a user, country or platform to see it as they do.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: AppOfferQuery,
    reply: AppOfferList,
    async run({ app: { appId }, query }) {
      const { mode, user_id, search, sort = 'popular', limit = 20, offset = 0 } = query
      const credential = await credentialOf(appId, mode)
      const { rules } = credential
      const currency = currencyAt(credential, Date.now())
      if (user_id !== undefined && credentials.isBanned(credential, user_id))
        return { offers: [], total: 0, limit, offset, has_more: false }
      const filter: Filter = { rules }
      if (query.country !== undefined) filter.country = query.country.toUpperCase()
      if (query.platform !== undefined) filter.platform = query.platform
      if (query.category !== undefined) filter.category = query.category
      const completed = catalogue.completedOffers(await completedBy(appId, mode, user_id))
      const isRanked = sort === 'recommended'
      const wanted = isRanked ? recommendedTo(credential, { userId: user_id ?? '' }, Date.now()) : sort
      const list = await catalogue.list(filter, wanted)
      const hidden = catalogue.within(list, completed)
      const { offers, total } =
        search === undefined
          ? await catalogue.slice(list, hidden, { offset, limit })
          : await catalogue.search(list, hidden, search, { offset, limit })
      const ids = query.with === 'figures' ? offers.map(({ offerId }) => offerId) : []
      const figures = await readFiguresInApp(db, appId, ids, new Date())
      return {
        offers: offers.map((offer, i) => ({
          ...presentOffer(offer, currency),
          ...(figures[i] === undefined ? {} : { figures: figures[i] }),
          ...(isRanked ? { rank: presentRank(catalogue, offer.offerId, filter) } : {}),
        })),
        total,
        limit,
        offset,
        has_more: offset + limit < total,
      }
    },
  })

  routes.get('/apps/:app_id/offers/:offer_id', {
    id: 'getOfferOfApp',
    summary: 'Get an offer and its visibility in an app',
    about: 'Says whether users of the app can see the offer, and all reasons if they cannot.',
    tag: TAG,
    access: 'publisher',
    params: OfferOfAppParams,
    reply: AppOfferReply,
    async run({ app: { appId }, params: { offer_id } }) {
      const credential = await credentialOf(appId)
      const { rules } = credential
      const currency = currencyAt(credential, Date.now())
      const visit = { country: null, platforms: null, rules }
      const { visible, reasons } = explainVisibility(
        catalogue,
        offer_id,
        visit,
        { completed: [], isBanned: false },
        Date.now(),
      )
      const offer = catalogue.get(offer_id)
      if (offer === undefined || reasons.some(({ code }) => !HARMLESS.has(code)))
        throw notThere('This offer is not running.')
      const { full, is_out_of_budget } = await showCaps(db, offer_id, new Date())
      return {
        offer: presentOffer(offer, currency),
        available: visible,
        reasons,
        cap: full === 'no' && is_out_of_budget ? 'full' : CAP_STATES[full],
        rank: presentRank(catalogue, offer_id, {}),
      }
    },
  })

  routes.get('/apps/:app_id/offers/:offer_id/why', {
    id: 'explainOfferOfApp',
    summary: 'Explain why a user does not see an offer',
    about: 'Checks schedule, caps, country, platform, content rules, bans and completions.',
    tag: TAG,
    access: 'publisher',
    params: OfferOfAppParams,
    query: WhyOfAppQuery,
    reply: VisibilityReply,
    async run({ app: { appId }, params: { offer_id }, query: { user_id, mode, country, platform } }) {
      const credential = await credentialOf(appId, mode)
      const { rules } = credential
      const visit = {
        country: country?.toUpperCase() ?? null,
        platforms: platform === undefined ? null : [platform],
        rules,
      }
      const isBanned = user_id !== undefined && credentials.isBanned(credential, user_id)
      const user = { completed: await completedBy(appId, mode, user_id), isBanned }
      return explainVisibility(catalogue, offer_id, visit, user, Date.now())
    },
  })

  async function presentRules(appId: number): Promise<Static<typeof ContentRules>> {
    const { blockedCategories, blockedKeywords, paymentOffers } = await readContentRules(db, appId)
    const { rules } = await credentialOf(appId)
    return {
      blocked_categories: blockedCategories as Static<typeof ContentRules>['blocked_categories'],
      blocked_keywords: blockedKeywords,
      payment_offers: paymentOffers,
      offers_left: (await catalogue.list({ rules }, 'popular')).total,
      offers_total: (await catalogue.list({ rules: null }, 'popular')).total,
    }
  }

  routes.get('/apps/:app_id/content-rules', {
    id: 'getContentRules',
    summary: 'Get the content rules of an app',
    about: 'Which categories, keywords and paid offers the app hides, and how many offers are left.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: ContentRules,
    run: ({ app: { appId } }) => presentRules(appId),
  })

  routes.put('/apps/:app_id/content-rules', {
    id: 'setContentRules',
    summary: 'Set the content rules of an app',
    about: 'Replaces the rules as a whole. Effective within a second.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: NewContentRules,
    reply: ContentRules,
    async run({ app: { appId }, body, by }) {
      const rules = {
        blockedCategories: [...new Set(body.blocked_categories)],
        blockedKeywords: tidyKeywords(body.blocked_keywords),
        paymentOffers: body.payment_offers,
      }
      checkKeywords(rules.blockedKeywords)
      await setContentRules(db, by, appId, rules)
      await context.refresh()
      return presentRules(appId)
    },
  })
}

function checkKeywords(keywords: readonly string[]): void {
  const isWrong = (keyword: string) => keyword.length > MAX_KEYWORD || keyword.includes('\0') || !keyword.isWellFormed()
  if (keywords.length <= MAX_KEYWORDS && !keywords.some(isWrong)) return
  throw new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', {
    blocked_keywords: `Give at most ${MAX_KEYWORDS} keywords of at most ${MAX_KEYWORD} characters each.`,
  })
}

function presentRank(catalogue: Catalogue, offerId: number, { country, platform }: Omit<Filter, 'rules'>) {
  const where = { ...(country === undefined ? {} : { country }), ...(platform === undefined ? {} : { platform }) }
  const rank = catalogue.explainRank(offerId, where, Date.now())
  if (rank === null) throw notThere()
  return { expected_epc: microsToUsd(rank.epcMicros), clicks: rank.clicks, reasons: rank.reasons }
}

/** As v1 shows it, but for the link. */
function presentOffer({ template, payouts }: ShownOffer, currency: Currency): Static<typeof AppOffer> {
  const { link: _link, ...offer } = JSON.parse(fillPayouts(template, payouts, currency).replace(TOKEN, '')) as Static<
    typeof AppOffer
  > & { link: string }
  return offer
}
