// Knows whether this is the only API process on the database. Only then may it trust its memory of what it wrote: with
// two, the other may have written since.
//
// Every API process holds a shared lock in a transaction that stays open for as long as it lives; one that is alone
// holds it exclusively. A newcomer waits for the shared lock, and does not serve before it has it; the process that is
// alone looks for such a waiter a few times a second, forgets what it knew, and gives way. A lock in an open
// transaction, unlike one of a session, also means what it says behind a connection pooler.
import type pg from 'pg'

const LOCK = 0x0ff3_0002
const LOOK_MS = 250
const ALONE_AGAIN_LOOKS = 40 // how often a process among others tries to be alone: every 10 s
const PATIENCE_MS = 5_000

export class SoleProcess {
  readonly #pool: pg.Pool
  #client: pg.PoolClient | null = null
  #isSole = false
  #looks = 0
  #timer: NodeJS.Timeout | null = null
  #working: Promise<void> = Promise.resolve()
  /** Called when this stops being the only process, before the other one starts. */
  onCompany: () => void = () => {}

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  get isSole(): boolean {
    return this.#isSole
  }

  /** Joins the processes that serve. Resolves when every other one knows of this one. */
  async join(): Promise<void> {
    await this.#enter(true)
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
      if (this.#client === null) await this.#enter(true)
      else if (this.#isSole) {
        if (await this.#somebodyWaits()) {
          this.#forget()
          await this.#client.query('COMMIT')
          await this.#client.query('BEGIN')
          await this.#client.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCK])
        }
      } else if (++this.#looks % ALONE_AGAIN_LOOKS === 0) {
        this.#isSole = await this.#tryExclusive(this.#client)
      } else await this.#client.query('SELECT 1') // notices a dead connection, and keeps it from looking idle
    } catch {
      this.#drop() // the database went away: tried again at the next look
    }
  }

  async #enter(wait: boolean): Promise<void> {
    const client = await this.#pool.connect()
    client.on('error', () => this.#forget())
    this.#client = client
    await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0')
    const isAlone = await this.#tryExclusive(client)
    if (!isAlone && wait) await this.#waitForShared(client)
    this.#isSole = isAlone
  }

  async #tryExclusive(client: pg.PoolClient): Promise<boolean> {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [LOCK])
    return rows[0]?.locked ?? false
  }

  /** A holder that does not give way in time is frozen or cut off: its connection is ended, which it will notice. */
  async #waitForShared(client: pg.PoolClient): Promise<void> {
    const impatience = setTimeout(() => {
      void this.#pool
        .query(
          'SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = $1 AND objid = $2 AND granted AND mode = $3',
          ['advisory', LOCK, 'ExclusiveLock'],
        )
        .catch(() => {})
    }, PATIENCE_MS)
    try {
      await client.query('SELECT pg_advisory_xact_lock_shared($1)', [LOCK])
    } finally {
      clearTimeout(impatience)
    }
  }

  async #somebodyWaits(): Promise<boolean> {
    const { rows } = await this.#client!.query<{ waits: boolean }>(
      'SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = $1 AND objid = $2 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS waits',
      ['advisory', LOCK],
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
