// The sub-IDs of a user's latest request that carried any, kept for conversions that come without a click.
//
// They are on disk before the request is answered: in the database, or in the spool while the database is unavailable.
// While this is the only API process, its memory of what it wrote is right, and an unchanged set is not written again.
// With several processes the database compares, and records every 10 s that a set is still the latest, so that a
// replayed spool does not replace it.
import type pg from 'pg'
import type { SingleWriter } from '../../db/single-writer.ts'
import type { Spool } from '../../db/spool.ts'
import { type BatchCounts, untraced } from '../../db/batch-writer.ts'
import { DATABASE_NOW_MS, DatabaseClock } from '../../db/database-clock.ts'
import { SpooledWriter } from '../../db/spooled-writer.ts'
import { Cache } from '../../lib/cache.ts'
import type { FindErased } from '../apps/erased-users.ts'

const REMEMBERED_USERS = 200_000
const QUERY_TIMEOUT_MS = 3_000
const NOTED_AGAIN_MS = 86_400_000 // an unchanged set says once a day that it is still the latest, or it would be forgotten
const PATIENCE_MS = 1_000 // then it goes to the spool: a user waits for the response

export type SubIdSet = readonly [string | null, string | null, string | null, string | null]

/** Also the format of the spool. */
export type UserContext = {
  appId: number
  isTest: boolean
  userId: string
  subIds: SubIdSet
  seenAtMs: number
  /** The request that carried them. */
  requestId?: string
}

type Remembered = { value: string; keptAtMs: number; saving: Promise<void> | null }

export class Contexts {
  readonly #pool: pg.Pool
  readonly #databaseClock: DatabaseClock
  readonly #singleWriter: SingleWriter
  readonly #writer: SpooledWriter<UserContext, void>
  readonly #remembered = new Cache<string, Remembered>(REMEMBERED_USERS)

  constructor(
    pool: pg.Pool,
    spool: Spool<UserContext>,
    singleWriter: SingleWriter,
    findErased: FindErased,
    warn: (message: string) => void,
    traceBatch = untraced,
  ) {
    this.#pool = pool
    this.#databaseClock = new DatabaseClock(pool)
    this.#singleWriter = singleWriter
    this.#writer = new SpooledWriter({
      write: traceBatch(
        'user_contexts',
        (rows: UserContext[]) => this.#write(rows),
        ({ requestId = null }) => ({ requestId }),
      ),
      writeLate: async (rows) => {
        const erased = await findErased(rows.map((row) => ({ ...row, at: new Date(row.seenAtMs) })))
        await this.#write(rows.filter((_, i) => erased[i] === null))
      },
      spool,
      spooled: undefined,
      concurrency: 2,
      patienceMs: PATIENCE_MS,
      requestOf: (row) => row.requestId ?? null,
      warn,
    })
    singleWriter.onPeerJoined = () => this.forget()
  }

  /** What was kept may be gone: nothing counts as kept any more. */
  forget(): void {
    this.#remembered.clear()
  }

  /**
   * Saves a user's sub-IDs. Returns nothing when they are saved already, else a promise that resolves when they are.
   */
  keep(context: UserContext): Promise<void> | undefined {
    if (!this.#singleWriter.isAlone) return this.#writer.save(context)
    const key = `${context.appId}|${context.isTest ? 't' : 'l'}|${context.userId}`
    const value = JSON.stringify(context.subIds)
    const known = this.#remembered.get(key)
    if (known?.value === value && context.seenAtMs - known.keptAtMs < NOTED_AGAIN_MS) return known.saving ?? undefined
    const entry: Remembered = { value, keptAtMs: context.seenAtMs, saving: null }
    entry.saving = this.#writer.save(context).then(
      () => void (entry.saving = null),
      (error: unknown) => {
        entry.value = '' // not kept: the next request writes again
        throw error
      },
    )
    this.#remembered.set(key, entry)
    return entry.saving
  }

  /** Replays what was spooled while the database was unavailable. */
  replaySpool(): Promise<number> {
    return this.#writer.replay()
  }

  get counts(): BatchCounts {
    return this.#writer.counts
  }

  close(): Promise<void> {
    return this.#writer.close()
  }

  async #write(rows: UserContext[]): Promise<void[]> {
    // A statement may touch a row once: of several sets for one user the latest counts.
    const latest = new Map<string, UserContext>()
    for (const row of rows) {
      const key = `${row.appId}|${row.isTest}|${row.userId}`
      const other = latest.get(key)
      if (other === undefined || other.seenAtMs <= row.seenAtMs) latest.set(key, row)
    }
    if (latest.size === 0) return []
    // Always in the same order, so that two processes writing the same users never deadlock.
    const distinct = [...latest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    const aheadMs = await this.#databaseClock.aheadMs()
    const askedAtMs = Date.now()
    const { rows: answer } = await this.#pool.query<{ now_ms: number }>({
      text: `/* keep-contexts */ WITH kept AS (
          INSERT INTO user_contexts AS old (app_id, is_test, user_id, aff_sub, aff_sub2, aff_sub3, aff_sub4, seen_at)
          SELECT app_id, is_test, user_id, aff_sub, aff_sub2, aff_sub3, aff_sub4, to_timestamp(seen_at_ms / 1000)
          FROM unnest($1::bigint[], $2::boolean[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
            AS new (app_id, is_test, user_id, aff_sub, aff_sub2, aff_sub3, aff_sub4, seen_at_ms)
          ON CONFLICT (app_id, user_id, is_test) DO UPDATE
          SET aff_sub = excluded.aff_sub, aff_sub2 = excluded.aff_sub2, aff_sub3 = excluded.aff_sub3, aff_sub4 = excluded.aff_sub4, seen_at = excluded.seen_at
          WHERE old.seen_at <= excluded.seen_at AND (
            (old.aff_sub, old.aff_sub2, old.aff_sub3, old.aff_sub4) IS DISTINCT FROM (excluded.aff_sub, excluded.aff_sub2, excluded.aff_sub3, excluded.aff_sub4)
            OR old.seen_at < excluded.seen_at - interval '10 seconds')
        ) SELECT ${DATABASE_NOW_MS} AS now_ms`,
      values: [
        distinct.map((row) => row.appId),
        distinct.map((row) => row.isTest),
        distinct.map((row) => row.userId),
        ...[0, 1, 2, 3].map((place) => distinct.map((row) => row.subIds[place])),
        distinct.map((row) => Math.min(row.seenAtMs, askedAtMs) + aheadMs),
      ],
      query_timeout: QUERY_TIMEOUT_MS,
    } as pg.QueryConfig)
    this.#databaseClock.heard(askedAtMs, answer[0]?.now_ms ?? askedAtMs + aheadMs)
    return rows.map(() => undefined)
  }
}
