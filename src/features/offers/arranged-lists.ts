// Recommended lists as they are shown: each in a few variants (see ranking/arrange.ts). A variant belongs to the list it was
// arranged from, and goes with it.
import { goOn } from '../../lib/go-on.ts'
import type { Side } from './choices.ts'
import type { OfferList } from './lists.ts'
import { ARRANGED, arrange, VARIANTS } from './ranking/arrange.ts'
import { isPinned, NO_RANKING, pinOf } from './ranking/ranking.ts'
import type { Shelf } from './shelf.ts'
import type { Slots } from './slots.ts'
import { scorerOf } from './sort-slots.ts'
import { mix } from './traits.ts'

export class ArrangedLists {
  readonly #shelf: Shelf
  readonly #kept = new WeakMap<OfferList, OfferList[]>()

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  /** `seed`: the user's; whatever it is, there are only so many variants, and one where nothing is to be arranged. */
  of(list: OfferList, seed: number): OfferList {
    const variants = this.#kept.get(list) ?? (this.#hasArranged(list) ? [] : [{ ...list, variantOf: { list, variant: null } }]) // prettier-ignore
    this.#kept.set(list, variants)
    const [only] = variants
    if (only !== undefined && only.variantOf?.variant === null) return only
    const variant = seed % VARIANTS
    variants[variant] ??= { ...list, head: this.#arrange(list, variant, list.head), variantOf: { list, variant } }
    return variants[variant]
  }

  /** All of a variant, from all of its list. */
  whole(arranged: OfferList, all: Uint32Array | Promise<Uint32Array>): Uint32Array | Promise<Uint32Array> {
    const variant = arranged.variantOf?.variant ?? null
    return variant === null ? all : goOn(all, (slots) => this.#arrange(arranged, variant, slots))
  }

  #hasArranged({ order, ranking, head }: OfferList): boolean {
    const { slots } = this.#shelf
    const [its, scores] = [ranking ?? NO_RANKING, slots[order as Side]]
    return head.subarray(0, ARRANGED).some((slot) => isPinned(scores[slot] as number) || its.isNew(slots.ids[slot] as number, createdMs(slots, slot))) // prettier-ignore
  }

  #arrange({ order, ranking, segment }: OfferList, variant: number, sorted: Uint32Array): Uint32Array {
    const { slots } = this.#shelf
    const its = ranking ?? NO_RANKING
    const scoreOf = scorerOf(slots, order as Side, segment)
    const first = Array.from(sorted.subarray(0, ARRANGED), (slot) => {
      const [offerId, score] = [slots.ids[slot] as number, scoreOf(slot)]
      const isNew = its.isNew(offerId, createdMs(slots, slot))
      return { slot, offerId, score, weight: its.weight(offerId), isNew, pin: isPinned(score) ? pinOf(score) : 0 }
    })
    const arranged = sorted.slice()
    arranged.set(arrange(first, mix(its.id, variant)))
    return arranged
  }
}

const createdMs = ({ created }: Slots, slot: number) => (created[slot] as number) * 1_000
