// The page of a locker: what is needed, the offers, and what happens once it is unlocked. In a frame, the visitor is kept by
// the page around it (web/locker-embed); on the page of a link, by this origin's own storage where the browser allows it.
import './style.css'
import type { LockerBoot, LockerOffer, LockerState } from '../../src/features/lockers/schema.ts'
import { h, picture, replace } from '../wall/dom.ts'
import { announce, listen, type KnownVisitor } from './parent.ts'

const POLL_MS = 15_000
const boot = JSON.parse(document.getElementById('boot')?.textContent ?? 'null') as LockerBoot
const { texts, slug } = boot
const numbers = new Intl.NumberFormat(boot.language, { maximumFractionDigits: 4 })
const storageKey = `offerdeck-visitor-${boot.lockerId}`
const root = document.getElementById('locker') as HTMLElement
const body = h('div', { class: 'body' })
const status = h('p', { class: 'status', role: 'status' })
let visitor: KnownVisitor | null = null
let pass = boot.pass
let stream: EventSource | null = null
let isDone = false

type Texts = keyof LockerBoot['texts']
const say = (key: Texts, values: Record<string, string> = {}) =>
  texts[key].replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)

class Refused extends Error {
  readonly details: Record<string, string>
  readonly status: number
  constructor(status: number, message: string, details: Record<string, string>) {
    super(message)
    this.status = status
    this.details = details
  }
}

async function post<T>(path: string, data: object): Promise<T> {
  const response = await fetch(path, { method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(data) }) // prettier-ignore
  type Answer = { data: T; error?: { message: string; details: Record<string, string> | null } }
  const answer = (await response.json()) as Answer
  if (answer.error) throw new Refused(response.status, answer.error.message, answer.error.details ?? {})
  return answer.data
}

function recall(): KnownVisitor | null {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? 'null') as KnownVisitor | null
  } catch {
    return visitor
  }
}

function keep(known: KnownVisitor): void {
  visitor = known
  if (slug === null) return announce(boot.parent, 'visitor', known)
  try {
    localStorage.setItem(storageKey, JSON.stringify(known))
  } catch {} // then for as long as the page is open
}

const base = `/locker/v1/lockers/${boot.lockerId}`

async function refresh(): Promise<void> {
  if (isDone) return
  try {
    const state = await post<LockerState>(`${base}/visits`, {
      ...visitor,
      ...(pass === null ? {} : { pass }),
      ...(boot.isTest ? { test: true } : {}),
    })
    if (visitor?.visitor !== state.visitor || visitor.key !== state.key)
      keep({ visitor: state.visitor, key: state.key })
    follow()
    show(state)
  } catch (error) {
    if (error instanceof Refused && 'key' in error.details && visitor !== null) {
      visitor = null // of another installation, or before its secret was replaced
      return refresh()
    }
    fail(error)
  }
}

function fail(error: unknown): void {
  const text = error instanceof Refused && error.status < 429 ? error.message : say('failed')
  replace(body, h('p', {}, text), h('button', { class: 'main', onclick: () => void refresh() }, say('retry')))
}

function follow(): void {
  if (stream !== null || visitor === null) return
  const query = new URLSearchParams({ ...visitor, ...(boot.isTest ? { test: '1' } : {}) })
  stream = new EventSource(`${base}/live?${query.toString()}`)
  stream.addEventListener('activity', () => void refresh())
}

function show(state: LockerState): void {
  if (state.is_unlocked) return unlocked(state)
  const { neededReward, neededOffers } = boot
  const needed = neededReward ?? neededOffers ?? 1
  const done = neededReward === null ? state.offers_done : state.reward_done
  const need: Texts = neededReward !== null ? 'need_reward' : needed === 1 ? 'need_one' : 'need_offers'
  const values = { n: numbers.format(needed), done: numbers.format(done), currency: boot.currency }
  status.textContent = state.pending > 0 ? say('pending') : needed === 1 && done === 0 ? '' : say('done', values)
  replace(
    body,
    h('p', { class: 'need' }, say(need, values)),
    boot.consent !== '' && h('p', { class: 'consent' }, boot.consent),
    state.offers.length === 0 ? h('p', {}, say('no_offers')) : h('ul', {}, ...state.offers.map(offerRow)),
  )
}

function offerRow(offer: LockerOffer): HTMLElement {
  return h(
    'li',
    {},
    picture(offer.image_url, 'picture'),
    h('div', {}, h('b', { dir: 'auto' }, offer.name), h('small', { dir: 'auto' }, offer.description)),
    boot.neededReward !== null && h('span', { class: 'reward' }, `${numbers.format(offer.reward)} ${boot.currency}`),
    h('a', { class: 'main', href: offer.link, target: '_blank', rel: 'noopener noreferrer', 'aria-label': `${say('start')}: ${offer.name}` }, say('start')), // prettier-ignore
  )
}

function unlocked(state: LockerState): void {
  status.textContent = say('unlocked')
  if (slug === null) {
    isDone = true
    stream?.close()
    replace(body)
    return announce(boot.parent, 'unlocked', { proof: state.proof })
  }
  replace(body, h('button', { class: 'main', onclick: () => void open() }, say('open')))
}

async function open(): Promise<void> {
  try {
    const { target_url } = await post<{ target_url: string }>(`/l/${slug}/open`, { ...visitor, pass })
    location.assign(target_url)
  } catch (error) {
    if (error instanceof Refused && error.details['locker'] === 'locked') status.textContent = say('opened')
    fail(error)
  }
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
      wrong.textContent = say(error instanceof Refused && error.status === 429 ? 'too_many' : 'password_wrong')
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
  announce(boot.parent, 'ready', {})
  if (window.parent !== window) {
    document.documentElement.classList.add('framed')
    new ResizeObserver(() => announce(boot.parent, 'height', { height: root.offsetHeight })).observe(root)
  }
  if (window.parent === window) void refresh()
}
// Where streams do not get through, and when the visitor comes back from an offer.
setInterval(() => visitor !== null && (slug === null || pass !== null) && void refresh(), POLL_MS)
document.addEventListener('visibilitychange', () => !document.hidden && visitor !== null && void refresh())
