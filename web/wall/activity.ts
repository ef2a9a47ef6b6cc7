// What the user has started and earned. It follows by itself: the server says that something changed, and where streams
// do not get through, the page asks now and then.
import { ApiError, listActivity, liveUrl } from './api.ts'
import { type ActivityPage, type Earned, type Started, viewer } from './boot.ts'
import { h, picture, replace } from './dom.ts'
import type { HelpView } from './help.ts'
import { agoText, amount, amountText, dateText, say } from './format.ts'
import { notice } from './notice.ts'
import { announce } from './parent.ts'

const ASK_MS = 15_000
const TOAST_MS = 8_000

type Places = {
  toasts: HTMLElement
  /** Shows the balance, where the app keeps one. */
  held: HTMLElement
  help: Pick<HelpView, 'refresh' | 'setOffers'>
  /** Null where the wall takes no tickets. */
  onWrong: () => ((offerId: number) => void) | null
}

export function activityView({ toasts, held, help, onWrong }: Places): { element: HTMLElement; follow: () => void } {
  const body = h('div', {})
  const element = h('section', { 'aria-label': say('activity') }, body)
  /** The status of each conversion that was seen, to notice what is credited. */
  const seen = new Map<string, Earned['status']>()
  let isFirst = true
  /** What changed could not be asked for. */
  let isStale = false
  let items: Earned[] = []
  let started: Started[] = []
  /** Of what is older than `items`. */
  let next: string | null = null

  async function refresh(): Promise<void> {
    const { exp } = viewer.query
    try {
      const page = await listActivity()
      if (!isFirst) for (const item of page.items) if (isCredited(item)) celebrate(item)
      for (const { conversion_id, status } of page.items) seen.set(conversion_id, status)
      isFirst = isStale = false
      const known = new Set(page.items.map(({ conversion_id }) => conversion_id))
      const older = items.filter(({ conversion_id }) => !known.has(conversion_id))
      if (older.length === items.length) next = page.next_cursor // all of it is new: what is between may be missing
      items = older.length === items.length ? page.items : [...page.items, ...older]
      help.setOffers([...page.started, ...page.items])
      started = page.started
      show(page.balance)
    } catch (error) {
      if (error instanceof ApiError && error.field === 'exp') return exp === viewer.query.exp ? expire() : refresh()
      isStale = true
      if (isFirst) replace(body, notice('failed', null, ['retry', () => void refresh()]))
    }
  }

  const isCredited = ({ conversion_id, status }: Earned) =>
    status === 'approved' && seen.get(conversion_id) !== 'approved'

  function celebrate({ offer_id, goal_id, reward, conversion_id }: Earned): void {
    const toast = h('p', { class: 'toast' }, say('credited', { amount: amountText(reward) }))
    toasts.append(toast)
    toasts.hidePopover?.()
    toasts.showPopover?.() // above the offer that may be open
    setTimeout(() => toast.remove(), TOAST_MS)
    announce('credited', { conversion_id, offer_id, goal_id, reward })
  }

  function show(balance: ActivityPage['balance']): void {
    const cursor = next
    const wrong = onWrong()
    if (balance !== null) replace(held, say('balance'), ' ', amount(balance))
    if (started.length === 0 && items.length === 0) return replace(body, notice('no_activity', 'no_activity_text'))
    replace(
      body,
      started.length > 0 && h('h2', {}, say('in_progress')),
      started.length > 0 && h('ul', { class: 'rows' }, ...started.map((one) => startedRow(one, wrong))),
      items.length > 0 && h('h2', {}, say('history')),
      items.length > 0 && h('ul', { class: 'rows' }, ...items.map((one) => earnedRow(one, wrong))),
      cursor !== null && h('button', { class: 'plain', onclick: () => void more(cursor) }, say('more')),
    )
  }

  async function more(cursor: string): Promise<void> {
    const page = await listActivity(cursor).catch(() => null)
    if (page === null || cursor !== next) return
    items = [...items, ...page.items]
    next = page.next_cursor
    help.setOffers(page.items)
    show(page.balance)
  }

  const refreshAll = () => Promise.all([refresh(), help.refresh()])
  let timer = 0
  let stream: EventSource | null = null
  function stop(): void {
    clearInterval(timer)
    stream?.close()
  }
  function expire(): void {
    stop()
    replace(body, notice('expired', 'expired_text', ['reload', () => location.reload()]))
    announce('error', { code: 'expired' })
  }

  /** A stream, and without one every few seconds while the page is looked at. */
  function follow(): void {
    stop()
    void refresh()
    void help.refresh()
    stream = new EventSource(liveUrl())
    stream.addEventListener('open', () => !isFirst && void refreshAll()) // what changed while it was not open was not said
    stream.addEventListener('activity', () => void refresh())
    stream.addEventListener('tickets', () => void help.refresh())
    stream.addEventListener('busy', () => stream?.close())
    timer = window.setInterval(() => {
      if (isStale || stream?.readyState !== EventSource.OPEN) refreshIfSeen()
    }, ASK_MS)
  }
  const refreshIfSeen = () => document.visibilityState === 'visible' && void refreshAll()
  if (viewer.isSigned) {
    document.addEventListener('visibilitychange', refreshIfSeen)
    addEventListener('online', refreshIfSeen)
  }
  return { element, follow: viewer.isSigned ? follow : () => {} }
}

type OnWrong = ((offerId: number) => void) | null

const wrongLink = (offerId: number, onWrong: OnWrong) =>
  onWrong !== null && h('button', { class: 'link', onclick: () => onWrong(offerId) }, say('wrong'))

function startedRow({ offer_id, offer_name, image_url, started_at, goals }: Started, onWrong: OnWrong): HTMLElement {
  const reached = goals.filter(({ status }) => status === 'approved' || status === 'pending').length
  return h(
    'li',
    { class: 'row' },
    picture(image_url, 'picture small'),
    h(
      'div',
      { class: 'what' },
      h('h3', {}, offer_name),
      h('small', {}, say('started', { when: agoText(started_at) })),
      h('progress', { max: String(goals.length), value: String(reached), 'aria-label': `${reached}/${goals.length}` }),
      h(
        'ol',
        { class: 'goals' },
        ...goals.map(({ name, reward, status }) =>
          h(
            'li',
            { class: status ?? 'unreached' },
            h('span', {}, name, status !== null && h('small', {}, ` ${say(status)}`)),
            amount(reward),
          ),
        ),
      ),
      wrongLink(offer_id, onWrong),
    ),
  )
}

function earnedRow(item: Earned, onWrong: OnWrong): HTMLElement {
  const { offer_id, offer_name, goal_name, image_url, status, status_reason, reward, changed_at, hold_until } = item
  const reason = status === 'pending' ? (hold_until === null ? say('pending_text') : say('held_text', { when: dateText(hold_until) })) : status_reason === null ? '' : say(status_reason) // prettier-ignore
  return h(
    'li',
    { class: 'row' },
    picture(image_url, 'picture small'),
    h(
      'div',
      { class: 'what' },
      h('h3', {}, offer_name),
      h('small', {}, goal_name === offer_name ? '' : `${goal_name} · `, dateText(changed_at)),
      reason !== '' && h('small', { class: 'reason' }, reason),
      wrongLink(offer_id, onWrong),
    ),
    h('span', { class: `reward ${status}` }, amount(reward), h('small', { class: 'status' }, say(status))),
  )
}
