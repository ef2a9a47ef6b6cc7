// The page of a locker: what is needed, the offers, and what happens once it is unlocked. In a frame, the visitor is kept by
// the page around it (web/locker-embed); on the page of a link, by this origin's own storage where the browser allows it.
import './style.css'
import type { LockerBoot, LockerOffer, LockerState } from '../../src/features/lockers/schema.ts'
import { h, picture, replace } from '../wall/dom.ts'
import { writeNumber } from '../wall/numbers.ts'
import { followStream, onReturn } from '../wall/stream.ts'
import { announce, type KnownVisitor, listen, visitorKey } from './parent.ts'
import { post, Refused } from './post.ts'

/** More would push what follows far down the publisher's page. */
const FIRST_OFFERS = 5

const boot = JSON.parse(document.getElementById('boot')?.textContent ?? 'null') as LockerBoot
const { texts, slug } = boot
const write = (value: number) => writeNumber(value, boot.numbers)
const storageKey = visitorKey(boot.appId, false)
const root = document.getElementById('locker') as HTMLElement
const body = h('div', { class: 'body' })
const status = h('p', { class: 'status', role: 'status' })
let visitor: KnownVisitor | null = null
let refusedKey: string | null = null
let pass = boot.pass
let stop: (() => void) | null = null
/** Unlocked: nothing is asked any more, so the button to open a link stays where it is. */
let isDone = false
let hasAsked = false
/** All offers, not only the first few: stays so when the list is shown anew. */
let showsAll = false
let isAsking = false
/** Something changed since the question that is being answered. */
let isStale = false

type Texts = keyof LockerBoot['texts']
const say = (key: Texts, values: Record<string, string> = {}) =>
  texts[key].replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)

/** Visitors of before were kept for each locker. */
function recall(): KnownVisitor | null {
  try {
    const text = localStorage.getItem(storageKey) ?? localStorage.getItem(`offerdeck-visitor-${boot.lockerId}`)
    return JSON.parse(text ?? 'null') as KnownVisitor | null
  } catch {
    return visitor
  }
}

/** False where another tab was given a visitor at the same time: it is this one's, too. */
function keep(known: KnownVisitor): boolean {
  const other = visitor === null && slug !== null ? recall() : null
  if (other !== null && other.key !== refusedKey) {
    visitor = other
    return false
  }
  visitor = known
  if (slug === null) announce(boot.parent, 'visitor', known)
  else store(known)
  return true
}

function store(known: KnownVisitor): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(known))
  } catch {} // then for as long as the page is open
}

const base = `/locker/v1/lockers/${boot.lockerId}`

/** One question at a time: an older answer never replaces a newer one. */
async function refresh(): Promise<void> {
  hasAsked = isStale = true
  if (isAsking || isDone) return
  isAsking = true
  do isStale = false
  while ((await ask()) && isStale)
  isAsking = false
}

/** Whether to ask again if something has changed meanwhile. */
async function ask(): Promise<boolean> {
  try {
    const state = await post<LockerState>(`${base}/visits`, {
      ...visitor,
      ...(pass === null ? {} : { pass }),
      ...(boot.isTest ? { test: true } : {}),
      lang: boot.language,
    })
    const isNew = stop === null || visitor?.key !== state.key
    if (isNew && !keep({ visitor: state.visitor, key: state.key })) return (isStale = true)
    show(state)
    if (!isDone) follow()
    return !isDone
  } catch (error) {
    isStale = true
    if (error instanceof Refused && 'key' in error.details && visitor !== null) {
      refusedKey = visitor.key // of another installation, or before its secret was replaced
      visitor = null
      stop?.()
      stop = null
      return true
    }
    fail(error)
    return false
  }
}

function fail(error: unknown): void {
  isDone = false
  const again = isOver(error) ? button('reload', () => location.reload()) : button('retry', () => void refresh())
  replace(body, h('p', {}, textOf(error)), again)
  announce(boot.parent, 'failed', {})
}

const button = (label: Texts, onclick: () => void) => h('button', { class: 'main', onclick }, say(label))

const problemOf = (error: unknown) => (error instanceof Refused ? error.details['locker'] : undefined)
const isOver = (error: unknown) => problemOf(error) === 'stale'

/** In the language of the page. */
function textOf(error: unknown): string {
  const said = boot.problems[problemOf(error) as keyof LockerBoot['problems']] as
    | { title: string; text: string }
    | undefined
  return said === undefined ? say('failed') : `${said.title}. ${said.text}`
}

function follow(): void {
  if (stop !== null || visitor === null) return
  const query = new URLSearchParams({ ...visitor, ...(boot.isTest ? { test: '1' } : {}) })
  stop = followStream(`${base}/live?${query.toString()}`, {
    ask: () => void refresh(),
    isStale: () => isStale,
    on: { open: () => void refresh(), activity: () => void refresh() },
  })
}

function show(state: LockerState): void {
  if (state.is_unlocked) return unlocked(state)
  const { needed_reward: neededReward, needed_offers: neededOffers } = state
  const needed = neededReward ?? neededOffers ?? 1
  const done = neededReward === null ? state.offers_done : state.reward_done
  const need: Texts = neededReward !== null ? 'need_reward' : needed === 1 ? 'need_one' : 'need_offers'
  const values = { n: write(needed), done: write(done), currency: state.currency }
  const isBegun = done > 0 || (needed !== 1 && state.ended === null)
  status.textContent =
    state.pending > 0 ? say('pending') : isBegun ? say('done', values) : state.ended === null ? '' : say(state.ended)
  replace(
    body,
    h('p', { class: 'need' }, say(need, values)),
    boot.consent !== '' && h('p', { class: 'consent', dir: 'auto' }, boot.consent),
    ...(state.offers.length === 0
      ? [h('p', {}, whereFrom(state.only_on))]
      : offerList(state.offers, neededReward === null ? null : state.currency)),
  )
}

function offerList(offers: LockerOffer[], currency: string | null): HTMLElement[] {
  const rows = offers.map((offer) => offerRow(offer, currency))
  const list = h('ul', {}, ...rows.slice(0, showsAll ? rows.length : FIRST_OFFERS))
  const rest = rows.slice(list.children.length)
  if (rest.length === 0) return [list]
  const more = h('button', { class: 'more', onclick: () => showAll() }, say('more'))
  const showAll = () => {
    showsAll = true
    list.append(...rest)
    more.remove()
    rest[0]?.querySelector('a')?.focus()
  }
  return [list, more]
}

/** Why there are no offers, and where there are some. */
function whereFrom(platforms: LockerState['only_on']): string {
  if (platforms === null) return say('no_offers')
  if (platforms.includes('ios') && platforms.includes('android')) return say('on_phone')
  if (platforms.includes('web')) return say('on_computer')
  return say('on_system', { system: platforms.includes('ios') ? 'iOS' : 'Android' })
}

function offerRow(offer: LockerOffer, currency: string | null): HTMLElement {
  return h(
    'li',
    {},
    picture(offer.image_url, 'picture'),
    h('div', { dir: 'auto' }, h('b', {}, offer.name), h('small', {}, offer.description)),
    currency !== null && h('span', { class: 'reward' }, `${write(offer.reward)} ${currency}`),
    h('a', { class: 'main', href: offer.link, target: '_blank', rel: 'noopener noreferrer', 'aria-label': `${say('start')}: ${offer.name}` }, say('start')), // prettier-ignore
  )
}

function unlocked(state: LockerState): void {
  status.textContent = say('unlocked')
  isDone = true
  stop?.()
  stop = null
  if (slug === null) {
    replace(body)
    return announce(boot.parent, 'unlocked', { proof: state.proof })
  }
  replace(
    body,
    button('open', () => void open()),
  )
}

async function open(): Promise<void> {
  try {
    const { target_url } = await post<{ target_url: string }>(`/l/${slug}/open`, { ...visitor, pass })
    location.assign(target_url)
  } catch (error) {
    status.textContent = ''
    if (problemOf(error) === 'locked') return lookAgain() // which says why
    fail(error)
  }
}

/** What was unlocked may be over. */
function lookAgain(): void {
  isDone = false
  void refresh()
}

function askPassword(): void {
  const input = h('input', { type: 'password', id: 'password', autocomplete: 'off', required: true, maxlength: '200' })
  const wrong = h('p', { class: 'wrong', role: 'alert' })
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      pass = (await post<{ pass: string }>(`/l/${slug}/password`, { password: input.value, pass: boot.pass })).pass
      await refresh()
    } catch (error) {
      if (isOver(error)) return fail(error)
      const isWrong = error instanceof Refused && 'password' in error.details
      const isTooMany = error instanceof Refused && error.status === 429
      wrong.textContent = isWrong ? say('password_wrong') : isTooMany ? say('too_many') : textOf(error)
    }
  }
  const label = h('label', { for: 'password' }, say('password'))
  replace(body, h('form', { onsubmit: (event) => void submit(event) }, label, input, wrong, h('button', { class: 'main' }, say('continue')))) // prettier-ignore
}

function reportForm(): HTMLElement {
  const select = h(
    'select',
    { id: 'reason' },
    ...(['scam', 'malware', 'illegal', 'broken', 'other'] as const).map((one) => h('option', { value: one }, say(one))),
  )
  const details = h('details', {}, h('summary', {}, say('report')))
  const send = async (event: Event) => {
    event.preventDefault()
    const isSent = await post(`/l/${slug}/report`, { reason: select.value }).then(
      () => true,
      () => false,
    )
    replace(details, h('summary', {}, say('report')), h('p', { role: 'status' }, say(isSent ? 'reported' : 'failed')))
  }
  details.append(h('form', { onsubmit: (event) => void send(event) }, h('label', { for: 'reason' }, say('report_reason')), select, h('button', {}, say('send')))) // prettier-ignore
  return details
}

replace(
  root,
  h(
    'main',
    {},
    boot.image !== null && picture(boot.image, 'hero'),
    h('h1', { dir: 'auto' }, boot.title),
    boot.text !== '' && h('p', { dir: 'auto' }, boot.text),
    boot.isTest && h('span', { class: 'badge' }, say('test')),
    status,
    body,
  ),
  slug !== null && h('footer', {}, reportForm()),
)

if (slug !== null) {
  visitor = recall()
  if (boot.needsPassword) askPassword()
  else void refresh()
} else {
  listen(boot.parent, (known) => {
    visitor = known
    void refresh()
  })
  announce(boot.parent, 'ready', { app: boot.appId, theme: document.documentElement.dataset['theme'] })
  if (window.parent !== window) {
    document.documentElement.classList.add('framed')
    new ResizeObserver(() => announce(boot.parent, 'height', { height: root.offsetHeight })).observe(root)
  }
  if (window.parent === window) void refresh()
}
onReturn(() => hasAsked && void refresh())
// Back from where the link led, to the page as it was left.
addEventListener('pageshow', ({ persisted }) => persisted && hasAsked && lookAgain())
