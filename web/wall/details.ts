// One offer: what to do, step by step, what it pays, and how it is confirmed. A dialog of the browser's own, which keeps
// the focus within it and closes by Escape.
import { countOpened } from './api.ts'
import type { Offer } from './boot.ts'
import { viewer } from './boot.ts'
import { h, picture } from './dom.ts'
import { amount, say } from './format.ts'
import { announce } from './parent.ts'

export function showDetails(offer: Offer, isStarted = false): void {
  countOpened()
  const { name, description, requirements, time_estimate, difficulty, payment_required, conversion_type } = offer
  const close = () => dialog.close()
  const start = h(
    'a',
    {
      class: 'main',
      href: offer.link,
      target: viewer.query['embed'] === 'webview' ? '_self' : '_blank',
      rel: 'noopener noreferrer',
      onclick: () => {
        announce('offer-started', { offer_id: offer.offer_id })
        setTimeout(close) // after the browser has followed the link
      },
    },
    say(isStarted ? 'continue' : 'start'),
  )
  const facts = [say(difficulty), time_estimate, payment_required ? say('payment') : ''].filter((text) => text !== '')
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'offer-name' },
    h('button', { class: 'close', 'aria-label': say('close'), onclick: close }, '×'),
    h(
      'header',
      {},
      picture(offer.image_url ?? null, 'picture'),
      h(
        'div',
        {},
        h('h2', { id: 'offer-name', dir: 'auto' }, name),
        h('p', { class: 'reward' }, amount(offer.reward, offer.currency)),
      ),
    ),
    h('p', { class: 'badges' }, ...facts.map((text) => h('span', { class: 'badge', dir: 'auto' }, text))),
    h('p', { class: 'lines', dir: 'auto' }, description),
    h('h3', {}, say('steps')),
    h(
      'ol',
      { class: 'steps' },
      ...offer.goals.map((goal) =>
        h(
          'li',
          {},
          h(
            'span',
            { dir: 'auto' },
            goal.name,
            goal.is_optional && h('small', {}, ` (${say('optional')})`),
            goal.description !== '' && h('small', { class: 'lines', dir: 'auto' }, goal.description),
          ),
          h(
            'span',
            { class: 'reward' },
            amount(goal.reward, offer.currency),
            goal.reward_varies === true && h('small', {}, say('varies')),
          ),
        ),
      ),
    ),
    ...(requirements === ''
      ? []
      : [h('h3', {}, say('requirements')), h('p', { class: 'lines', dir: 'auto' }, requirements)]),
    h('h3', {}, say('confirmed')),
    h('p', {}, say(`how_${conversion_type}`), ' ', say('how_long')),
    h('footer', {}, start),
  )
  dialog.addEventListener('click', (event) => event.target === dialog && close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  start.focus({ preventScroll: true })
}
