// Offers ready to be shown: those that were asked for lately stay written.
import { Cache } from '../../lib/cache.ts'
import { writeTemplate } from './offer-text.ts'
import type { Shelf } from './shelf.ts'
import { isTranslated, translateOffer } from './translations.ts'

const MAX_TEMPLATES = 5_000

/** An offer ready to be shown: its JSON with holes (see offer-text.ts), and the micros of it and each goal for them. */
export type ShownOffer = {
  offerId: number
  template: string
  payouts: number[]
  /** In other languages, as they are asked for; null without translations. */
  translated: Map<string, ShownOffer> | null
}

export class ShownOffers {
  readonly #shelf: Shelf
  readonly #publicUrl: string
  readonly #kept = new Cache<number, ShownOffer>(MAX_TEMPLATES)

  constructor(shelf: Shelf, publicUrl: string) {
    this.#shelf = shelf
    this.#publicUrl = publicUrl
  }

  all(slots: Iterable<number>, language?: string): ShownOffer[] {
    return Array.from(slots, (slot) => this.of(slot, language))
  }

  of(slot: number, language?: string): ShownOffer {
    const own = this.#kept.get(slot) ?? this.#write(slot)
    if (language === undefined || own.translated === null) return own
    const kept = own.translated.get(language)
    if (kept !== undefined) return kept
    const record = translateOffer(this.#shelf.slots.record(slot), language)
    const shown = record === null ? own : { ...own, template: writeTemplate(record, this.#publicUrl) }
    own.translated.set(language, shown)
    return shown
  }

  #write(slot: number): ShownOffer {
    const record = this.#shelf.slots.record(slot)
    const shown = {
      offerId: record.offerId,
      template: writeTemplate(record, this.#publicUrl),
      payouts: [record.payoutMicros, ...record.goals.map((goal) => goal.payoutMicros)],
      translated: isTranslated(record) ? new Map<string, ShownOffer>() : null,
    }
    this.#kept.set(slot, shown)
    return shown
  }

  /** After a change. */
  forget(slots: readonly number[]): void {
    for (const slot of slots) this.#kept.delete(slot)
  }

  clear(): void {
    this.#kept.clear()
  }
}
