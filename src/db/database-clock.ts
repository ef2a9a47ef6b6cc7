import type pg from 'pg'

const QUERY_TIMEOUT_MS = 3_000
const WAS_SET_MS = 1_000

/** Write it into a statement whose answer goes to `DatabaseClock.heard`. */
export const DATABASE_NOW_MS = 'extract(epoch FROM clock_timestamp())::float8 * 1000'

/**
 * What the database's clock shows when this node's shows something else. All nodes share the database's clock.
 *
 * What it told in an answer was before the answer came, and after the question went out. So each answer says how much it
 * is ahead at least, and at most. The highest "at least" counts: it only rises, so that what came later to this node
 * stays later, and it is short of the truth by the fastest answer's way back.
 */
export class DatabaseClock {
  readonly #pool: pg.Pool
  #aheadMs: number | null = null
  #processBeganMs = processBeganMs()

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** Asks only at first, and when this node's clock was set. */
  async aheadMs(): Promise<number> {
    if (Math.abs(processBeganMs() - this.#processBeganMs) > WAS_SET_MS) {
      this.#processBeganMs = processBeganMs()
      this.#aheadMs = null
    }
    if (this.#aheadMs !== null) return this.#aheadMs
    const askedAtMs = Date.now()
    const { rows } = await this.#pool.query<{ now_ms: number }>({
      text: `SELECT ${DATABASE_NOW_MS} AS now_ms`,
      query_timeout: QUERY_TIMEOUT_MS,
    } as pg.QueryConfig)
    return this.heard(askedAtMs, rows[0]?.now_ms ?? askedAtMs)
  }

  /** Takes the time that an answer told. */
  heard(askedAtMs: number, databaseNowMs: number): number {
    const atLeastMs = databaseNowMs - Date.now() - 1 // as this clock shows whole milliseconds
    const atMostMs = databaseNowMs - askedAtMs
    this.#aheadMs = Math.min(Math.max(this.#aheadMs ?? atLeastMs, atLeastMs), atMostMs)
    return this.#aheadMs
  }
}

/** Changes only when this node’s clock is set. */
function processBeganMs(): number {
  return Date.now() - performance.now()
}
