// Files for rows that the database cannot accept now: one JSON row a line, on disk before `append` resolves.
//
// Every process has its own folder, and holds a lock in it as long as it lives. It appends to one file, which is closed
// and replayed when the database is back, and deleted after its rows are committed. A crash in between replays rows
// again and loses none, so writing a row twice must be safe. Folders of processes that are gone (their lock is free)
// are replayed by any other process.
import { randomUUID } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { tryFileLock } from '../lib/file-lock.ts'

const REPLAY_ROWS = 500
const LOCK = 'owner.lock'
const UNBORN = '.new-'

type Waiting = { line: string; done: () => void; failed: (error: unknown) => void }

export class Spool<Row> {
  readonly #root: string
  readonly #own: string
  #unlock: (() => void) | null = null
  #file: { handle: FileHandle; path: string } | null = null
  #queue: Waiting[] = []
  /** Everything that touches the open file goes through this, one after the other. */
  #turn: Promise<void> = Promise.resolve()
  #count = 0

  /** `root` is for rows of one kind only. */
  constructor(root: string) {
    this.#root = root
    this.#own = join(root, `${Date.now()}-${process.pid}-${randomUUID().slice(0, 8)}`)
  }

  /** Resolves when the row is safe on disk. Rows that come while the disk is busy share the next sync. */
  append(row: Row): Promise<void> {
    return new Promise((done, failed) => {
      this.#queue.push({ line: `${JSON.stringify(row)}\n`, done, failed })
      if (this.#queue.length === 1) void this.#inTurn(() => this.#writeQueue())
    })
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {}) // the caller gets the error
    return turn
  }

  async #writeQueue(): Promise<void> {
    const batch = this.#queue
    this.#queue = []
    try {
      this.#file ??= await this.#openNew()
      await this.#file.handle.appendFile(batch.map(({ line }) => line).join(''))
      await this.#file.handle.datasync()
      for (const { done } of batch) done()
    } catch (error) {
      // Perhaps half a line was written: nothing must come behind it.
      await this.#seal().catch(() => {})
      for (const { failed } of batch) failed(error)
    }
  }

  async #openNew(): Promise<{ handle: FileHandle; path: string }> {
    this.#unlock ??= await this.#createOwnFolder()
    const path = join(this.#own, `${String(this.#count++).padStart(9, '0')}.jsonl`)
    const handle = await open(path, 'ax', 0o600)
    for (const folder of [this.#own, this.#root]) {
      const opened = await open(folder, 'r')
      await opened.sync() // so that the names survive a power cut, too
      await opened.close()
    }
    return { handle, path }
  }

  /** Created under a name that is never replayed, locked, then renamed: it is never visible without its lock. */
  async #createOwnFolder(): Promise<() => void> {
    const unborn = join(this.#root, `${UNBORN}${randomUUID()}`)
    await mkdir(unborn, { recursive: true, mode: 0o700 })
    const unlock = tryFileLock(join(unborn, LOCK))
    if (unlock === null) throw new Error(`The new folder ${unborn} is locked by another process.`)
    await rename(unborn, this.#own)
    return unlock
  }

  async #seal(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.handle.close()
  }

  /** Hands all rows to `write`, oldest first. Throws what `write` throws; what was not written stays for the next time. */
  async replay(write: (rows: Row[]) => Promise<void>): Promise<number> {
    if (!existsSync(this.#root)) return 0
    let sealed: string[] = []
    await this.#inTurn(async () => {
      await this.#seal()
      sealed = filesIn(this.#own) // in the same turn: the next one may open a file, which is not ours to replay
    })
    let replayed = 0
    for (const path of sealed) replayed += await replayFile(path, write)
    for (const entry of readdirSync(this.#root, { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const folder = join(this.#root, entry.name)
      if (entry.isDirectory() && !entry.name.startsWith(UNBORN) && folder !== this.#own)
        replayed += await this.#replayOrphan(folder, write)
    }
    return replayed
  }

  async #replayOrphan(folder: string, write: (rows: Row[]) => Promise<void>): Promise<number> {
    const release = existsSync(folder) ? tryFileLock(join(folder, LOCK)) : null
    if (release === null) return 0 // its process lives, or another process is replaying it
    try {
      let replayed = 0
      for (const path of filesIn(folder)) replayed += await replayFile(path, write)
      rmSync(folder, { recursive: true, force: true })
      return replayed
    } finally {
      release()
    }
  }

  /** Sets aside a row that can never be written, for a person to look at. Resolves with the name of the file. */
  async setAside(row: Row): Promise<string> {
    const path = join(this.#root, 'refused.jsonl')
    const file = await open(path, 'a', 0o600)
    try {
      await file.appendFile(`${JSON.stringify(row)}\n`)
      await file.datasync()
    } finally {
      await file.close()
    }
    return path
  }

  /** What is left stays for the next start. */
  async close(): Promise<void> {
    await this.#inTurn(() => this.#seal())
    if (this.#unlock !== null && filesIn(this.#own).length === 0) rmSync(this.#own, { recursive: true, force: true })
    this.#unlock?.()
    this.#unlock = null
  }
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .map((name) => join(folder, name))
}

async function replayFile<Row>(path: string, write: (rows: Row[]) => Promise<void>): Promise<number> {
  let rows: Row[] = []
  let replayed = 0
  const flush = async () => {
    if (rows.length > 0) await write(rows)
    replayed += rows.length
    rows = []
  }
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const row = parseLine(line)
    if (row !== null) rows.push(row as Row)
    if (rows.length === REPLAY_ROWS) await flush()
  }
  await flush()
  rmSync(path, { force: true })
  return replayed
}

/** Null for the torn last line of a crash: it was never acknowledged. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
