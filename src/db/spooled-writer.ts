// Rows that are never refused because the database is unavailable, or fails for any reason but the row itself: they are
// committed in groups, or written to the spool on disk and replayed later under the same ids.
import { messageOf } from '../errors.ts'
import { inTime, TooLate } from '../lib/in-time.ts'
import { type BatchCounts, BatchWriter, type WriteBatch } from './batch-writer.ts'
import { isUnavailable, isRowError } from './pg-errors.ts'
import type { Spool } from './spool.ts'

const UNAVAILABLE_MS = 1_000

export type SpooledWriterOptions<Row, Result> = {
  /** Must be idempotent. */
  write: WriteBatch<Row, Result>
  /** Writes rows replayed from the spool; `write` by default. */
  writeLate?: (rows: Row[]) => Promise<unknown>
  spool: Spool<Row>
  /** The result for a row that went to the spool. */
  spooled: Result
  concurrency: number
  /** The request that a row came with, for the log. */
  requestOf: (row: Row) => string | null
  /** How long a row waits for the database before it goes to the spool; the database may then have it as well. */
  patienceMs?: number
  warn: (message: string) => void
}

export class SpooledWriter<Row, Result> {
  readonly #writer: BatchWriter<Row, Result>
  readonly #writeLate: (rows: Row[]) => Promise<unknown>
  readonly #spool: Spool<Row>
  readonly #spooled: Result
  readonly #patienceMs: number | undefined
  readonly #requestOf: (row: Row) => string | null
  readonly #warn: (message: string) => void
  #unavailableUntilMs = 0
  #lastRefusal = ''

  constructor(options: SpooledWriterOptions<Row, Result>) {
    const { write, writeLate = write, spool, spooled, concurrency, patienceMs, requestOf, warn } = options
    this.#writer = new BatchWriter(write, isRowError, { concurrency })
    this.#writeLate = writeLate
    this.#spool = spool
    this.#spooled = spooled
    this.#patienceMs = patienceMs
    this.#requestOf = requestOf
    this.#warn = warn
  }

  /** Resolves when the row is on disk, in the database or the spool. */
  async save(row: Row): Promise<Result> {
    if (Date.now() >= this.#unavailableUntilMs) {
      try {
        const written = this.#writer.add(row)
        return await (this.#patienceMs === undefined ? written : inTime(written, this.#patienceMs))
      } catch (error) {
        if (isRowError(error)) throw error
        if (error instanceof TooLate || isUnavailable(error)) this.#unavailableUntilMs = Date.now() + UNAVAILABLE_MS
        else this.#noteRefusal(messageOf(error))
      }
    }
    await this.#spool.append(row)
    return this.#spooled
  }

  /** Each reason once in a row: the spool hides it otherwise, and what it replays is not checked against caps. */
  #noteRefusal(reason: string): void {
    if (reason !== this.#lastRefusal) this.#warn(`the database refused rows, which go to the spool: ${reason}`)
    this.#lastRefusal = reason
  }

  /** Replays the spool. A row that the database refuses for good is set aside. */
  replay(): Promise<number> {
    return this.#spool.replay(async (rows) => {
      try {
        await this.#writeLate(rows)
      } catch (error) {
        if (!isRowError(error)) throw error
        for (const row of rows) {
          await this.#writeLate([row]).catch(async (error: unknown) => {
            if (!isRowError(error)) throw error
            const file = await this.#spool.setAside(row)
            this.#warn(
              `the database refused a row of the spool (${messageOf(error)}), of request ${this.#requestOf(row) ?? 'unknown'}; it is in ${file}`,
            )
          })
        }
      }
    })
  }

  get counts(): BatchCounts {
    return this.#writer.counts
  }

  async close(): Promise<void> {
    await this.#writer.drain()
    await this.#spool.close()
  }
}
