// The two rankings that a process holds: the one in effect, and the one before it, for pages that began with that. A new one
// is taken up before it takes effect, so that all processes change over at the same time.
import { SIDES, type Side } from '../choices.ts'
import { NO_ESTIMATES } from './model.ts'
import { NO_RANKING, Ranking } from './ranking.ts'

/** While a side is given to another ranking. */
const NOT_READY = new Ranking({ ...NO_ESTIMATES, rankingId: -1, effectiveAtMs: Infinity, segments: new Map() })

export class Rankings {
  readonly #sides: Record<Side, Ranking> = { recommended_a: NO_RANKING, recommended_b: NO_RANKING }

  #latest: Side = SIDES[0]

  on(side: Side): Ranking {
    return this.#sides[side]
  }

  /** The side of the ranking that is asked for, if it is still held, or of the one in effect. */
  choose(rankingId: number | undefined, nowMs: number): Side {
    const inEffect = [this.#latest, otherThan(this.#latest)].filter((side) => this.on(side).effectiveAtMs <= nowMs)
    return inEffect.find((side) => this.on(side).id === rankingId) ?? inEffect[0] ?? this.#latest
  }

  /** Makes room for another one: the side that is not in effect. */
  free(nowMs: number): Side {
    const side = otherThan(this.choose(undefined, nowMs))
    this.#sides[side] = NOT_READY
    return side
  }

  set(side: Side, ranking: Ranking): void {
    this.#sides[side] = ranking
    this.#latest = side
  }
}

const otherThan = (side: Side): Side => (side === SIDES[0] ? SIDES[1] : SIDES[0])
