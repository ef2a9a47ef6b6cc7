// The wall: its head, its tabs, and what is in them.
import './style.css'
import { activityView } from './activity.ts'
import { look, viewer } from './boot.ts'
import { afterPaint, h, lazy, picture } from './dom.ts'
import { say } from './format.ts'
import { helpView } from './help.ts'
import { offersView } from './offers.ts'
import { acceptSignatures, announce, closeByEscape, SIGNED } from './parent.ts'
import { followPreview } from './preview.ts'

const toasts = h('div', { class: 'toasts', role: 'status', popover: 'manual' })
const held = h('span', { class: 'balance' })
const help = lazy(helpView) // its form takes a phone as long as the first offers
const takesTickets = () => viewer.isSigned && look.shows.support
let show: (view: 'offers' | 'activity' | 'help') => void = () => {}
const askAbout = (offerId: number) => {
  show('help')
  help().askAbout(offerId)
}
const activity = activityView({ toasts, held, help, onWrong: () => (takesTickets() ? askAbout : null) })

function render(): void {
  const views: { name: Parameters<typeof show>[0]; element: () => HTMLElement }[] = [
    { name: 'offers', element: lazy(offersView) },
  ]
  if (viewer.isSigned && look.shows.activity) views.push({ name: 'activity', element: () => activity.element })
  if (takesTickets()) views.push({ name: 'help', element: () => help().element })
  const main = h('main', {})
  const tabs = views.map(({ name }) => h('button', { onclick: () => show(name) }, say(name)))

  show = (wanted) => {
    for (const [i, { name, element }] of views.entries()) {
      tabs[i]?.setAttribute('aria-current', name === wanted ? 'page' : 'false')
      if (name === wanted) main.replaceChildren(element())
    }
  }

  document
    .getElementById('wall')
    ?.replaceChildren(head(), views.length > 1 ? h('nav', { class: 'tabs' }, ...tabs) : '', main, toasts)
  show('offers')
}

function head(): HTMLElement {
  const { logo, hero, title, intro } = look
  return h(
    'header',
    { class: hero === null ? 'head' : 'head with-hero' },
    hero !== null && picture(hero, 'hero'),
    logo !== null && picture(logo, 'logo'),
    h('div', {}, h('h1', { dir: 'auto' }, title || say('title')), h('p', { dir: 'auto' }, intro || say('intro'))),
    held,
    viewer.isTest && h('span', { class: 'badge test' }, say('test')),
  )
}

render()
followPreview(render)
afterPaint(activity.follow)
addEventListener(SIGNED, activity.follow)
acceptSignatures()
closeByEscape()
announce('ready')
