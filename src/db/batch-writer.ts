// Group commit: rows that arrive while others are being written go together into the next statement, and each caller
// continues when its row is committed. Nothing waits for a batch to fill: what a busy server gathers meanwhile is
// enough.
//
// A batch that fails because of one of its rows is written row by row, so that one bad row fails no other. The queue is
// bounded; beyond it a row is refused at once, with an error that says so.

const MAX_ROWS = 200
const MAX_QUEUED = 20_000
const WORTH_A_LANE = 1 / 4 // of a batch; fewer rows wait for the one under way: a batch is expensive, a row in it is cheap
const PATIENCE_MS = 10 // but not for one that is stuck

type Waiting<Row, Result> = { row: Row; done: (result: Result) => void; failed: (error: unknown) => void }

/** Writes a batch; resolves with the result of each row, in order, when all are committed. */
export type WriteBatch<Row, Result> = (rows: Row[]) => Promise<readonly Result[]>

/** The request that a row came with; `flow`: the one of its click, `link`: another one that led to it. */
export type RowOrigin = { requestId: string | null; flow?: string | null; link?: string | null }

/** Sees what is written, where traces are wanted. `describe` gets no result for a row that was not written. */
export type TraceBatch = <Row, Result>(
  table: string,
  write: WriteBatch<Row, Result>,
  describe: (row: Row, result: Result | undefined) => RowOrigin,
) => WriteBatch<Row, Result>

export const untraced: TraceBatch = (_table, write) => write

/** Since the process began, and what waits now. */
export type BatchCounts = { batches: number; rows: number; queued: number }

export class BatchWriter<Row, Result> {
  readonly #write: WriteBatch<Row, Result>
  readonly #isRowError: (error: unknown) => boolean
  readonly #concurrency: number
  readonly #maxRows: number
  #queue: Waiting<Row, Result>[] = []
  #writing = 0
  #batches = 0
  #rows = 0
  #isDue = false
  #timer: NodeJS.Timeout | null = null
  #drained: (() => void)[] = []

  /**
   * `write` must be idempotent: a batch that failed half way is written again. Up to `concurrency` batches are written
   * at once.
   */
  constructor(
    write: WriteBatch<Row, Result>,
    isRowError: (error: unknown) => boolean,
    { concurrency = 1, maxRows = MAX_ROWS } = {},
  ) {
    this.#write = write
    this.#isRowError = isRowError
    this.#concurrency = concurrency
    this.#maxRows = maxRows
  }

  /** Resolves when the row is committed. */
  add(row: Row): Promise<Result> {
    if (this.#queue.length >= MAX_QUEUED) return Promise.reject(new Error('The write queue is full.'))
    return new Promise((done, failed) => {
      this.#queue.push({ row, done, failed })
      this.#startSoon()
    })
  }

  get counts(): BatchCounts {
    return { batches: this.#batches, rows: this.#rows, queued: this.#queue.length }
  }

  /** Resolves when there is nothing left to write. */
  async drain(): Promise<void> {
    if (this.#queue.length > 0 || this.#writing > 0) await new Promise<void>((done) => this.#drained.push(done))
  }

  /** After what has arrived by now is queued. */
  #startSoon(): void {
    if (this.#isDue || this.#writing >= this.#concurrency) return
    this.#isDue = this.#writing === 0 || this.#queue.length >= this.#maxRows * WORTH_A_LANE
    if (this.#isDue) setImmediate(() => this.#start())
    else this.#timer ??= setTimeout(() => this.#start(), PATIENCE_MS)
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#isDue = false
    if (this.#queue.length === 0 || this.#writing >= this.#concurrency) return
    const batch = this.#queue.splice(0, this.#maxRows)
    this.#writing++
    this.#batches++
    this.#rows += batch.length
    void this.#commit(batch).finally(() => {
      this.#writing--
      if (this.#queue.length > 0) this.#startSoon()
      else if (this.#writing === 0) for (const done of this.#drained.splice(0)) done()
    })
  }

  async #commit(batch: Waiting<Row, Result>[]): Promise<void> {
    try {
      const results = await this.#write(batch.map(({ row }) => row))
      for (const [i, { done }] of batch.entries()) done(results[i] as Result)
    } catch (error) {
      if (batch.length > 1 && this.#isRowError(error)) for (const waiting of batch) await this.#commit([waiting])
      else for (const { failed } of batch) failed(error)
    }
  }
}
