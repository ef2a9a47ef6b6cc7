// Proofs: what a page gets when its content locker is unlocked, for the publisher's server.
//
// A proof is "locker.v1", the locker's ID, the visitor's, the proof's own and the time at which it expires (Unix seconds),
// joined by dots, then a dot and the HMAC-SHA256 of all that in lower-case hex, by the app's signing secret. The server
// verifies it by itself, then redeems it: only the first time counts.
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { isSameText, signText } from '../postbacks/signing.ts'

const LIFE_S = 600
/** Enough for everyone who loads the page again, too few for a crowd. */
const MAX_REDEEMED = 50
const FORM = /^(locker\.v1\.(\d{1,15})\.([0-9a-f]{32})\.([0-9a-f-]{36})\.(\d{1,12}))\.([0-9a-f]{64})$/

export type Proof = { lockerId: number; visitorId: string; proofId: string; expiresAtS: number }

export function signProof(secret: string, { lockerId, visitorId, proofId, expiresAtS }: Proof): string {
  const text = `locker.v1.${lockerId}.${visitorId}.${proofId}.${expiresAtS}`
  return `${text}.${signText(secret, text)}`
}

/** What a proof says, whether or not it has expired; null when it is none. Two secrets sign while one replaces the other. */
export function readProof(secrets: readonly string[], proof: string): Proof | null {
  const [, text = '', lockerId = '', visitorId = '', proofId = '', expiresAt = '', signature = ''] =
    FORM.exec(proof) ?? []
  if (text === '' || !secrets.some((secret) => isSameText(signature, signText(secret, text)))) return null
  return { lockerId: Number(lockerId), visitorId, proofId, expiresAtS: Number(expiresAt) }
}

/**
 * The one that waits to be redeemed, or a new one where it is about to expire before its unlock does. Null: too many are or
 * can be redeemed.
 */
export async function issueProof(db: Db, unlockId: string): Promise<{ proofId: string; expiresAtS: number } | null> {
  return inTransaction(db, async (trx) => {
    const { rows: unlocks } = await sql<{ expires_at: Date }>`
      SELECT least(expires_at, now() + ${LIFE_S} * interval '1 second') AS expires_at FROM locker_unlocks
      WHERE unlock_id = ${unlockId} AND expires_at > now() FOR UPDATE`.execute(trx)
    const [unlock] = unlocks
    if (unlock === undefined) return null
    const { rows } = await sql<{ proof_id: string; expires_at: Date; is_waiting: boolean }>`
      SELECT proof_id, expires_at,
        redeemed_at IS NULL AND expires_at >= least(${unlock.expires_at}, now() + interval '1 minute') AS is_waiting
      FROM locker_proofs WHERE unlock_id = ${unlockId} AND (redeemed_at IS NOT NULL OR expires_at > now())`.execute(trx)
    const waiting = rows.find(({ is_waiting }) => is_waiting)
    const seconds = (at: Date) => Math.floor(at.getTime() / 1000)
    if (waiting !== undefined) return { proofId: waiting.proof_id, expiresAtS: seconds(waiting.expires_at) }
    if (rows.length >= MAX_REDEEMED) return null
    const proofId = uuid7(Date.now())
    await trx.insertInto('locker_proofs').values({ proof_id: proofId, unlock_id: unlockId, expires_at: unlock.expires_at }).execute() // prettier-ignore
    return { proofId, expiresAtS: seconds(unlock.expires_at) }
  })
}

/** The same, while it is valid. */
export function checkProof(secrets: readonly string[], proof: string, nowS: number): Proof | 'wrong' | 'expired' {
  const read = readProof(secrets, proof)
  if (read === null) return 'wrong'
  return read.expiresAtS <= nowS ? 'expired' : read
}

export type Redemption = { isFirst: boolean; redeemedAt: Date }

/**
 * Null: there is no such proof of this locker and visitor, it has expired before it was redeemed, or it is gone. The first
 * of those who redeem it at once is the only one; the others, and those who ask again at any later time, hear of it.
 */
export async function redeemProof(
  db: Db,
  { lockerId, visitorId, proofId, expiresAtS }: Proof,
  isTest: boolean,
): Promise<Redemption | null> {
  const { rows } = await sql<{ is_first: boolean; redeemed_at: Date }>`
    WITH before AS (
      SELECT p.proof_id, p.redeemed_at FROM locker_proofs p JOIN locker_unlocks u USING (unlock_id)
      WHERE p.proof_id = ${proofId}::uuid AND u.locker_id = ${lockerId} AND u.visitor_id = ${visitorId} AND u.is_test = ${isTest}
        AND floor(extract(epoch FROM p.expires_at)) = ${expiresAtS} AND (p.redeemed_at IS NOT NULL OR p.expires_at > now())
      FOR UPDATE OF p
    )
    UPDATE locker_proofs p SET redeemed_at = coalesce(p.redeemed_at, now()) FROM before WHERE p.proof_id = before.proof_id
    RETURNING before.redeemed_at IS NULL AS is_first, p.redeemed_at`.execute(db)
  const [row] = rows
  return row === undefined ? null : { isFirst: row.is_first, redeemedAt: row.redeemed_at }
}
