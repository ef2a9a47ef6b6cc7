// Numbers, amounts and times as the language of the page writes them.
import { look } from './boot.ts'
import { h, lazy, picture } from './dom.ts'
import { writeNumber } from './numbers.ts'

// On a phone each takes its time, and offers do not wait for dates.
const days = lazy(() => new Intl.DateTimeFormat(look.language, { dateStyle: 'medium', timeStyle: 'short' }))
const ago = lazy(() => new Intl.RelativeTimeFormat(look.language, { numeric: 'auto' }))
const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60]] as const // prettier-ignore

export const say = (key: keyof typeof look.texts, values: Record<string, string> = {}): string =>
  look.texts[key].replaceAll(/\{(\w+)\}/g, (all, name: string) => ({ currency: look.currency, ...values })[name] ?? all)

export const numberText = (value: number) => writeNumber(value, look.numbers)

export const amountText = (reward: number, currency = look.currency) => `${numberText(reward)} ${currency}`

/** With the icon of the currency in place of its name, where there is one. What was earned before may have another currency, and so may a list that is newer than the page. */
export function amount(reward: number, currency = look.currency): HTMLElement {
  if (look.currency_icon === null || currency !== look.currency)
    return h('b', { class: 'amount' }, amountText(reward, currency))
  const icon = picture(look.currency_icon, 'icon')
  return h('b', { class: 'amount' }, icon, h('span', { 'aria-hidden': 'true' }, numberText(reward)), h('span', { class: 'unseen' }, amountText(reward))) // prettier-ignore
}

export const dateText = (time: string) => days().format(new Date(time))

export function agoText(time: string): string {
  const seconds = (new Date(time).getTime() - Date.now()) / 1000
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['minute', 60]
  return ago().format(Math.round(seconds / size), unit)
}
