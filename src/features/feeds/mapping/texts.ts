// Texts as upstreams write them: HTML, entities, padding, lists in one text.
import { isSaid, readAll, scalarText } from './paths.ts'
import type { Condition, ListSource, Lookup, Paths, TextSource } from './mapping.ts'

const toList = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value])

/** Of several paths, what the first has that says something. */
export function readPaths(paths: Paths, item: unknown): unknown[] {
  for (const path of toList(paths)) {
    const found = readAll(path, item).filter((value) => typeof value === 'object' || scalarText(value).trim() !== '')
    if (found.length > 0) return found
  }
  return []
}

export function readText(source: TextSource | undefined, item: unknown): string {
  if (source === undefined) return ''
  const { path = [], html = false, join, default: otherwise = '' } = typeof source === 'string' ? { path: source } : source // prettier-ignore
  const isHtml = typeof html === 'boolean' ? html : holds(html, item)
  const found = readPaths(path, item)
    .map(scalarText)
    .map((text) => readableText(isHtml ? htmlToText(text) : decodeEntities(text)).trim())
    .filter((text) => text !== '')
  return (join === undefined ? found[0] : found.join(join)) ?? otherwise
}

/**
 * As databases, terminals and pages can take it: without control characters and those that turn the direction of what
 * follows, and with a mark in place of half a character.
 */
export const readableText = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/gu, '').toWellFormed()

/** Not longer than this, and no half of a character at its end. */
export const cutText = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** Each once, without padding. */
export function readList(source: ListSource | undefined, item: unknown): string[] {
  if (source === undefined) return []
  const { path = [], split, default: otherwise = [] } = typeof source === 'string' ? { path: source } : source
  const found = readPaths(path, item).map(scalarText)
  const words = split === undefined ? found : found.flatMap((text) => text.split(split))
  const said = words.map((word) => word.trim()).filter((word) => word !== '')
  return [...new Set(said.length === 0 ? otherwise : said)]
}

/** Each of ours once, in the order of theirs. */
export function lookUp(lookup: Lookup | undefined, item: unknown): string[] {
  if (lookup === undefined) return []
  const { words, otherwise, ...source } = lookup
  const known = new Map(Object.entries(words).map(([theirs, ours]) => [theirs.trim().toLowerCase(), ours]))
  const ours = readList(source, item).flatMap((word) => known.get(word.toLowerCase()) ?? otherwise ?? [])
  const found = ours.length === 0 && otherwise !== undefined ? [otherwise] : ours
  return [...new Set(found.flatMap((one) => one.split(' ')))]
}

export function holds({ path, is, not, empty }: Condition, item: unknown): boolean {
  const found = readAll(path, item)
  if (empty !== undefined) return empty !== found.some((value) => typeof value === 'object' || isSaid(value))
  const words = found.map((value) => scalarText(value).trim().toLowerCase())
  const has = (some: string | string[]) => toList(some).some((word) => words.includes(word.toLowerCase()))
  if (is !== undefined) return has(is)
  return not !== undefined && words.length > 0 && !has(not)
}

const BREAKS = /<\s*(?:br|hr)\s*\/?\s*>|<\s*\/\s*(?:p|div|li|h[1-6]|tr|ul|ol)\s*>/gi
// No pattern reads on from one "<" over another: a text of nothing but those would take time without end.
const TAGS = /<\s*\/?\s*[a-z!][^<>]*>/gi
const UNSEEN = /<\s*(script|style)\b[^<>]*>[\s\S]*?(?:<\s*\/\s*\1\s*>|$)/gi

/** What a browser would show: paragraphs and items on lines of their own. */
export function htmlToText(html: string): string {
  const lines =
    decodeEntities(html.replaceAll(UNSEEN, '').replaceAll(/[\s]+/g, ' ').replaceAll(BREAKS, '\n').replaceAll(TAGS, '')) // prettier-ignore
      .split('\n')
      .map((line) => line.trim())
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n').trim() // prettier-ignore
}

const ENTITIES: Record<string, string> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®', trade: '™', hellip: '…', ndash: '–',
  mdash: '—', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', bull: '•', euro: '€', pound: '£', middot: '·', deg: '°',
} // prettier-ignore

/** Once: `&amp;lt;` is a text about `&lt;`. What is no entity stays. */
export function decodeEntities(text: string): string {
  return text.replaceAll(/&(#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});/gi, (all, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? all
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1))
    const isCharacter = code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : ''
  })
}
