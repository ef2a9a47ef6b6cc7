// Knows whether this is the only API process on the database. Only then may it trust its memory of what it wrote: with
// two, the other may have written since.
//
// Every API process holds a shared lock in a transaction that stays open for as long as it lives; one that has been
// alone for a while holds it exclusively. A newcomer waits for the shared lock, and does not serve before it has it; the
// process that is alone looks for such a waiter a few times a second, forgets what it knew, and gives way. After a
// restart of the database nobody is alone at first: others may be there and not back yet. A lock in an open transaction,
// unlike one of a session, also means what it says behind a connection pooler.
import type pg from 'pg'

const LOCK = 0x0ff3_0002
const LOOK_MS = 250
const ALONE_AFTER_LOOKS = 40 // after 10 s without having to wait for anybody
const PATIENCE_MS = 5_000
// Advisory locks are per database; the list of locks is of the whole server.
const IS_SERVING_LOCK = `locktype = 'advisory' AND objid = ${LOCK} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

export class SoleProcess {
  readonly #pool: pg.Pool
  readonly #aloneAfterLooks: number
  #client: pg.PoolClient | null = null
  #isSole = false
  #looks = 0
  #timer: NodeJS.Timeout | null = null
  #working: Promise<void> = Promise.resolve()
  /** Called when this stops being the only process, before the other one starts. */
  onCompany: () => void = () => {}

  constructor(pool: pg.Pool, aloneAfterLooks = ALONE_AFTER_LOOKS) {
    this.#pool = pool
    this.#aloneAfterLooks = aloneAfterLooks
  }

  get isSole(): boolean {
    return this.#isSole
  }

  /** Joins the processes that serve. Resolves when every other one knows of this one. */
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
      else if (this.#isSole) {
        if (await this.#somebodyWaits()) {
          this.#forget()
          await this.#client.query('COMMIT')
          await this.#client.query('BEGIN')
          await this.#client.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCK])
        }
      } else if (++this.#looks % this.#aloneAfterLooks === 0) {
        this.#isSole = await this.#tryExclusive(this.#client)
      } else await this.#client.query('SELECT 1') // notices a dead connection, and keeps it from looking idle
    } catch {
      this.#drop() // the database went away: tried again at the next look
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
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [LOCK])
    return rows[0]?.locked ?? false
  }

  /** A holder that does not give way in time is frozen or cut off: its connection is ended, which it will notice. */
  async #waitForShared(client: pg.PoolClient): Promise<void> {
    const impatience = setInterval(() => {
      this.#pool
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${IS_SERVING_LOCK} AND granted AND mode = 'ExclusiveLock'`,
        )
        .catch(() => {}) // tried again, for as long as we wait
    }, PATIENCE_MS)
    try {
      await client.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCK])
    } finally {
      clearInterval(impatience)
    }
  }

  async #somebodyWaits(): Promise<boolean> {
    const { rows } = await this.#client!.query<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_locks WHERE ${IS_SERVING_LOCK} AND NOT granted) AS waits`,
    )
    return rows[0]?.waits ?? false
  }

  #forget(): void {
    if (this.#isSole) {
      this.#isSole = false
      this.onCompany()
    }
  }

  #drop(): void {
    this.#forget()
    this.#client?.release(true)
    this.#client = null
  }
}
