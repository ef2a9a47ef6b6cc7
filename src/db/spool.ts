// A file that takes what the database cannot take now: one JSON row a line, on the disk before `append` resolves.
// When the database is back the rows are replayed, oldest file first; a file is deleted only after its rows are
// committed, so a crash in between replays rows again and loses none. Rows must bear being written twice.
import { createReadStream, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const REPLAY_ROWS = 500

type Waiting = { line: string; done: () => void; failed: (error: unknown) => void }

export class Spool<Row> {
  readonly #folder: string
  readonly #name: string
  #file: FileHandle | null = null
  #fileName = ''
  #queue: Waiting[] = []
  #isWriting = false
  #count = 0

  constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
  }

  /** Resolves when the row is safe on disk. Rows that come while the disk is busy share the next sync. */
  append(row: Row): Promise<void> {
    return new Promise((done, failed) => {
      this.#queue.push({ line: `${JSON.stringify(row)}\n`, done, failed })
      if (!this.#isWriting) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isWriting = true
    while (this.#queue.length > 0) {
      const batch = this.#queue
      this.#queue = []
      try {
        this.#file ??= await this.#openNew()
        await this.#file.write(batch.map(({ line }) => line).join(''))
        await this.#file.datasync()
        for (const { done } of batch) done()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    this.#isWriting = false
  }

  async #openNew(): Promise<FileHandle> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    this.#fileName = `${this.#name}-${Date.now()}-${process.pid}-${this.#count++}.jsonl`
    const file = await open(join(this.#folder, this.#fileName), 'a', 0o600)
    const folder = await open(this.#folder, 'r')
    await folder.sync() // so that the name survives a power cut, too
    await folder.close()
    return file
  }

  get isEmpty(): boolean {
    return this.#files().length === 0
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => name.startsWith(`${this.#name}-`))
        .toSorted()
    } catch {
      return []
    }
  }

  /** Hands all rows to `write`, oldest first. Throws what `write` throws; what was not written stays for the next time. */
  async replay(write: (rows: Row[]) => Promise<void>): Promise<number> {
    let replayed = 0
    for (const name of this.#files()) {
      if (name === this.#fileName) await this.#closeCurrent()
      const path = join(this.#folder, name)
      let rows: Row[] = []
      for await (const line of createInterface({ input: createReadStream(path) })) {
        const row = parseLine(line)
        if (row !== null) rows.push(row as Row)
        if (rows.length === REPLAY_ROWS) {
          await write(rows)
          replayed += rows.length
          rows = []
        }
      }
      if (rows.length > 0) await write(rows)
      replayed += rows.length
      rmSync(path)
    }
    return replayed
  }

  async #closeCurrent(): Promise<void> {
    const file = this.#file
    this.#file = null
    this.#fileName = ''
    await file?.close()
  }

  async close(): Promise<void> {
    await this.#closeCurrent()
  }
}

/** Null for the torn last line of a crash: it was never acknowledged. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
