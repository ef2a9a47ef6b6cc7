// The texts of an offer or a goal in other languages, for walls and lockers: JSON by language, as it is recorded. Where a
// text has no translation, the offer's own stands.
import { FieldReader } from './field-reader.ts'

/** Of one language, by field. */
export type TranslatedTexts = Record<string, string>
export type Translations = Record<string, TranslatedTexts>

/** The codes of ISO 639-1. */
export const LANGUAGES = `
  aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
  eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja
  jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb
  nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq
  sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
`.trim().split(/\s+/) // prettier-ignore

const MAX_LENGTH = 100_000

/** As it is recorded: empty texts and languages without any are left out, the rest stands in one order. */
export function readTranslations(from: FieldReader, name: string, longest: Record<string, number>): string {
  const refused = from.problems.length
  const kept: Translations = {}
  const given = Object.entries(from.object(name)).map(
    ([language, texts]) => [language.trim().toLowerCase(), texts] as const,
  )
  for (const [language, texts] of given.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!LANGUAGES.includes(language))
      from.refuse(name, `has ${language.slice(0, 20)}, not an ISO 639-1 code such as de`)
    else if (language in kept) from.refuse(name, `has ${language} twice`)
    else if (!isObject(texts)) from.refuse(name, `has ${language} without texts by field, such as { "name": "…" }`)
    else kept[language] = readTexts(from, name, texts, language, longest)
  }
  if (from.problems.length > refused) return ''
  const json = writeTranslations(kept)
  if (json.length > MAX_LENGTH) from.refuse(name, `must have at most ${MAX_LENGTH} characters in all`)
  return json
}

function readTexts(
  from: FieldReader,
  name: string,
  texts: Record<string, unknown>,
  language: string,
  longest: Record<string, number>,
): TranslatedTexts {
  const reader = new FieldReader(texts)
  reader.refuseUnknown(longest)
  const read = Object.entries(longest).map(([field, max]) => [field, reader.text(field, { max })] as const)
  for (const { field, message } of reader.problems)
    if (field === null) from.refuse(`${name}.${language}`, `has an ${message}`)
    else from.problems.push({ field: `${name}.${language}.${field}`, message: `${name}.${language}.${message}` })
  return Object.fromEntries(read.filter(([, text]) => text.trim() !== ''))
}

function writeTranslations(translations: Translations): string {
  const filled = Object.entries(translations).filter(([, texts]) => Object.keys(texts).length > 0)
  return filled.length === 0 ? '' : JSON.stringify(Object.fromEntries(filled))
}

export const parseTranslations = (recorded: string): Translations =>
  recorded === '' ? {} : (JSON.parse(recorded) as Translations)

type Recorded = { translations: string }

export const isTranslated = ({ translations, goals }: Recorded & { goals: Recorded[] }): boolean =>
  translations !== '' || goals.some((goal) => goal.translations !== '')

/** With its texts in this language, as far as it has them; null where it has none. */
export function translateOffer<O extends Recorded & { goals: Recorded[] }>(offer: O, language: string): O | null {
  const textsOf = ({ translations }: Recorded) => parseTranslations(translations)[language]
  const isIn = textsOf(offer) !== undefined || offer.goals.some((goal) => textsOf(goal) !== undefined)
  if (!isIn) return null
  return { ...offer, ...textsOf(offer), goals: offer.goals.map((goal) => ({ ...goal, ...textsOf(goal) })) }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
