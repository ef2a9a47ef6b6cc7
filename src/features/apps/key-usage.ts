// When API keys are used: the first use is recorded at once, later ones once a minute for each key. A request only
// leaves a mark in memory; a loop writes the marks to the database.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

const REPEAT_MS = 60_000

export class KeyUsage {
  /** The last mark of each key that needs no new one yet, oldest first. */
  readonly #marked = new Map<string, number>()
  /** Marks not written yet. */
  #unwritten = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Called for every authorized request: one look-up, and nothing else for a key that is marked. */
  readonly note = ({ apiKey }: { apiKey: string }): void => {
    if (!this.#marked.has(apiKey)) this.#mark(apiKey)
  }

  #mark(apiKey: string): void {
    const now = this.#now()
    this.#marked.set(apiKey, now)
    this.#unwritten.set(apiKey, now)
  }

  async write(db: Db): Promise<void> {
    this.#forgetOldMarks()
    if (this.#unwritten.size === 0) return
    const writing = this.#unwritten
    this.#unwritten = new Map()
    try {
      await recordUsage(db, writing)
    } catch (error) {
      for (const [apiKey, ms] of writing) this.#unwritten.set(apiKey, ms) // the earlier mark: it may be the first
      throw error
    }
  }

  #forgetOldMarks(): void {
    const now = this.#now()
    for (const [apiKey, ms] of this.#marked) {
      if (now - ms < REPEAT_MS) return
      this.#marked.delete(apiKey)
    }
  }
}

async function recordUsage(db: Db, usage: ReadonlyMap<string, number>): Promise<void> {
  const times = [...usage.values()].map((ms) => new Date(ms))
  await sql`
    INSERT INTO credential_uses AS known (api_key, first_used_at, last_used_at)
    SELECT api_key, used_at, used_at FROM unnest(${[...usage.keys()]}::text[], ${times}::timestamptz[]) AS t(api_key, used_at)
    ORDER BY api_key -- the same way round in every process
    ON CONFLICT (api_key) DO UPDATE SET last_used_at = greatest(known.last_used_at, excluded.last_used_at)`.execute(db)
}
