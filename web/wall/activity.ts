// What the user has started and earned. It follows by itself.
import { findOffer, isOver, listActivity, liveUrl } from './api.ts'
import { type ActivityPage, type Earned, type Started, viewer } from './boot.ts'
import { showDetails } from './details.ts'
import { h, picture, replace } from './dom.ts'
import type { HelpView } from './help.ts'
import { agoText, amount, amountText, dateText, say } from './format.ts'
import { notice } from './notice.ts'
import { announce } from './parent.ts'
import { followStream, onReturn } from './stream.ts'

const TOAST_MS = 8_000
const PAGE = 20
const LARGEST = 100 // page that the server gives

type Places = {
  toasts: HTMLElement
  /** Shows the balance, where the app keeps one. */
  held: HTMLElement
  help: () => Pick<HelpView, 'refresh' | 'setOffers'>
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
    const { sig } = viewer.query
    try {
      // What is shown already may have changed, too.
      const page = await listActivity('', Math.min(Math.max(items.length, PAGE), LARGEST))
      if (!isFirst) for (const item of page.items) if (isCredited(item)) celebrate(item)
      for (const { conversion_id, status } of page.items) seen.set(conversion_id, status)
      isFirst = isStale = false
      const known = new Set(page.items.map(({ conversion_id }) => conversion_id))
      const older = items.filter(({ conversion_id }) => !known.has(conversion_id))
      if (older.length === items.length) next = page.next_cursor // all of it is new: what is between may be missing
      items = older.length === items.length ? page.items : [...page.items, ...older]
      help().setOffers([...page.started, ...page.items])
      started = page.started
      show(page.balance)
    } catch (error) {
      if (isOver(error)) return sig === viewer.query['sig'] ? expire() : refresh()
      isStale = true
      if (isFirst) replace(body, notice('failed', null, ['retry', () => void refresh()]))
    }
  }

  const isCredited = ({ conversion_id, status }: Earned) =>
    status === 'approved' && seen.get(conversion_id) !== 'approved'

  function celebrate({ offer_id, goal_id, reward, currency, conversion_id }: Earned): void {
    const toast = h('p', { class: 'toast' }, say('credited', { amount: amountText(reward, currency) }))
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
    const page = await listActivity(cursor, PAGE).catch(() => null)
    if (page === null || cursor !== next) return
    items = [...items, ...page.items]
    for (const { conversion_id, status } of page.items) seen.set(conversion_id, status)
    next = page.next_cursor
    help().setOffers(page.items)
    show(page.balance)
  }

  const refreshAll = () => void Promise.all([refresh(), help().refresh()])
  let stop = () => {}
  function expire(): void {
    stop()
    replace(body, notice('expired', 'expired_text'))
    announce('error', { code: 'expired' })
  }

  function follow(): void {
    stop()
    refreshAll()
    stop = followStream(liveUrl(), {
      ask: refreshAll,
      isStale: () => isStale,
      on: {
        open: () => !isFirst && refreshAll(),
        activity: () => void refresh(),
        tickets: () => void help().refresh(),
      },
    })
  }
  if (viewer.isSigned) onReturn(refreshAll)
  return { element, follow: viewer.isSigned ? follow : () => {} }
}

type OnWrong = ((offerId: number) => void) | null

const wrongLink = (offerId: number, onWrong: OnWrong) =>
  onWrong !== null && h('button', { class: 'link', onclick: () => onWrong(offerId) }, say('wrong'))

/** To the steps of an offer, with its link: for this user, as it is now. */
function continueLink(offerId: number): HTMLElement {
  const show = () => void findOffer(offerId).then((offer) => showDetails(offer, true), explain)
  const explain = () =>
    button.replaceWith(h('small', { role: 'status' }, say(navigator.onLine ? 'offer_gone' : 'offline')))
  const button = h('button', { class: 'link', onclick: show }, say('continue'))
  return button
}

function startedRow(
  { offer_id, offer_name, image_url, started_at, currency, goals }: Started,
  onWrong: OnWrong,
): HTMLElement {
  const reached = goals.filter(({ status }) => status === 'approved' || status === 'pending').length
  return h(
    'li',
    { class: 'row' },
    picture(image_url, 'picture small'),
    h(
      'div',
      { class: 'what' },
      h('h3', { dir: 'auto' }, offer_name),
      h('small', {}, say('started', { when: agoText(started_at) })),
      h('progress', { max: String(goals.length), value: String(reached), 'aria-label': `${reached}/${goals.length}` }),
      h(
        'ol',
        { class: 'goals' },
        ...goals.map(({ name, reward, status }) =>
          h(
            'li',
            { class: status ?? 'unreached' },
            h('span', { dir: 'auto' }, name, status !== null && h('small', {}, ` ${say(status)}`)),
            amount(reward, currency),
          ),
        ),
      ),
      continueLink(offer_id),
      wrongLink(offer_id, onWrong),
    ),
  )
}

function earnedRow(item: Earned, onWrong: OnWrong): HTMLElement {
  const { offer_id, offer_name, goal_name, image_url, status, status_reason, changed_at, hold_until } = item
  const reason = status === 'pending' ? (hold_until === null ? say('pending_text') : say('held_text', { when: dateText(hold_until) })) : status_reason === null ? '' : say(status_reason) // prettier-ignore
  return h(
    'li',
    { class: 'row' },
    picture(image_url, 'picture small'),
    h(
      'div',
      { class: 'what' },
      h('h3', { dir: 'auto' }, offer_name),
      h(
        'small',
        {},
        goal_name !== offer_name && h('bdi', {}, goal_name),
        goal_name !== offer_name && ' · ',
        dateText(changed_at),
      ),
      reason !== '' && h('small', { class: 'reason' }, reason),
      wrongLink(offer_id, onWrong),
    ),
    h(
      'span',
      { class: `reward ${status}` },
      amount(item.reward, item.currency),
      h('small', { class: 'status' }, say(status)),
    ),
  )
}
