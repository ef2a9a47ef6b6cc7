// What walls say, by language.
import type { Language } from '../../../lib/languages.ts'
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en, type Texts } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { tr } from './tr.ts'

export const TEXTS: Record<Language, Texts> = { en, de, es, fr, pt, pl, tr, ar }
