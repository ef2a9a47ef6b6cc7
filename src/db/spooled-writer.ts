// Rows that are never refused because the database is away, or fails for whatever reason but the row itself: they are
// committed in groups, and while that cannot be, they go to the spool on disk and are written later, by the same ids.
import { messageOf } from '../errors.ts'
import { BatchWriter, type WriteBatch } from './batch-writer.ts'
import { isAway, isRowFault } from './faults.ts'
import type { Spool } from './spool.ts'

const AWAY_MS = 1_000

export type SpooledWriterOptions<Row, Result> = {
  /** Must be idempotent. */
  write: WriteBatch<Row, Result>
  /** Writes what comes out of the spool; without it the same as `write`. */
  writeLate?: (rows: Row[]) => Promise<unknown>
  spool: Spool<Row>
  /** What a row that went to the spool counts as. */
  spooled: Result
  lanes: number
  /** How long a row waits for the database before the spool takes it; the database may then have it as well. */
  patienceMs?: number
  warn: (message: string) => void
}

export class SpooledWriter<Row, Result> {
  readonly #writer: BatchWriter<Row, Result>
  readonly #writeLate: (rows: Row[]) => Promise<unknown>
  readonly #spool: Spool<Row>
  readonly #spooled: Result
  readonly #patienceMs: number | undefined
  readonly #warn: (message: string) => void
  #awayUntilMs = 0

  constructor(options: SpooledWriterOptions<Row, Result>) {
    const { write, writeLate = write, spool, spooled, lanes, patienceMs, warn } = options
    this.#writer = new BatchWriter(write, isRowFault, { lanes })
    this.#writeLate = writeLate
    this.#spool = spool
    this.#spooled = spooled
    this.#patienceMs = patienceMs
    this.#warn = warn
  }

  /** Resolves when the row is on disk, here or there. */
  async save(row: Row): Promise<Result> {
    if (Date.now() >= this.#awayUntilMs) {
      try {
        return await inTime(this.#writer.add(row), this.#patienceMs)
      } catch (error) {
        if (isRowFault(error)) throw error
        if (error instanceof TooLate || isAway(error)) this.#awayUntilMs = Date.now() + AWAY_MS
      }
    }
    await this.#spool.append(row)
    return this.#spooled
  }

  /** Writes what the spool took while the database did not. A row that the database refuses for good is set aside. */
  replay(): Promise<number> {
    return this.#spool.replay(async (rows) => {
      try {
        await this.#writeLate(rows)
      } catch (error) {
        if (!isRowFault(error)) throw error
        for (const row of rows) {
          await this.#writeLate([row]).catch(async (fault: unknown) => {
            if (!isRowFault(fault)) throw fault
            const file = await this.#spool.setAside(row)
            this.#warn(`the database refused a row of the spool (${messageOf(fault)}); it is in ${file}`)
          })
        }
      }
    })
  }

  async close(): Promise<void> {
    await this.#writer.drain()
    await this.#spool.close()
  }
}

class TooLate extends Error {}

function inTime<T>(work: Promise<T>, patienceMs: number | undefined): Promise<T> {
  if (patienceMs === undefined) return work
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TooLate('The database takes too long.')), patienceMs)
    work.finally(() => clearTimeout(timer)).then(resolve, reject)
  })
}
