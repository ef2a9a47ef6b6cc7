// An offer as few bytes, for catalogues of a million: what filters and sorts need stands in columns (slots.ts), and the
// rest is read from here when a page or a click needs it. What is asked for most comes first.
import type { GoalRecord, OfferRecord } from './offers.ts'
import { CONVERSION_TYPES, DIFFICULTIES } from './schema.ts'

/** What is kept as bytes; the rest of an offer stands in columns. */
export type OfferDetails = Pick<
  OfferRecord,
  | 'name' | 'description' | 'termsId' | 'payoutMicros' | 'destinationUrl' | 'imageUrl' | 'difficulty' | 'timeEstimate'
  | 'requirements' | 'conversionType' | 'updatedAt' | 'goals'
> // prettier-ignore

/** What a click on it needs. */
export type OfferTarget = { termsId: number; destination: string; requiredGoals: number[] | null }

const [OPTIONAL, REPEATABLE] = [1, 2]

export function writeDetails(offer: OfferDetails): Uint8Array {
  const out = new Writer()
  out.text(offer.name)
  out.text(offer.description)
  out.number(offer.termsId)
  out.text(offer.destinationUrl)
  out.number(offer.goals.length)
  for (const goal of offer.goals) {
    out.number(goal.goalId)
    out.number((goal.isOptional ? OPTIONAL : 0) | (goal.isRepeatable ? REPEATABLE : 0))
  }
  for (const goal of offer.goals) {
    out.number(goal.payoutMicros)
    out.number(goal.payoutPpm === null ? 0 : goal.payoutPpm + 1)
    out.text(goal.name)
    out.text(goal.description)
  }
  out.number(offer.payoutMicros)
  out.text(offer.imageUrl ?? '')
  out.number((DIFFICULTIES as readonly string[]).indexOf(offer.difficulty))
  out.number((CONVERSION_TYPES as readonly string[]).indexOf(offer.conversionType))
  out.text(offer.timeEstimate)
  out.text(offer.requirements)
  out.number(Math.floor(offer.updatedAt.getTime() / 1000))
  return out.bytes()
}

export function readDetails(bytes: Buffer): OfferDetails {
  const from = new Reader(bytes)
  const [name, description, termsId, destinationUrl] = [from.text(), from.text(), from.number(), from.text()]
  const flags = Array.from({ length: from.number() }, () => ({ goalId: from.number(), flags: from.number() }))
  const goals = flags.map(({ goalId, flags: its }): GoalRecord => {
    const [payoutMicros, ppm] = [from.number(), from.number()]
    return {
      goalId,
      name: from.text(),
      description: from.text(),
      payoutMicros,
      payoutPpm: ppm === 0 ? null : ppm - 1,
      isOptional: (its & OPTIONAL) !== 0,
      isRepeatable: (its & REPEATABLE) !== 0,
    }
  })
  const payoutMicros = from.number()
  const imageUrl = from.text() || null
  const difficulty = DIFFICULTIES[from.number()] ?? ''
  const conversionType = CONVERSION_TYPES[from.number()] ?? ''
  const [timeEstimate, requirements] = [from.text(), from.text()]
  const updatedAt = new Date(from.number() * 1000)
  return { name, description, termsId, payoutMicros, destinationUrl, imageUrl, difficulty, timeEstimate, requirements, conversionType, updatedAt, goals } // prettier-ignore
}

export function readTarget(bytes: Buffer): OfferTarget {
  const from = new Reader(bytes)
  from.skipText()
  from.skipText()
  const [termsId, destination] = [from.number(), from.text()]
  let required: number[] | null = []
  for (let goals = from.number(); goals > 0; goals--) {
    const [goalId, flags] = [from.number(), from.number()]
    if ((flags & OPTIONAL) !== 0) continue
    if ((flags & REPEATABLE) !== 0) required = null
    required?.push(goalId)
  }
  return { termsId, destination, requiredGoals: required }
}

/** Name and description, which is what people search and keywords look at. */
export function readWords(bytes: Buffer): string {
  const from = new Reader(bytes)
  return `${from.text()}\n${from.text()}`
}

let scratch = Buffer.allocUnsafeSlow(65_536)

/** Writes into memory that is used again: what it gives is good until the next one. */
class Writer {
  #at = 0

  number(value: number): void {
    this.#reserve(8)
    for (; value >= 0x80; value = Math.floor(value / 0x80)) scratch[this.#at++] = (value % 0x80) | 0x80
    scratch[this.#at++] = value
  }

  text(value: string): void {
    const length = Buffer.byteLength(value)
    this.number(length)
    this.#reserve(length)
    this.#at += scratch.write(value, this.#at)
  }

  bytes(): Uint8Array {
    return scratch.subarray(0, this.#at)
  }

  #reserve(more: number): void {
    if (this.#at + more <= scratch.length) return
    const larger = Buffer.allocUnsafeSlow((this.#at + more) * 2)
    scratch.copy(larger, 0, 0, this.#at)
    scratch = larger
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

  text(): string {
    const start = this.#skip()
    return this.#bytes.toString('utf8', start, this.#at)
  }

  skipText(): void {
    this.#skip()
  }

  #skip(): number {
    const length = this.number()
    const start = this.#at
    this.#at += length
    return start
  }
}
