// When API keys are used: the first time at once, later times once a minute for each key. Requests only leave a mark in
// memory; a loop writes the marks down.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

const REPEAT_MS = 60_000

export class CredentialUses {
  /** Keys that need no new mark yet, by the time of theirs, oldest first. */
  readonly #marked = new Map<string, number>()
  /** Marks that are not written yet. */
  #unwritten = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** For every request that passes: one look-up, and nothing else for a key that has its mark. */
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
      await recordUses(db, writing)
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

async function recordUses(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  const times = [...uses.values()].map((ms) => new Date(ms))
  await sql`
    INSERT INTO credential_uses AS known (api_key, first_used_at, last_used_at)
    SELECT api_key, used_at, used_at FROM unnest(${[...uses.keys()]}::text[], ${times}::timestamptz[]) AS t(api_key, used_at)
    ORDER BY api_key -- the same way round in every process
    ON CONFLICT (api_key) DO UPDATE SET last_used_at = greatest(known.last_used_at, excluded.last_used_at)`.execute(db)
}
