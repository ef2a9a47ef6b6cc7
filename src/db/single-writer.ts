// Knows whether this is the only API process on the database. Only then may it trust its memory of what it wrote: with
// two processes, the other may have written since.
//
// Every API process holds a shared lock in a transaction that stays open as long as the process lives; one that has
// been alone for a while holds it exclusively. A new process waits for the shared lock before it serves. The process
// that is alone checks for such a waiter a few times a second, drops what it remembered, and releases its exclusive
// lock. After a restart of the database no process assumes that it is alone: others may not have reconnected yet. A
// lock in an open transaction, unlike a session lock, also works behind a connection pooler.
import type pg from 'pg'
import { LOCKS } from './locks.ts'

const LOOK_MS = 250
const ALONE_AFTER_LOOKS = 40 // after 10 s without another process
const PATIENCE_MS = 5_000
// Advisory locks are per database; pg_locks lists those of the whole server.
const IS_SERVING_LOCK = `locktype = 'advisory' AND classid = 0 AND objid = ${LOCKS.serving} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

export class SingleWriter {
  readonly #pool: pg.Pool
  readonly #aloneAfterLooks: number
  #client: pg.PoolClient | null = null
  #isAlone = false
  #looks = 0
  #timer: NodeJS.Timeout | null = null
  #working: Promise<void> = Promise.resolve()
  /** Called when this stops being the only process, before the other one starts serving. */
  onPeerJoined: () => void = () => {}

  constructor(pool: pg.Pool, aloneAfterLooks = ALONE_AFTER_LOOKS) {
    this.#pool = pool
    this.#aloneAfterLooks = aloneAfterLooks
  }

  get isAlone(): boolean {
    return this.#isAlone
  }

  /** Joins the serving processes. Resolves when every other one knows about this one. */
  async join(): Promise<void> {
    await this.#enter()
    this.#schedule()
  }

  async leave(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#working
    this.#drop()
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#working = this.#look().finally(() => {
        if (this.#timer !== null) this.#schedule()
      })
    }, LOOK_MS)
  }

  async #look(): Promise<void> {
    try {
      if (this.#client === null) await this.#enter()
      else if (this.#isAlone) {
        if (await this.#isAwaited()) {
          this.#forget()
          await this.#client.query('COMMIT')
          await this.#client.query('BEGIN')
          await this.#client.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCKS.serving])
        }
      } else if (++this.#looks % this.#aloneAfterLooks === 0) {
        this.#isAlone = await this.#tryExclusive(this.#client)
      } else await this.#client.query('SELECT 1') // notices a dead connection, and keeps it from looking idle
    } catch {
      this.#drop() // the database is unavailable: retried at the next look
    }
  }

  async #enter(): Promise<void> {
    const client = await this.#pool.connect()
    client.on('error', () => this.#forget())
    this.#client = client
    this.#looks = 0
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0')
    await this.#waitForShared(client)
  }

  async #tryExclusive(client: pg.PoolClient): Promise<boolean> {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
      LOCKS.serving,
    ])
    return rows[0]?.locked ?? false
  }

  /**
   * A holder that does not release in time is frozen or cut off: its connection is terminated, which it will notice.
   */
  async #waitForShared(client: pg.PoolClient): Promise<void> {
    const impatience = setInterval(() => {
      this.#pool
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${IS_SERVING_LOCK} AND granted AND mode = 'ExclusiveLock'`,
        )
        .catch(() => {}) // retried for as long as we wait
    }, PATIENCE_MS)
    try {
      await client.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCKS.serving])
    } finally {
      clearInterval(impatience)
    }
  }

  async #isAwaited(): Promise<boolean> {
    const { rows } = await this.#client!.query<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_locks WHERE ${IS_SERVING_LOCK} AND NOT granted) AS waits`,
    )
    return rows[0]?.waits ?? false
  }

  #forget(): void {
    if (this.#isAlone) {
      this.#isAlone = false
      this.onPeerJoined()
    }
  }

  #drop(): void {
    this.#forget()
    this.#client?.release(true)
    this.#client = null
  }
}
