// Which goals a user has completed, so that finished offers leave the user's list.
//
// Every process knows which users have any conversion, as a set of hashes, and asks the database only about those. It
// follows the feed of conversion events, a few times a second, and forgets what it knew of a user who
// appears there.
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { isAway } from '../../db/faults.ts'
import type { Db } from '../../db/open.ts'
import { Cache } from '../../lib/cache.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { NumberSet } from '../../lib/number-set.ts'

const REMEMBERED_USERS = 100_000
const PAGE = 10_000
const PATIENCE_MS = 1_000

/** A goal that need not be done again: its conversion is pending or approved. */
export type CompletedGoal = { offerId: number; goalId: number }

export type AppUser = { appId: number; isTest: boolean; userId: string }

const NONE: readonly CompletedGoal[] = []

type Remembered = { goals: readonly CompletedGoal[] | Promise<readonly CompletedGoal[]> }

export class Completions {
  readonly #db: Db
  #users = new NumberSet()
  readonly #remembered = new Cache<string, Remembered>(REMEMBERED_USERS)
  /** The last event that was taken in. */
  #seq = 0

  constructor(db: Db) {
    this.#db = db
  }

  /** At once for users who never converted, and for those asked about lately. */
  of(user: AppUser): readonly CompletedGoal[] | Promise<readonly CompletedGoal[]> {
    if (!this.#users.has(hashOf(user))) return NONE
    const key = keyOf(user)
    const known = this.#remembered.get(key)
    if (known !== undefined) return known.goals
    const entry: Remembered = { goals: NONE }
    const reading = this.#read(user).then(
      (goals) => (entry.goals = goals),
      (error: unknown) => {
        this.#remembered.replace(key, entry, null)
        if (isAway(error)) return NONE
        throw error
      },
    )
    // A list with an offer too many is better than none, or one that comes too late.
    entry.goals = Promise.race([reading, wait(PATIENCE_MS, NONE, { ref: false })])
    this.#remembered.set(key, entry)
    return entry.goals
  }

  /** Takes in what happened since the last time: at the start, everything. */
  async follow(): Promise<void> {
    const { seq } = await this.#db
      .selectFrom('event_feed')
      .select((is) => is.fn.max('seq').as('seq'))
      .executeTakeFirstOrThrow()
    if (seq === null || seq === this.#seq) return
    // The first time, and when the database knows less than before: it was restored, or a late standby took over.
    if (this.#seq === 0 || seq < this.#seq) return this.#loadAll(seq)
    while (this.#seq < seq && (await this.#followPage()) > 0);
  }

  /** Returns how many events there were. */
  async #followPage(): Promise<number> {
    const { rows } = await sql<{ seq: number; app_id: number; is_test: boolean; user_id: string }>`
      SELECT f.seq, f.app_id, f.is_test, c.user_id FROM event_feed f JOIN conversions c USING (conversion_id)
      WHERE f.seq > ${this.#seq} ORDER BY f.seq LIMIT ${PAGE}`.execute(this.#db)
    for (const row of rows) {
      const user = { appId: row.app_id, isTest: row.is_test, userId: row.user_id }
      this.#users.add(hashOf(user))
      const known = this.#remembered.get(keyOf(user))
      if (known !== undefined) this.#remembered.replace(keyOf(user), known, null)
    }
    this.#seq = rows.at(-1)?.seq ?? this.#seq
    return rows.length
  }

  async #loadAll(seq: number): Promise<void> {
    for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
      const rows = await this.#db
        .selectFrom('conversions')
        .select(['conversion_id', 'app_id', 'is_test', 'user_id'])
        .where('conversion_id', '>', after)
        .orderBy('conversion_id')
        .limit(PAGE)
        .execute()
      for (const row of rows) this.#users.add(hashOf({ appId: row.app_id, isTest: row.is_test, userId: row.user_id }))
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) break
      after = last.conversion_id
    }
    this.#remembered.clear()
    this.#seq = seq
  }

  async #read({ appId, isTest, userId }: AppUser): Promise<readonly CompletedGoal[]> {
    const rows = await this.#db
      .selectFrom('conversions')
      .select(['offer_id', 'goal_id'])
      .where('app_id', '=', appId)
      .where('user_id', '=', userId)
      .where('is_test', '=', isTest)
      .where('status', 'in', ['pending', 'approved'])
      .execute()
    return rows.map((row) => ({ offerId: row.offer_id, goalId: row.goal_id }))
  }
}

const hashOf = ({ appId, isTest, userId }: AppUser) => hashNumber(userId, appId * 2 + (isTest ? 1 : 0)) || 1
const keyOf = ({ appId, isTest, userId }: AppUser) => `${appId}|${isTest ? 't' : 'l'}|${userId}`
