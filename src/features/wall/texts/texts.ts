// The languages of walls.
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en, type Texts } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { tr } from './tr.ts'

export const LANGUAGES = ['en', 'de', 'es', 'fr', 'pt', 'pl', 'tr', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

export const TEXTS: Record<Language, Texts> = { en, de, es, fr, pt, pl, tr, ar }

export const directionOf = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr')

/** What the page asks for, or the first language of the browser that we have; otherwise English. `pt-BR` is `pt`. */
export function chooseLanguage(wanted: string | undefined, acceptLanguage = ''): Language {
  const preferred = acceptLanguage
    .slice(0, 500)
    .split(',')
    .map((entry) => entry.split(';'))
    .map(([tag = '', quality = '']) => ({ tag, q: Number(/q=([\d.]+)/.exec(quality)?.[1] ?? 1) }))
    .toSorted((a, b) => b.q - a.q)
    .map(({ tag }) => tag)
  const found = [wanted ?? '', ...preferred].map((tag) => tag.trim().slice(0, 2).toLowerCase())
  return found.find((tag): tag is Language => (LANGUAGES as readonly string[]).includes(tag)) ?? 'en'
}
