// Reads of the dashboard, from a replica that keeps up (DATABASE_REPLICA_URL), so that reports take nothing from the primary.
//
// How far it is behind is measured by its position in the primary's log, once a second: a replica that hears nothing any
// more looks up to date to itself. One that is behind by more than two seconds, or down, is not used until it caught up. A
// change in the dashboard is answered when the replica has it, or is no longer used: who changed something sees it changed.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { type ConnectionLimits, readConnectionLimits, REPLICA_CONNECTIONS } from './connection-budget.ts'
import { type Db, openPool } from './open.ts'
import type { DB } from './tables.ts'

const MAX_LAG_MS = 2_000
/** Other processes notice a lag at their next look. */
const CATCH_UP_MS = MAX_LAG_MS + 1_000
const POLL_MS = 10
const CONNECT_MS = 1_000
/** Longer ago is too long ago in any case. */
const REMEMBERED_MS = 60_000

type Position = { atMs: number; lsn: bigint }

export class Replica {
  /** On the replica inside of `read`, on the primary elsewhere. */
  readonly db: Db
  readonly #primary: pg.Pool
  readonly #pool: pg.Pool
  readonly #isReading = new AsyncLocalStorage<true>()
  #positions: Position[] = []
  #lagMs: number | null = null

  constructor(url: string, primary: pg.Pool, preparedStatements: boolean) {
    this.#primary = primary
    this.#pool = openPool(
      { connectionString: url, preparedStatements, connectionTimeoutMillis: CONNECT_MS },
      REPLICA_CONNECTIONS,
    ).pool
    const connect = () => (this.#isReading.getStore() === true ? this.#pool : this.#primary).connect()
    this.db = new Kysely<DB>({ dialect: new PostgresDialect({ pool: { connect, end: async () => {} } as never }) })
  }

  /** How far it is behind; null: it does not answer, or by more than a minute. */
  get lagSeconds(): number | null {
    return this.#lagMs === null ? null : this.#lagMs / 1_000
  }

  get isUsed(): boolean {
    return this.#lagMs !== null && this.#lagMs <= MAX_LAG_MS
  }

  /**
   * What `work` reads with `db` comes from the replica. Whatever fails there, be it that something does not exist yet, is
   * done once more on the primary, unless the answer is on its way.
   */
  async read<T>(work: () => Promise<T>, isAnswered: () => boolean): Promise<T> {
    if (!this.isUsed) return work()
    try {
      return await this.#isReading.run(true, work)
    } catch (error) {
      if (isAnswered()) throw error
      return work()
    }
  }

  /** Resolves when the replica has what was committed until now, or is not used. */
  async caughtUp(): Promise<void> {
    if (!this.isUsed) return
    const deadlineMs = Date.now() + CATCH_UP_MS
    try {
      const lsn = await readPosition(this.#primary)
      while (this.isUsed && Date.now() < deadlineMs && (await readPosition(this.#pool)) < lsn) await sleep(POLL_MS)
    } catch {
      this.#lagMs = null // until the next look
    }
  }

  /** Measures how far it is behind. Fails if one of the two does not answer. */
  async look(): Promise<void> {
    try {
      const atMs = Date.now()
      this.#positions.push({ atMs, lsn: await readPosition(this.#primary) })
      this.#positions = this.#positions.filter((position) => atMs - position.atMs <= REMEMBERED_MS)
      const reached = await readPosition(this.#pool)
      const latest = this.#positions.findLast(({ lsn }) => lsn <= reached)
      this.#lagMs = latest === undefined ? null : latest === this.#positions.at(-1) ? 0 : Date.now() - latest.atMs
    } catch (error) {
      this.#lagMs = null
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

/** How many connections it allows. */
export async function readReplicaLimits(url: string): Promise<ConnectionLimits> {
  const times = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS }
  const { pool, close } = openPool({ connectionString: url, ...times }, 1)
  try {
    return await readConnectionLimits(pool)
  } finally {
    await close()
  }
}

/** Of what a primary has written, or a replica has applied. */
async function readPosition(pool: pg.Pool): Promise<bigint> {
  const { rows } = await pool.query<{ lsn: string | null }>(
    'SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text AS lsn',
  )
  const [high = '0', low = '0'] = (rows[0]?.lsn ?? '').split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
