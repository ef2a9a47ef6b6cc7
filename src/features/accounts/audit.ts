// The audit log: every change by a person, with actor, action, time and origin. Entries never change.
import { type RawBuilder, sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { allOf, type Found, search } from '../../db/search.ts'
import { AppError } from '../../errors.ts'
import type { Role } from './people.ts'

/** Who did it. `id` is null without a session, as when an invitation is accepted. */
export type Actor = {
  id: string | null
  email: string
  ip: string | null
  /** The role the request was authorized with. It must still hold when the change is recorded. */
  role?: Role | null
  /** The session or the token that it was authorized with. It must not have ended, either. */
  sessionId?: string | null
  tokenId?: number | null
  /** The token that a program used. */
  via?: string | null
  /** The request that did it; none on the command line. */
  requestId?: string | undefined
}

export type AuditEntry = {
  /** noun.verb */
  action: string
  /** The noun's id. */
  subject: string | number
  /** The publisher concerned, if it is one. */
  publisherId?: number | null
  /** Context for a reader. Never a secret. */
  details?: Record<string, unknown>
}

/** For what goes on after its request: it was authorized when it began, and is not stopped by signing out. */
export const onceAuthorized = (by: Actor): Actor => ({ ...by, role: null, sessionId: null, tokenId: null })

/**
 * Runs in the transaction of the change, so that neither exists without the other. Throws if the actor was disabled or
 * given another role since the request was authorized, or if its session or token has ended. Returns the audit_id.
 */
export async function recordAudit(trx: Trx, by: Actor, entry: AuditEntry): Promise<number> {
  await checkStillMay(trx, by)
  const { details, ...row } = rowOf(by, entry)
  const { audit_id } = await trx
    .insertInto('audit_log')
    .values({ ...row, details: JSON.stringify(details) })
    .returning('audit_id')
    .executeTakeFirstOrThrow()
  return audit_id
}

/**
 * Part of every entry. Locks the person until the transaction ends: disabling them, or ending the session or token, happens before all of
 * it, or after.
 */
export async function checkStillMay(trx: Trx, { id, role, sessionId = null, tokenId = null }: Actor): Promise<void> {
  if (id === null || role === undefined || role === null) return
  const person = await trx
    .selectFrom('people')
    .select(['role', 'disabled_at', 'two_factor_enabled'])
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst()
  if (person?.role !== role || person.disabled_at !== null)
    throw new AppError('NOT_ALLOWED', 'Your account may no longer do that.')
  // Statements of their own: they see what was committed while the lock was awaited.
  const isOpen =
    (sessionId === null || (await isSessionOpen(trx, sessionId, person.two_factor_enabled))) &&
    (tokenId === null || (await isTokenValid(trx, tokenId)))
  if (!isOpen) throw new AppError('NOT_SIGNED_IN', 'Your session or token has just ended. Sign in again.')
}

async function isSessionOpen(trx: Trx, sessionId: string, needsCode: boolean): Promise<boolean> {
  const session = await trx.selectFrom('sessions').select('with_code').where('id', '=', sessionId).executeTakeFirst()
  return session !== undefined && (session.with_code || !needsCode)
}

async function isTokenValid(trx: Trx, tokenId: number): Promise<boolean> {
  const token = await trx
    .selectFrom('access_tokens')
    .select('token_id')
    .where('token_id', '=', tokenId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return token !== undefined
}

/**
 * For a change that is not one transaction of ours: an import in batches, a call that the command queue applies, what
 * better-auth writes. Call it before the change, so that a crash leaves an entry too many rather than one too few.
 */
export const recordAuditAlone = (db: Db, by: Actor, entry: AuditEntry): Promise<number> =>
  inTransaction(db, (trx) => recordAudit(trx, by, entry))

/** What one entry did to each of many subjects: shown in the history of each subject, left out of the whole log. */
export async function recordParts(trx: Trx, by: Actor, auditId: number, parts: AuditEntry[]): Promise<void> {
  const rows = parts.map((part) => ({ ...rowOf(by, part), part_of: auditId }))
  await sql`
    INSERT INTO audit_log (person_id, who, ip, via, request_id, action, subject, publisher_id, details, part_of)
    SELECT person_id, who, ip, via, request_id, action, subject, publisher_id, details, part_of
    FROM json_populate_recordset(NULL::audit_log, ${JSON.stringify(rows)})`.execute(trx)
}

const rowOf = (by: Actor, { action, subject, publisherId = null, details = {} }: AuditEntry) => ({
  person_id: by.id,
  who: by.email,
  ip: by.ip,
  // Not named where undefined: on the command line, which writes to older schemas, too.
  via: by.via,
  request_id: by.requestId,
  action,
  subject: String(subject),
  publisher_id: publisherId,
  details,
})

/** Filters are combined with AND; an absent one is ignored. */
export type AuditFilter = {
  publisherId?: number
  /** noun. or noun.verb */
  action?: string
  subject?: string
  who?: string
  before?: number
}

const COLUMNS = sql.raw('audit_id, created_at, who, action, subject, publisher_id, details, ip, via, request_id')

export type AuditRecord = {
  audit_id: number
  created_at: Date
  who: string
  action: string
  subject: string
  publisher_id: number | null
  details: unknown
  ip: string | null
  via: string | null
  request_id: string | null
}

/** Newest first. Includes parts of entries only when filtered by subject. */
export async function searchAuditEntries(db: Db, filter: AuditFilter, limit: number): Promise<Found<AuditRecord>> {
  const { subject, who, publisherId, action, before } = filter
  const known = {
    subject: subject === undefined ? null : sql<boolean>`subject = ${subject}`,
    who: who === undefined ? null : sql<boolean>`who = ${who.toLowerCase()}`,
    publisher: publisherId === undefined ? null : sql<boolean>`publisher_id = ${publisherId}::bigint`,
    action: action === undefined ? null : sql<boolean>`starts_with(action, ${action})`,
  }
  const first = (['subject', 'who', 'publisher', 'action'] as const).find((name) => known[name] !== null)
  const filters = Object.entries(known).flatMap(([name, one]) => (one === null || name === first ? [] : [one]))
  const always = [
    ...(subject === undefined ? [sql<boolean>`part_of IS NULL`] : []),
    ...(before === undefined ? [] : [sql<boolean>`audit_id < ${before}::bigint`]),
  ]
  const indexed = first === 'action' ? await readActions(db, action ?? '') : first === undefined ? [sql<boolean>`true`] : [known[first] as Condition] // prettier-ignore
  if (indexed.length === 0) return { rows: [], next: null }
  const walk = (order: RawBuilder<unknown>, most: number) => {
    const branches = indexed.map(
      (one) => sql`(SELECT ${COLUMNS} FROM audit_log WHERE ${allOf([one, ...always])} ${order} LIMIT ${most}::integer)`,
    )
    return sql`SELECT * FROM (${sql.join(branches, sql` UNION ALL `)}) AS entry`
  }
  return search(db, { id: 'audit_id', filters, walk }, limit)
}

type Condition = RawBuilder<boolean>

/**
 * The actions with this prefix, each found by one step in the index: there are some dozens of them, however long the
 * log is. Each is walked separately, because a range of them is not ordered by time.
 */
async function readActions(db: Db, beginning: string): Promise<Condition[]> {
  const { rows } = await sql<{ name: string }>`
    WITH RECURSIVE steps (name) AS (
      (SELECT action FROM audit_log WHERE part_of IS NULL AND action >= ${beginning} ORDER BY action LIMIT 1)
      UNION ALL
      SELECT (SELECT action FROM audit_log WHERE part_of IS NULL AND action > steps.name ORDER BY action LIMIT 1)
      FROM steps WHERE starts_with(steps.name, ${beginning})
    ) SELECT name FROM steps WHERE starts_with(name, ${beginning})`.execute(db)
  return rows.map(({ name }) => sql<boolean>`action = ${name}`)
}

/** One page of it, without a cursor. */
export const listAuditEntries = async (...given: Parameters<typeof searchAuditEntries>): Promise<AuditRecord[]> =>
  (await searchAuditEntries(...given)).rows
