// Terms of service, accepted by a publisher in a version at a time. An owner of a publisher that signed up is asked again
// when the version changes; its keys go on working meanwhile. Publishers that the operator created are not asked.
import type { Db, Trx } from '../../../db/open.ts'
import { AppError } from '../../../errors.ts'
import { type Actor, recordAudit } from '../audit.ts'
import type { Account } from '../people.ts'
import type { ShownTerms } from './schema.ts'
import { holdSignUp, readSignUp } from './settings.ts'
import { areSeen, type SeenTerms, showTerms } from './terms-hash.ts'

export const listAcceptedTerms = (db: Db, publisherId: number) =>
  db
    .selectFrom('accepted_service_terms')
    .select(['version', 'accepted_at', 'ip'])
    .where('publisher_id', '=', publisherId)
    .orderBy('accepted_at', 'desc')
    .execute()

/** What an owner of this publisher has yet to accept. */
export async function findTermsToAccept(db: Db, publisherId: number): Promise<ShownTerms | null> {
  const accepted = await listAcceptedTerms(db, publisherId)
  if (accepted.length === 0) return null
  const { terms } = await readSignUp(db)
  return terms === null || accepted.some(({ version }) => version === terms.version) ? null : showTerms(terms)
}

export type Acceptance = {
  publisherId: number
  personId: string
  version: string
  /** Null: not known, of a form that an earlier version received. */
  termsHash: string | null
  ip: string | null
  at: Date
}

/** Accepted once: a second time changes nothing. */
export async function noteAcceptance(trx: Trx, { publisherId, personId, version, termsHash, ip, at }: Acceptance) {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('accepted_service_terms')
    .values({ publisher_id: publisherId, version, terms_hash: termsHash, accepted_at: at, accepted_by: personId, ip })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** By an owner who was shown them. */
export async function acceptTerms(
  trx: Trx,
  by: Actor,
  { id: personId, publisherId }: Account & { publisherId: number },
  seen: SeenTerms,
  now: Date,
): Promise<void> {
  const { terms } = await holdSignUp(trx)
  if (terms === null || !areSeen(terms, seen))
    throw new AppError('CONFLICT', 'The terms have changed since this page was loaded. Read them again.')
  const { version, hash: termsHash } = seen
  const acceptance = { publisherId, personId, version, termsHash, ip: by.ip, at: now }
  if (!(await noteAcceptance(trx, acceptance))) return
  await recordAudit(trx, by, {
    action: 'publisher.accept_terms',
    subject: publisherId,
    publisherId,
    details: { version },
  })
}
