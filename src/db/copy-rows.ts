// Rows in PostgreSQL's binary COPY format, handed over as bytes while they arrive: for what is read by the million, where
// an object and a few strings for each row would take longer than everything else.
import pg from 'pg'

/** Receives one row, which is overwritten after the call. */
export type TakeRow = (row: CopiedRow) => void

const HEADER = 0x50 // "PGCOPY…" begins each statement's data; a row begins with its number of fields
const HEADER_BYTES = 19
const FIELD_COUNT_BYTES = 2
const END = 0xff // of a statement's data: -1 fields
const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'
/** Rows follow the index of their order: sorting them, with workers that are started for it, takes a quarter longer. */
const IN_ORDER = 'SET LOCAL jit = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off'
const YEAR_2000_MS = 946_684_800_000 // PostgreSQL counts time from there

/**
 * Runs selects, each for its own receiver, one after the other and all in one snapshot. They cannot have parameters. A
 * connection on which this failed must not be used again.
 */
export function copyRows(client: pg.ClientBase, selects: readonly { sql: string; take: TakeRow }[]): Promise<void> {
  const copies = selects.map(({ sql }) => `COPY (${sql}) TO STDOUT (FORMAT binary)`)
  const text = [BEGIN, IN_ORDER, ...copies, 'COMMIT'].join(';\n')
  const row = new CopiedRow()
  let statement = -1
  let failure: unknown
  const onData = (chunk: Buffer) => {
    const isFirst = chunk[0] === HEADER
    if (isFirst) statement++
    const start = isFirst ? HEADER_BYTES : 0
    if (chunk[start] === END || failure !== undefined) return
    try {
      row.reset(chunk, start + FIELD_COUNT_BYTES)
      selects[statement]?.take(row)
    } catch (error) {
      failure = error // thrown from here, inside the connection, it would end the process
    }
  }
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error || failure !== undefined ? reject(error ?? failure) : resolve())
    client.query(new CopyQuery(text, onData, done))
  })
}

/** A query that hands on the data of COPY, of which the server sends one message a row. What it gets is overwritten later. */
export class CopyQuery extends pg.Query {
  readonly handleCopyData: (message: { chunk: Buffer }) => void

  constructor(text: string, onData: (chunk: Buffer) => void, done: (error?: Error | null) => void) {
    super(text, undefined, done)
    this.handleCopyData = ({ chunk }) => onData(chunk)
  }
}

/** The fields of a row, read one after the other, each as what it is. */
export class CopiedRow {
  bytes: Uint8Array = new Uint8Array(0)
  #at = 0

  reset(bytes: Uint8Array, at: number): void {
    this.bytes = bytes
    this.#at = at
  }

  /** The length of the next field, or -1 for null; `pass` goes over its bytes. */
  next(): number {
    return this.#int32()
  }

  /** Goes over so many bytes and returns where they begin. */
  pass(length: number): number {
    const start = this.#at
    this.#at += length
    return start
  }

  /** Where it stands. */
  get at(): number {
    return this.#at
  }

  /** Goes over so many fields and returns where the first begins, with its length. */
  passFields(count: number): number {
    const start = this.#at
    for (; count > 0; count--) this.pass(Math.max(0, this.next()))
    return start
  }

  bool(): boolean {
    return this.next() === 1 && this.bytes[this.pass(1)] === 1
  }

  int4(): number | null {
    return this.next() === -1 ? null : this.#int32()
  }

  int8(): number | null {
    return this.next() === -1 ? null : this.#int64()
  }

  /** Milliseconds since 1970, with infinities. */
  time(): number | null {
    if (this.next() === -1) return null
    const micros = this.#int64()
    if (Math.abs(micros) >= 2 ** 62) return micros * Infinity
    return micros / 1_000 + YEAR_2000_MS
  }

  /** Stands before the elements of an array and returns how many there are; each is then read like a field. */
  elements(): number {
    if (this.next() === -1) return 0
    const dimensions = this.#int32()
    this.pass(8) // whether there are nulls, and the type
    if (dimensions === 0) return 0
    const count = this.#int32()
    this.pass(4) // the lower bound
    return count
  }

  #int32(): number {
    const { bytes } = this
    const at = this.pass(4)
    return (
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)
    )
  }

  #int64(): number {
    return this.#int32() * 2 ** 32 + (this.#int32() >>> 0)
  }
}
