// The languages of pages that users see.
import { Cache } from './cache.ts'
import { flatten } from './flatten.ts'

export const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'pl', 'tr', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr')

/**
 * What the page asks for, or the first language of the browser that we have; otherwise English. `pt-BR` is `pt`. A page
 * about a wrong request is in a language, too, so `wanted` may be anything.
 */
export function chooseLanguage(wanted: unknown, acceptLanguage = ''): Language {
  const asked = typeof wanted === 'string' ? languageOf(wanted) : undefined
  if (asked !== undefined || acceptLanguage === '') return asked ?? 'en'
  const known = chosen.get(acceptLanguage)
  if (known !== undefined) return known
  const language = readAcceptLanguage(acceptLanguage)
  if (acceptLanguage.length <= MAX_REMEMBERED) chosen.set(flatten(acceptLanguage), language)
  return language
}

/** Browsers send a few hundred of them, with every request. */
const chosen = new Cache<string, Language>(1_000)
const MAX_REMEMBERED = 200

function readAcceptLanguage(header: string): Language {
  const preferred = header
    .slice(0, 500)
    .split(',')
    .map((entry) => entry.split(';'))
    .map(([tag = '', quality = '']) => ({ tag, q: Number(/q=([\d.]+)/.exec(quality)?.[1] ?? 1) }))
    .toSorted((a, b) => b.q - a.q)
  return preferred.map(({ tag }) => languageOf(tag)).find((language) => language !== undefined) ?? 'en'
}

function languageOf(tag: string): Language | undefined {
  const code = tag.trim().slice(0, 2).toLowerCase()
  return LANGUAGES.find((language) => language === code)
}
