// An offer as few bytes, for catalogues of a million: what filters and sorts need stands in columns (slots.ts), and the
// rest is read from here when a page or a click needs it. What is asked for most comes first.
import type { CopiedRow } from '../../db/copy-rows.ts'
import { type Field, SHOWN_FIELDS } from './fields.ts'
import { parseTranslations } from './translations.ts'

export type StoredGoal = {
  goalId: number
  name: string
  description: string
  payoutMicros: number
  /** Millionths of the amount that the advertiser confirms; null when the payout is fixed. */
  payoutPpm: number | null
  isOptional: boolean
  isRepeatable: boolean
  /** As recorded (see translations.ts). */
  translations: string
}

/** What filters look at: it stands in columns. */
type Filtered = 'category' | 'countries' | 'platforms' | 'payment_required'
const FILTERED: readonly string[] = ['category', 'countries', 'platforms', 'payment_required'] satisfies Filtered[]

/** What is kept as bytes; the rest of an offer stands in columns. A text that there is not is empty. */
export type OfferDetails = Record<Exclude<keyof typeof SHOWN_FIELDS, Filtered> | 'translations', string> & {
  termsId: number
  payoutMicros: number
  updatedAt: Date
  goals: StoredGoal[]
}

/** What a click on it needs. */
export type OfferTarget = { termsId: number; destination: string; requiredGoals: number[] | null }

const [OPTIONAL, REPEATABLE] = [1, 2]
const KEPT = Object.entries(SHOWN_FIELDS).filter(([name]) => !FILTERED.includes(name))
const CHOICES = KEPT.flatMap(([name, { input, choices = [] }]: [string, Field]) =>
  input === 'choice' ? { name, choices, bytes: choices.map((choice) => Buffer.from(choice)) } : [],
)
/** First what searches read, then what clicks read. */
const TEXTS = [
  ...new Set(['name', 'description', 'translations', 'destination_url', ...KEPT.map(([name]) => name)]).difference(
    new Set(CHOICES.map(({ name }) => name)),
  ),
]

/** Columns of an offer and of a goal, in the order in which they are written: texts first, which stay as they come. */
export const DETAIL_COLUMNS = [...TEXTS, 'terms_id', 'payout_micros', 'updated_at', ...CHOICES.map(({ name }) => name)]
export const GOAL_COLUMNS =
  'name, description, translations, goal_id, payout_micros, payout_ppm, is_optional, is_repeatable'
const GOAL_TEXTS = 3

/** The goals of an offer, written one after the other. */
export type WrittenGoals = { count: number; bytes: Uint8Array; start: number; end: number }

export function writeDetails(out: BytesWriter, row: CopiedRow, goals: WrittenGoals): void {
  out.bytes(row.bytes, row.passFields(TEXTS.length), row.at)
  out.number(row.int8() ?? 0)
  out.number(row.int8() ?? 0)
  out.number(Math.floor((row.time() ?? 0) / 1_000))
  for (const { bytes } of CHOICES) out.number(placeAmong(bytes, row))
  out.number(goals.count)
  out.bytes(goals.bytes, goals.start, goals.end)
}

export function writeGoal(out: BytesWriter, row: CopiedRow): void {
  out.bytes(row.bytes, row.passFields(GOAL_TEXTS), row.at)
  out.number(row.int8() ?? 0)
  out.number(row.int8() ?? 0)
  out.number((row.int4() ?? -1) + 1)
  const isOptional = row.bool()
  const isRepeatable = row.bool()
  out.number((isOptional ? OPTIONAL : 0) | (isRepeatable ? REPEATABLE : 0))
}

/** Which of these texts the next field is, without decoding it. */
export function placeAmong(texts: readonly Uint8Array[], row: CopiedRow): number {
  const length = row.next()
  const start = row.pass(length)
  for (let place = 0; place < texts.length; place++) {
    const text = texts[place] as Uint8Array
    let same = 0
    while (same < length && text[same] === row.bytes[start + same]) same++
    if (same === length && same === text.length) return place
  }
  return -1
}

export function readDetails(bytes: Buffer): OfferDetails {
  const from = new Reader(bytes)
  const texts: Record<string, string> = {}
  for (const name of TEXTS) texts[name] = from.text()
  const [termsId, payoutMicros] = [from.number(), from.number()]
  const updatedAt = new Date(from.number() * 1000)
  for (const { name, choices } of CHOICES) texts[name] = choices[from.number()] ?? ''
  const goals = Array.from({ length: from.number() }, () => readGoal(from))
  return Object.assign(texts as Record<keyof typeof SHOWN_FIELDS | 'translations', string>, {
    termsId,
    payoutMicros,
    updatedAt,
    goals,
  })
}

function readGoal(from: Reader): StoredGoal {
  const [name, description, translations] = [from.text(), from.text(), from.text()]
  const [goalId, payoutMicros, ppm, flags] = [from.number(), from.number(), from.number(), from.number()]
  return {
    goalId,
    name,
    description,
    payoutMicros,
    payoutPpm: ppm === 0 ? null : ppm - 1,
    isOptional: (flags & OPTIONAL) !== 0,
    isRepeatable: (flags & REPEATABLE) !== 0,
    translations,
  }
}

export function readTarget(bytes: Buffer): OfferTarget {
  const from = new Reader(bytes)
  from.skipTexts(TEXTS.indexOf('destination_url'))
  const destination = from.text()
  from.skipTexts(TEXTS.length - TEXTS.indexOf('destination_url') - 1)
  const termsId = from.number()
  from.skipNumbers(2 + CHOICES.length)
  let required: number[] | null = []
  for (let goals = from.number(); goals > 0; goals--) {
    from.skipTexts(GOAL_TEXTS)
    const goalId = from.number()
    from.skipNumbers(2)
    const flags = from.number()
    if ((flags & OPTIONAL) !== 0) continue
    if ((flags & REPEATABLE) !== 0) required = null
    required?.push(goalId)
  }
  return { termsId, destination, requiredGoals: required }
}

export const readName = (bytes: Buffer): string => new Reader(bytes).text()

export function readWords(bytes: Buffer): string {
  const from = new Reader(bytes)
  return joinWords(from.text(), from.text(), from.text())
}

/** Name and description in all languages, which is what people search and keywords look at. */
export function joinWords(name: string, description: string, translations: string): string {
  const others = Object.values(parseTranslations(translations))
  return [name, description, ...others.flatMap((texts) => [texts['name'] ?? '', texts['description'] ?? ''])].join('\n')
}

/** Writes into memory that it uses again. */
export class BytesWriter {
  written = new Uint8Array(1_024)
  length = 0

  clear(): void {
    this.length = 0
  }

  number(value: number): void {
    this.#reserve(8)
    const { written } = this
    let at = this.length
    for (; value >= 2 ** 28; value = Math.floor(value / 0x80)) written[at++] = value | 0x80
    for (; value >= 0x80; value >>>= 7) written[at++] = value | 0x80
    written[at++] = value
    this.length = at
  }

  bytes(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    this.written.set(from.subarray(start, end), this.length)
    this.length += end - start
  }

  #reserve(more: number): void {
    if (this.length + more <= this.written.length) return
    const larger = new Uint8Array((this.length + more) * 2)
    larger.set(this.written.subarray(0, this.length))
    this.written = larger
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(): number {
    let value = 0
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.#bytes[this.#at++] as number
      value += (byte & 0x7f) * unit
      if (byte < 0x80) return value
    }
  }

  skipNumbers(count: number): void {
    for (; count > 0; count--) while ((this.#bytes[this.#at++] as number) >= 0x80);
  }

  text(): string {
    const start = this.#skipText()
    return this.#bytes.toString('utf8', start, this.#at)
  }

  skipTexts(count: number): void {
    for (; count > 0; count--) this.#skipText()
  }

  #skipText(): number {
    const start = this.#at + 4
    this.#at = start + Math.max(0, this.#bytes.readInt32BE(this.#at)) // -1 where there is none
    return start
  }
}
