// Every mail goes one way: a row in `mails`, written in the transaction of what it is about.
//
//   queued -> claimed: the next attempt is due before this one begins, so that a worker that dies leaves it to another
//          -> sent | queued again, later each time | failed: refused for good, or expired
//
// A claim is a short transaction that also writes the text. The mail is sent after it, so that no transaction is open while
// a mail server takes its time. A link is created for each attempt, and only its hash is stored: the queue holds no secret.
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { LOCK_CLASSES } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { failureOf, isAnswered, isRefusedRecipient, type Mailer } from '../../lib/mail.ts'

const BATCH = 50
const FIRST_WAIT_MS = 30_000 // longer than an attempt may take (SEND_MS); then twice as long, each time
const MAX_WAIT_MS = 3_600_000
const CLOSE_MS = 3_000
const HOUR_MS = 3_600_000
const LINKS_AN_HOUR = 3 // of a kind, to one person
const NO_ADDRESS = 'no address'

export const MAIL_KINDS = ['invitation', 'password_reset', 'email_verification', 'security_alert', 'notice', 'ticket', 'ticket_answer', 'feed_problem', 'export_problem', 'cap_warning', 'budget_warning', 'sign_up', 'applications_waiting', 'application_decision', 'proposals_waiting', 'proposal_decision'] as const // prettier-ignore
export type MailKind = (typeof MAIL_KINDS)[number]
export type Letter = { subject: string; text: string }

/** How one kind of mail is written, when it is sent. */
export type Writer = {
  /**
   * Each recipient gets a separate mail. Asked again for a retry, which is dropped for those who are no longer among them.
   * later: there may be an address in a while.
   */
  findRecipients(trx: Trx, about: string, now: Date): Promise<string[] | 'later'>
  /** There is one recipient, whose address may change: a retry goes to the new one. */
  followsAddress?: true
  write(trx: Trx, about: string, now: Date): Promise<Letter | null>
}
export type Writers = Record<MailKind, Writer>

/** What the links in mails are made with. */
export type Network = { secretKey: string; publicUrl: string }

/** `at`: not before. Without it: at once. */
type NewMail = { kind: MailKind; about: string | number; expiresAt: Date; at?: Date }

export async function queueMail(db: Db, { kind, about, expiresAt, at }: NewMail): Promise<void> {
  await db
    .insertInto('mails')
    .values({
      kind,
      about: String(about),
      expires_at: expiresAt,
      ...(at === undefined ? {} : { created_at: at, due_at: at }),
    })
    .execute()
}

/**
 * For the operators about a queue: at once, and at most once an hour however much comes in. The mail says how much is
 * waiting when it is sent.
 */
export async function queueAtMostHourly(trx: Trx, mail: Pick<NewMail, 'kind' | 'about'>, now: Date): Promise<void> {
  const { rows } = await sql<{ last: Date | null }>`
    SELECT max(created_at) AS last FROM mails WHERE kind = ${mail.kind} AND about = ${mail.about}`.execute(trx)
  const last = rows[0]?.last?.getTime() ?? 0
  if (last > now.getTime()) return // another one is to come
  const at = new Date(Math.max(now.getTime(), last + HOUR_MS))
  await queueMail(trx, { ...mail, at, expiresAt: new Date(at.getTime() + 24 * HOUR_MS) })
}

/** Requests for links to one person take turns from here on, so that their limit holds. */
export const lockLinkMails = (trx: Trx, to: string) =>
  sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.linkMails}::integer, hashtext(${to}))`.execute(trx)

/** Whether one is still queued, or as many as are useful were within the hour. */
export async function hasEnoughLinks(trx: Trx, { kind, about }: Pick<NewMail, 'kind' | 'about'>, now: Date) {
  const { rows } = await sql<{ recent: number; waits: boolean | null }>`
    SELECT count(*) AS recent, bool_or(status = 'queued') AS waits FROM mails
    WHERE kind = ${kind} AND about = ${about} AND created_at > ${new Date(now.getTime() - HOUR_MS)}`.execute(trx)
  const { recent = 0, waits = null } = rows[0] ?? {}
  return waits === true || recent >= LINKS_AN_HOUR
}

/** Those who can decide something. */
export async function findOperators(trx: Trx): Promise<string[]> {
  const operators = trx.selectFrom('people').select('email').where('role', '=', 'operator')
  const found = await operators.where('disabled_at', 'is', null).orderBy('created_at').execute()
  return found.map(({ email }) => email)
}

/**
 * The database's clock: two workers whose clocks differ would otherwise send one mail twice. In whole milliseconds, as a
 * Date is, and rounded up: a mail that was queued within this millisecond is due.
 */
async function readClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() + interval '1 ms' AS now`.execute(db)
  return rows[0]?.now as Date
}

/** Sends what is due, one mail at a time; a call during a run gets another run after it. */
export class Postman {
  readonly #db: Db
  readonly #mailer: Mailer
  readonly #writers: Writers
  #run: Promise<number> | null = null
  #isAskedAgain = false

  constructor(db: Db, mailer: Mailer, writers: Writers) {
    this.#db = db
    this.#mailer = mailer
    this.#writers = writers
  }

  /** `now`: the database's clock, unless a test says another time. */
  send(now?: Date): Promise<number> {
    this.#isAskedAgain = true
    this.#run ??= this.#sendUntilDone(now).finally(() => (this.#run = null))
    return this.#run
  }

  async #sendUntilDone(now?: Date): Promise<number> {
    let [sent, failure] = [0, null as unknown]
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false
      const time = now ?? (await readClock(this.#db))
      await sendMails(this.#db, this.#mailer, this.#writers, time).then(
        (count) => (sent += count),
        (error: unknown) => (failure = error),
      )
    }
    if (failure !== null) throw failure
    return sent
  }

  /** An attempt that is under way gets a moment to end: cut off after its last byte it would be sent again. */
  async close(): Promise<void> {
    this.#isAskedAgain = false
    const run = this.#run?.catch(() => {})
    await Promise.race([run, setTimeout(CLOSE_MS, undefined, { ref: false })])
    this.#mailer.close()
    await run
  }
}

type Claimed = Letter & { mailId: number; kind: MailKind; to: string; attempts: number }

/** Sends what is due. Returns how many were sent; throws what went wrong last. */
async function sendMails(db: Db, mailer: Mailer, writers: Writers, now: Date): Promise<number> {
  let [sent, failure] = [0, null as unknown]
  for (let i = 0; i < BATCH; i++) {
    const claimed = await db.transaction().execute((trx) => claimNext(trx, writers, now))
    if (claimed === 'none') break
    if (claimed === null) continue
    try {
      await mailer.send({ to: claimed.to, subject: claimed.subject, text: claimed.text })
      sent++
    } catch (error) {
      failure = error
      const result = isRefusedRecipient(error) ? ({ status: 'failed', settled_at: now } as const) : {}
      await recordResult(db, claimed, { ...result, failure: failureOf(error) })
      if (isAnswered(error)) continue
      break // the mail server is unreachable: the other mails would wait as long, one after the other
    }
    await recordResult(db, claimed, { status: 'sent', settled_at: now, failure: null })
  }
  if (failure !== null) throw failure
  return sent
}

/** null: the next one was not wanted any more, or is put off. */
async function claimNext(trx: Trx, writers: Writers, now: Date): Promise<Claimed | null | 'none'> {
  const due = await trx
    .selectFrom('mails')
    .select(['mail_id', 'kind', 'about', 'recipient', 'attempts', 'expires_at', 'created_at'])
    .where('status', '=', 'queued')
    .where('due_at', '<=', now)
    .where('expires_at', '>', now)
    .where('kind', 'in', MAIL_KINDS) // a newer node may queue others
    .orderBy('due_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (due === undefined) return 'none'
  const kind = due.kind as MailKind
  const found = await writers[kind].findRecipients(trx, due.about, now)
  if (found === 'later') {
    await trx
      .updateTable('mails')
      .set({ due_at: new Date(now.getTime() + 10 * FIRST_WAIT_MS), failure: NO_ADDRESS })
      .where('mail_id', '=', due.mail_id)
      .execute()
    return null
  }
  const isFirst = due.recipient === null || writers[kind].followsAddress === true
  const [to, ...others] = isFirst ? found : found.filter((address) => address === due.recipient)
  const letter = to === undefined ? null : await writers[kind].write(trx, due.about, now)
  if (to === undefined || letter === null) {
    await trx.deleteFrom('mails').where('mail_id', '=', due.mail_id).execute()
    return null
  }
  const attempts = due.attempts + 1
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** due.attempts, MAX_WAIT_MS)
  await trx
    .updateTable('mails')
    .set({ recipient: to, attempts, due_at: new Date(now.getTime() + waitMs), failure: null })
    .where('mail_id', '=', due.mail_id)
    .execute()
  const { about, created_at, expires_at } = due
  const more = others.map((recipient) => ({ kind, about, recipient, created_at, expires_at, due_at: now }))
  if (more.length > 0) await trx.insertInto('mails').values(more).execute()
  return { mailId: due.mail_id, kind, to, attempts, ...letter }
}

type Result = { status?: 'sent' | 'failed'; settled_at?: Date; failure: string | null }

/** Of this attempt: a later one knows better. */
const recordResult = (db: Db, { mailId, attempts }: Claimed, result: Result) =>
  db.updateTable('mails').set(result).where('mail_id', '=', mailId).where('attempts', '=', attempts).execute()

/**
 * Ends expired mails as failed, and returns why each did. Without a mail server, or an address, nothing was promised: such
 * a row is deleted.
 */
export async function giveUpMails(db: Db, hasMailServer: boolean, at?: Date): Promise<string[]> {
  const now = at ?? (await readClock(db))
  const expired = sql`status = 'queued' AND due_at <= ${now} AND expires_at <= ${now}`
  const dropped = hasMailServer ? sql`failure = ${NO_ADDRESS}` : sql`true`
  await sql`DELETE FROM mails WHERE ${expired} AND ${dropped}`.execute(db)
  const { rows } = await sql<{ kind: string; recipient: string | null; attempts: number; failure: string | null }>`
    UPDATE mails SET status = 'failed', settled_at = ${now}, failure = coalesce(failure, 'expired') WHERE ${expired}
    RETURNING kind, recipient, attempts, failure`.execute(db)
  return rows.map(
    ({ kind, recipient, attempts, failure }) =>
      `Gave up mailing ${recipient ?? 'an unknown address'} (${kind}) after ${attempts} attempts: ${failure}`,
  )
}

/** Kept as long as what most of them are about. Queued mails stay until they end. */
export async function forgetOldMails(db: Db, retentionDays: number, at?: Date): Promise<void> {
  const now = at ?? (await readClock(db))
  await db
    .deleteFrom('mails')
    .where('created_at', '<', new Date(now.getTime() - retentionDays * 86_400_000))
    .where('status', '!=', 'queued')
    .execute()
}

const MOST_COUNTED = 10_000

export async function countQueuedMails(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM (SELECT FROM mails WHERE status = 'queued' LIMIT ${sql.lit(MOST_COUNTED)}) AS counted`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

export async function listFailedMails(db: Db, limit: number) {
  const rows = await db
    .selectFrom('mails')
    .select(['kind', 'recipient', 'attempts', 'failure', 'created_at', 'settled_at'])
    .where('status', '=', 'failed')
    .orderBy('settled_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ kind, failure, settled_at, ...row }) => ({
    ...row,
    kind: kind as MailKind,
    failure: failure ?? '',
    settled_at: settled_at ?? row.created_at,
  }))
}
