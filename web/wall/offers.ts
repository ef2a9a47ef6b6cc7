// The list of offers: categories, search, sort, cards, and what to show when there are none.
import { findOffer, isOver, listOffers } from './api.ts'
import { firstOffers, look, type Offer, type OfferList, viewer } from './boot.ts'
import { showDetails } from './details.ts'
import { afterPaint, h, picture, replace } from './dom.ts'
import { amount, dateText, numberText, say } from './format.ts'
import { notice } from './notice.ts'
import { announce, SIGNED } from './parent.ts'

const CATEGORIES = ['survey', 'app', 'game', 'video'] as const
const SORTS = ['recommended', 'popular', 'payout_desc', 'payout_asc', 'newest'] as const
const PAGE = 20
const LARGEST = 100 // page that the server gives
const AT_ONCE = 6
const TYPING_MS = 250
const LATE_MS = 1_000 // clocks differ
const LONGEST_MS = 2 ** 31 - 1_000 - LATE_MS // that a page can wait
const NEW_MS = 7 * 86_400_000
const HIGH_SHARE = 0.8 // of the highest reward in sight

type Filter = { category: string; sort: string; search: string }

export function offersView(): HTMLElement {
  const filter: Filter = {
    category: viewer.query['category'] ?? '',
    sort: viewer.query['sort'] ?? 'recommended',
    search: '',
  }
  const list = h('ul', { class: 'offers' })
  const below = h('div', { class: 'below' })
  const status = h('p', { class: 'unseen', role: 'status' })
  const promotion = h('div', {})
  let shown: Offer[] = []
  /** How far the list was read, and its last offer then: a welcome offer is shown beside it. */
  let offset = 0
  let last: number | undefined
  /** What the list on this page follows, to its end. */
  let ranking = firstOffers.ranking
  let isBanned = false
  let turn = 0

  const isKnown = ({ offer_id }: Offer) => shown.some((one) => one.offer_id === offer_id)

  function show(page: OfferList, isMore: boolean): void {
    if (!isMore) shown = []
    const added = page.offers.filter((offer) => !isKnown(offer))
    shown = [...shown, ...added]
    ranking = page.ranking ?? ranking
    isBanned = page.is_banned ?? false
    replace(promotion, page.sale !== undefined && sale(page.sale))
    offset = page.offset + page.offers.length
    last = page.offers.at(-1)?.offer_id ?? last
    const highest = Math.max(...shown.map(({ reward }) => reward))
    const mine = turn
    const cards = added.slice(0, AT_ONCE).map((offer) => card(offer, highest))
    if (isMore) list.append(...cards)
    else replace(list, ...cards)
    if (isMore) cards[0]?.querySelector('button')?.focus()
    // The others are below what a phone shows: they come after the first paint.
    const rest = added.slice(AT_ONCE)
    if (rest.length > 0) afterPaint(() => mine === turn && list.append(...rest.map((offer) => card(offer, highest))))
    status.textContent = shown.length === 0 ? say('no_match') : ''
    if (shown.length === 0) return replace(below, nothing())
    replace(below, page.has_more && h('button', { class: 'plain', onclick: () => void load(true) }, say('more')))
  }

  function nothing(): HTMLElement {
    if (isBanned) return notice('banned', 'banned_text')
    if (filter.category !== '' || filter.search !== '') return notice('no_match', null, ['clear', clear])
    return viewer.country === null ? notice('no_offers', 'no_offers_text') : notice('no_country', 'no_country_text')
  }

  const read = (from: number, limit: number) =>
    listOffers({ limit: String(limit), offset: String(from), ranking: String(ranking ?? ''), ...filter })

  /** What follows. A list that has moved meanwhile is read again from its start, so that no offer is left out. */
  async function readOn(): Promise<OfferList> {
    const page = await read(offset - 1, PAGE + 1)
    const [seam, ...next] = page.offers
    const isRepeated = (offer: Offer) => isKnown(offer) && offer.offer_id !== viewer.welcomeOfferId
    if (seam?.offer_id === last && !next.some(isRepeated)) return page
    const all: Offer[] = []
    for (const end = offset + PAGE; ;) {
      const part = await read(all.length, Math.min(end - all.length, LARGEST))
      all.push(...part.offers)
      if (!part.has_more || all.length >= end) return { ...part, offers: all, offset: 0 }
    }
  }

  async function load(isMore = false): Promise<void> {
    const mine = ++turn
    const { sig } = viewer.query
    list.setAttribute('aria-busy', 'true')
    try {
      const page = await (isMore ? readOn() : read(0, PAGE))
      if (mine === turn) show(page, isMore)
    } catch (error) {
      if (mine !== turn) return
      if (!isMore) replace(list)
      const again = () => void load(isMore)
      if (isOver(error)) {
        if (sig !== viewer.query['sig']) return again()
        replace(below, notice('expired', 'expired_text'))
        addEventListener(SIGNED, again, { once: true })
        return announce('error', { code: 'expired' })
      }
      replace(below, navigator.onLine ? notice('failed', null, ['retry', again]) : notice('offline', 'offline_text'))
      if (!navigator.onLine) addEventListener('online', again, { once: true })
    } finally {
      if (mine === turn) list.removeAttribute('aria-busy')
    }
  }

  const search = h('input', {
    type: 'search',
    placeholder: say('search'),
    'aria-label': say('search'),
    maxlength: '100',
  })
  let typing = 0
  search.addEventListener('input', () => {
    clearTimeout(typing)
    typing = window.setTimeout(() => {
      filter.search = search.value.trim()
      void load()
    }, TYPING_MS)
  })

  const sort = h('select', { 'aria-label': say('sort') }, ...SORTS.map((one) => h('option', { value: one, selected: one === filter.sort }, say(one)))) // prettier-ignore
  sort.addEventListener('change', () => {
    filter.sort = sort.value
    void load()
  })

  const chips = ['', ...CATEGORIES].map((category) =>
    h('button', { 'aria-pressed': String(category === filter.category), onclick: () => choose(category) }, category === '' ? say('all') : say(category as 'app')),
  ) // prettier-ignore
  function choose(category: string): void {
    filter.category = category
    for (const [i, chip] of chips.entries())
      chip.setAttribute('aria-pressed', String(['', ...CATEGORIES][i] === category))
    void load()
  }
  function clear(): void {
    search.value = ''
    filter.search = ''
    choose('')
    search.focus()
  }

  show(firstOffers, false)
  // What a click is promised is less from then on.
  const saleMs = Date.parse(firstOffers.sale?.ends_at ?? '') - Date.now()
  if (saleMs > 0 && saleMs <= LONGEST_MS) setTimeout(() => void load(), saleMs + LATE_MS)
  const { welcomeOfferId } = viewer
  if (welcomeOfferId !== null) void findOffer(welcomeOfferId).then(welcome, () => {}) // it is one more, not the list
  function welcome(offer: Offer): void {
    if (turn > 0) return
    list.querySelector(`[data-offer="${offer.offer_id}"]`)?.remove()
    shown = [offer, ...shown.filter(({ offer_id }) => offer_id !== offer.offer_id)]
    list.prepend(card(offer, Infinity, say('welcome')))
  }
  const { shows } = look
  return h(
    'section',
    { 'aria-label': say('offers') },
    h(
      'div',
      { class: 'tools' },
      shows.search && search,
      shows.sort && sort,
      shows.categories && h('div', { class: 'chips' }, ...chips),
    ),
    h('h2', { class: 'unseen' }, say('offers')),
    status,
    promotion,
    list,
    below,
  )
}

const sale = ({ multiplier, ends_at }: { multiplier: number; ends_at: string }) =>
  h('p', { class: 'sale' }, say('sale', { multiplier: numberText(multiplier), when: dateText(ends_at) }))

function card(offer: Offer, highest: number, first?: string): HTMLElement {
  const open = () => showDetails(offer)
  return h(
    'li',
    { class: 'card', 'data-offer': String(offer.offer_id) },
    picture(offer.image_url ?? null, 'picture'),
    h(
      'div',
      { class: 'what' },
      h('h3', { dir: 'auto' }, h('button', { class: 'open', onclick: open }, offer.name)),
      h('p', { class: 'text', dir: 'auto' }, offer.description),
      h(
        'p',
        { class: 'badges' },
        first !== undefined && h('span', { class: 'badge first' }, first),
        ...badges(offer, highest),
      ),
    ),
    h('span', { class: 'reward' }, amount(offer.reward, offer.currency)),
  )
}

function badges(offer: Offer, highest: number): HTMLElement[] {
  if (!look.shows.badges) return []
  const found: string[] = []
  if (Date.now() - Date.parse(offer.created_at) < NEW_MS) found.push(say('badge_new'))
  if (offer.difficulty === 'easy') found.push(say('badge_easy'))
  if (offer.reward >= highest * HIGH_SHARE && offer.reward > 0) found.push(say('badge_high'))
  if (offer.time_estimate !== '') found.push(offer.time_estimate)
  if (offer.payment_required) found.push(say('payment'))
  return found.map((text) => h('span', { class: 'badge', dir: 'auto' }, text))
}
