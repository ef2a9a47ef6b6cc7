// Numbers, amounts and times as the language of the page writes them.
import { look } from './boot.ts'
import { h, picture } from './dom.ts'

/** Created when first needed: on a phone each takes its time, and offers do not wait for dates. */
const lazy = <T>(create: () => T) => {
  let made: T | undefined
  return () => (made ??= create())
}
const numbers = lazy(() => new Intl.NumberFormat(look.language, { maximumFractionDigits: 4 }))
const days = lazy(() => new Intl.DateTimeFormat(look.language, { dateStyle: 'medium', timeStyle: 'short' }))
const ago = lazy(() => new Intl.RelativeTimeFormat(look.language, { numeric: 'auto' }))
const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60]] as const // prettier-ignore

export const say = (key: keyof typeof look.texts, values: Record<string, string> = {}): string =>
  look.texts[key].replaceAll(/\{(\w+)\}/g, (all, name: string) => ({ currency: look.currency, ...values })[name] ?? all)

export const numberText = (value: number) => numbers().format(value)

export const amountText = (reward: number) => `${numbers().format(reward)} ${look.currency}`

/** With the icon of the currency in place of its name, where there is one. */
export function amount(reward: number): HTMLElement {
  if (look.currency_icon === null) return h('b', { class: 'amount' }, amountText(reward))
  const icon = picture(look.currency_icon, 'icon')
  return h('b', { class: 'amount' }, icon, h('span', { 'aria-hidden': 'true' }, numbers().format(reward)), h('span', { class: 'unseen' }, amountText(reward))) // prettier-ignore
}

export const dateText = (time: string) => days().format(new Date(time))

export function agoText(time: string): string {
  const seconds = (new Date(time).getTime() - Date.now()) / 1000
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['minute', 60]
  return ago().format(Math.round(seconds / size), unit)
}
