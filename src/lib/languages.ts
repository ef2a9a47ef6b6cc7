// The languages of pages that users see.
export const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'pl', 'tr', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr')

/**
 * What the page asks for, or the first language of the browser that we have; otherwise English. `pt-BR` is `pt`. A page
 * about a wrong request is in a language, too, so `wanted` may be anything.
 */
export function chooseLanguage(wanted: unknown, acceptLanguage = ''): Language {
  const preferred = acceptLanguage
    .slice(0, 500)
    .split(',')
    .map((entry) => entry.split(';'))
    .map(([tag = '', quality = '']) => ({ tag, q: Number(/q=([\d.]+)/.exec(quality)?.[1] ?? 1) }))
    .toSorted((a, b) => b.q - a.q)
    .map(({ tag }) => tag)
  const found = [typeof wanted === 'string' ? wanted : '', ...preferred].map((tag) =>
    tag.trim().slice(0, 2).toLowerCase(),
  )
  return found.find((tag): tag is Language => (LANGUAGES as readonly string[]).includes(tag)) ?? 'en'
}
