// Which goals a user has completed, so that completed offers leave the user's list.
//
// Most users who ask for a list never converted. Every process keeps a Bloom filter of those who did, so that no query is
// needed for the others; for the rest it reads the completed goals by index, a batch of users at a time, and caches them.
// It follows the feed of conversion events a few times a second: each user there is added to the filter and dropped from
// the cache. A process serves before its filter is filled: until then it reads every user's goals.
//
// If the database is unavailable, lists are served as if the user had completed nothing. Clicks and payments check again.
import { setImmediate as yieldToRequests, setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { BatchWriter } from '../../db/batch-writer.ts'
import { isUnavailable, isRowError } from '../../db/pg-errors.ts'
import type { Db } from '../../db/open.ts'
import { BloomFilter } from '../../lib/bloom-filter.ts'
import { Cache } from '../../lib/cache.ts'
import { goOn } from '../../lib/go-on.ts'
import { hashNumber } from '../../lib/hash-text.ts'

const CACHED_GOALS = 500_000
const FEED_PAGE = 10_000
const FILL_PAGE = 2_000
const PATIENCE_MS = 1_000
const CONCURRENCY = 2

/** A goal that is not paid again: its conversion is pending or approved, or was reversed or rejected for good. */
export type CompletedGoal = { offerId: number; goalId: number }

export type AppUser = { appId: number; isTest: boolean; userId: string }

type Goals = readonly CompletedGoal[]
const NONE: Goals = []

type Cached = { goals: Goals | Promise<Goals> }

export class Completions {
  readonly #db: Db
  readonly #cached = new Cache<string, Cached>(CACHED_GOALS, ({ goals }) => 1 + ('length' in goals ? goals.length : 0))
  /** Null: the database did not answer in time. */
  readonly #reader: BatchWriter<AppUser, Goals | null>
  /** All users who ever converted, or null until that is known. */
  #converted: BloomFilter | null = null
  /** The filter that takes its place once it is filled. */
  #filling: BloomFilter | null = null
  /** The last event that was followed; null before the first look. */
  #seq: number | null = null
  #unavailableUntilMs = 0
  #moves: number | null = null
  /** Called after users were erased, when what was known of all of them is dropped. */
  onErased: () => void = () => {}
  readonly #listeners = new Set<(user: AppUser) => void>()

  constructor(db: Db) {
    this.#db = db
    this.#reader = new BatchWriter((users) => this.#readInTime(users), isRowError, { concurrency: CONCURRENCY })
  }

  /** At once for users who never converted, and for those asked about lately. */
  of(user: AppUser): Goals | Promise<Goals> {
    if (this.#converted !== null && !this.#converted.has(hashOf(user.appId, user.userId))) return NONE
    const key = keyOf(user)
    const known = this.#cached.get(key)
    if (known !== undefined) return known.goals
    if (Date.now() < this.#unavailableUntilMs) return NONE
    const entry: Cached = { goals: NONE }
    entry.goals = this.#reader.add(user).then(
      (goals) => {
        // Inserted again, to be weighed; unless the user appeared in the feed meanwhile.
        this.#cached.replace(key, entry, goals === null ? null : { goals })
        return goals ?? NONE
      },
      (error: unknown) => {
        this.#cached.replace(key, entry, null)
        throw error
      },
    )
    this.#cached.set(key, entry)
    return entry.goals
  }

  /** Whether any conversion of the user counts, also of what repeats. At once for users who never converted. */
  hasConverted(user: AppUser): boolean | Promise<boolean> {
    if (this.#converted !== null && !this.#converted.has(hashOf(user.appId, user.userId))) return false
    return goOn(this.of(user), (goals) => {
      if (goals.length > 0 || Date.now() < this.#unavailableUntilMs) return goals.length > 0
      return this.#inTime(this.#hasStanding(user)).then((found) => found ?? false)
    })
  }

  /** Called for the user of each event, after what was known of the user is dropped. Returns how to stop that. */
  subscribe(listener: (user: AppUser) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Applies what happened since the last look. */
  async follow(): Promise<void> {
    const end = await this.#db
      .selectFrom('event_feed')
      .select((is) => is.fn.max('seq').as('seq'))
      .select((is) => is.selectFrom('erasure_moves').select('moves').as('moves'))
      .executeTakeFirstOrThrow()
    const seq = end.seq ?? 0
    if (this.#moves !== null && this.#moves !== end.moves) {
      this.#cached.clear()
      this.onErased()
    }
    this.#moves = end.moves
    // The first time, and when the database knows less than before: it was restored, or a late standby took over.
    if (this.#seq === null || seq < this.#seq) {
      this.#cached.clear()
      this.#converted = null
      this.#filling = null
      this.#seq = seq
    }
    while (this.#seq < seq && (await this.#followPage(this.#seq)) > 0);
  }

  /** Fills the filter where there is none yet, or a larger one where it has become too small. */
  async fill(): Promise<void> {
    if (this.#seq === null || (this.#converted !== null && !this.#converted.isCrowded)) return
    const filter = new BloomFilter(2 * (this.#converted?.size ?? (await this.#estimateUsers())))
    this.#filling = filter
    let last = { app_id: 0, user_id: '' }
    for (;;) {
      // By the index alone, each user once. Users who convert behind this place meanwhile come by the feed.
      const { rows } = await sql<typeof last>`
        SELECT DISTINCT app_id, user_id FROM conversions WHERE (app_id, user_id) > (${last.app_id}, ${last.user_id})
        ORDER BY app_id, user_id LIMIT ${FILL_PAGE}`.execute(this.#db)
      if (this.#filling !== filter) return // the database was replaced
      for (const row of rows) filter.add(hashOf(row.app_id, row.user_id))
      last = rows.at(-1) ?? last
      if (rows.length < FILL_PAGE) break
      await yieldToRequests()
    }
    this.#converted = filter
    this.#filling = null
  }

  /** Returns how many events there were. */
  async #followPage(after: number): Promise<number> {
    const { rows } = await sql<{ seq: number; app_id: number; is_test: boolean; user_id: string }>`
      SELECT f.seq, f.app_id, f.is_test, c.user_id FROM event_feed f JOIN conversions c USING (conversion_id)
      WHERE f.seq > ${after} ORDER BY f.seq LIMIT ${FEED_PAGE}`.execute(this.#db)
    for (const row of rows) {
      const hash = hashOf(row.app_id, row.user_id)
      this.#converted?.add(hash)
      this.#filling?.add(hash)
      const user = { appId: row.app_id, isTest: row.is_test, userId: row.user_id }
      const key = keyOf(user)
      const known = this.#cached.get(key)
      if (known !== undefined) this.#cached.replace(key, known, null)
      for (const listener of this.#listeners) listener(user)
    }
    this.#seq = rows.at(-1)?.seq ?? after
    return rows.length
  }

  async #estimateUsers(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      SELECT reltuples AS count FROM pg_class WHERE oid = 'conversions'::regclass`.execute(this.#db)
    return rows[0]?.count ?? 0
  }

  /** A list with an offer too many is better than none, or one that comes too late. */
  async #readInTime(users: AppUser[]): Promise<(Goals | null)[]> {
    return (await this.#inTime(this.#read(users))) ?? users.map(() => null)
  }

  /** Null: the database did not answer in time. */
  async #inTime<T>(work: Promise<T>): Promise<T | null> {
    const reading = work.catch((error: unknown) => {
      if (isUnavailable(error)) return null
      throw error
    })
    const patience = new AbortController()
    const { signal } = patience
    const found = await Promise.race([reading, wait(PATIENCE_MS, null, { ref: false, signal }).catch(() => null)])
    patience.abort()
    if (found === null) this.#unavailableUntilMs = Date.now() + PATIENCE_MS
    return found
  }

  async #hasStanding({ appId, isTest, userId }: AppUser): Promise<boolean> {
    const { rows } = await sql<{ found: boolean }>`SELECT EXISTS (SELECT FROM conversions WHERE app_id = ${appId}
      AND user_id = ${userId} AND is_test = ${isTest} AND status IN ('pending', 'approved')) AS found`.execute(this.#db)
    return rows[0]?.found === true
  }

  /** What repeats is never completed, so it is not read: a user may have any number of it. */
  async #read(users: readonly AppUser[]): Promise<Goals[]> {
    const { rows } = await sql<{ place: number; offer_id: number; goal_id: number }>`
      SELECT asked.place, c.offer_id, c.goal_id
      FROM unnest(${users.map((user) => user.appId)}::bigint[], ${users.map((user) => user.userId)}::text[],
        ${users.map((user) => user.isTest)}::boolean[]) WITH ORDINALITY AS asked (app_id, user_id, is_test, place)
      CROSS JOIN LATERAL (
        SELECT offer_id, goal_id FROM conversions c
        WHERE c.app_id = asked.app_id AND c.user_id = asked.user_id AND c.is_test = asked.is_test
          AND c.status IN ('pending', 'approved') AND NOT c.is_repeatable
        UNION ALL
        SELECT offer_id, goal_id FROM conversions c
        WHERE c.app_id = asked.app_id AND c.user_id = asked.user_id AND c.is_test = asked.is_test
          AND c.status IN ('rejected', 'reversed') AND c.bars_redo
        OFFSET 0
      ) c`.execute(this.#db)
    const goals: CompletedGoal[][] = users.map(() => [])
    for (const { place, offer_id, goal_id } of rows) goals[place - 1]?.push({ offerId: offer_id, goalId: goal_id })
    return goals
  }
}

const hashOf = (appId: number, userId: string) => hashNumber(userId, appId)
const keyOf = ({ appId, isTest, userId }: AppUser) => `${appId}|${isTest ? 't' : 'l'}|${userId}`
