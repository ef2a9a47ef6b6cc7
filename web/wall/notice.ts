import type { look } from './boot.ts'
import { h } from './dom.ts'
import { say } from './format.ts'

type Key = keyof typeof look.texts

/** What happened and what to do, in place of a list. */
export const notice = (title: Key, text: Key | null, action?: [label: Key, run: () => void]): HTMLElement =>
  h(
    'div',
    { class: 'notice' },
    h('h2', {}, say(title)),
    text !== null && h('p', {}, say(text)),
    action !== undefined && h('button', { class: 'main', onclick: action[1] }, say(action[0])),
  )
