// The wall: its head, its tabs, and what is in them.
import './style.css'
import { activityView } from './activity.ts'
import { look, viewer } from './boot.ts'
import { h, picture } from './dom.ts'
import { say } from './format.ts'
import { helpView } from './help.ts'
import { offersView } from './offers.ts'
import { acceptSignatures, announce, closeByEscape } from './parent.ts'
import { followPreview } from './preview.ts'

const toasts = h('div', { class: 'toasts', role: 'status', popover: 'manual' })
const held = h('span', { class: 'balance' })
const help = helpView()
const takesTickets = () => viewer.isSigned && look.shows.support
let show: (view: 'offers' | 'activity' | 'help') => void = () => {}
const askAbout = (offerId: number) => {
  show('help')
  help.askAbout(offerId)
}
const activity = activityView({ toasts, held, help, onWrong: () => (takesTickets() ? askAbout : null) })

function render(): void {
  const views = [{ name: 'offers', element: offersView() }] as {
    name: Parameters<typeof show>[0]
    element: HTMLElement
  }[]
  if (viewer.isSigned && look.shows.activity) views.push({ name: 'activity', element: activity.element })
  if (takesTickets()) views.push({ name: 'help', element: help.element })
  const main = h('main', {})
  const tabs = views.map(({ name }) => h('button', { onclick: () => show(name) }, say(name)))

  show = (wanted) => {
    for (const [i, { name, element }] of views.entries()) {
      tabs[i]?.setAttribute('aria-current', name === wanted ? 'page' : 'false')
      if (name === wanted) main.replaceChildren(element)
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
    h('div', {}, h('h1', {}, title || say('title')), h('p', {}, intro || say('intro'))),
    held,
    viewer.isTest && h('span', { class: 'badge test' }, say('test')),
  )
}

render()
followPreview(render)
activity.follow()
acceptSignatures(activity.follow)
closeByEscape()
announce('ready')
