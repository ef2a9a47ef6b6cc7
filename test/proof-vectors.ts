// Proofs of lockers, good and bad, and what a publisher's server must say of each: shared by the examples of all languages.
// After a change: node test/proof-vectors.ts > examples/verify-proof/vectors.json
import { createHash } from 'node:crypto'
import { signProof } from '../src/features/lockers/proofs.ts'

export type ProofVector = {
  name: string
  /** Two while one replaces the other. */
  secrets: string[]
  locker_id: number
  proof: string
  /** Unix seconds. */
  now: number
  /** Whose proof it is; null: it is not a valid one. */
  visitor_id: string | null
}

const NOW_S = 1_794_719_785
const LOCKER = 12
const VISITOR = '3f0c9a1b5d7e42c68a90b1d2e3f40516'
const createSecret = (name: string) => `whsec_${createHash('sha256').update(name).digest('base64')}`
const SECRET = createSecret('the first secret')
const NEXT = createSecret('the next secret')

const sign = (expiresAtS = NOW_S + 600, lockerId = LOCKER, secret = SECRET) =>
  signProof(secret, { lockerId, visitorId: VISITOR, proofId: '01a3c5d2-7c40-7d3e-9f57-3a1b2c4d5e6f', expiresAtS })

export function createProofVectors(): ProofVector[] {
  const proof = sign()
  const parts = proof.split('.')
  const changed = (place: number, value: string) => parts.with(place, value).join('.')
  const signature = parts.at(-1) ?? ''
  return [
    valid('as it was issued', { proof }),
    valid('by the first of two secrets', { proof, secrets: [SECRET, NEXT] }),
    valid('by the second of two secrets', { proof, secrets: [NEXT, SECRET] }),
    valid('by the secret that replaces the other', { proof: sign(NOW_S + 600, LOCKER, NEXT), secrets: [SECRET, NEXT] }),
    valid('in its last second', { proof: sign(NOW_S + 1) }),
    valid('of a locker with a long ID', { proof: sign(NOW_S + 600, 123_456_789_012_345), locker_id: 123_456_789_012_345 }), // prettier-ignore
    wrong('by a secret that is no longer valid', { proof, secrets: [NEXT] }),
    wrong('with no secret', { proof, secrets: [] }),
    wrong('just expired', { proof: sign(NOW_S) }),
    wrong('long expired', { proof: sign(NOW_S - 86_400) }),
    wrong('of another locker', { proof, locker_id: 13 }),
    wrong('of a locker whose ID begins alike', { proof: sign(NOW_S + 600, 123) }),
    wrong('with a changed locker', { proof: changed(2, '13'), locker_id: 13 }),
    wrong('with a zero before the locker', { proof: changed(2, '012') }),
    wrong('with a changed visitor', { proof: changed(3, '0'.repeat(32)) }),
    wrong('with a changed ID', { proof: changed(4, '01a3c5d2-7c40-7d3e-9f57-3a1b2c4d5e60') }),
    wrong('with a later expiry', { proof: changed(5, String(NOW_S + 6_000)) }),
    wrong('with a signature of another text', { proof: changed(6, sign(NOW_S + 601).slice(-64)) }),
    wrong('with a signature in upper case', { proof: changed(6, signature.toUpperCase()) }),
    wrong('with a signature that is cut short', { proof: proof.slice(0, -1) }),
    wrong('without a signature', { proof: parts.slice(0, -1).join('.') }),
    wrong('of another version', { proof: changed(1, 'v2') }),
    wrong('with a line break at its end', { proof: `${proof}\n` }),
    wrong('with a space before it', { proof: ` ${proof}` }),
    wrong('with digits of another script', { proof: changed(5, '١٧٩٤٧٢٠٣٨٥') }),
    wrong('twice', { proof: `${proof}.${proof}` }),
    wrong('empty', { proof: '' }),
  ]
}

type Given = Partial<ProofVector> & { proof: string }

const valid = (name: string, given: Given) => vector(name, given, VISITOR)
const wrong = (name: string, given: Given) => vector(name, given, null)

const vector = (name: string, given: Given, visitor_id: string | null): ProofVector => ({
  name,
  secrets: [SECRET],
  locker_id: LOCKER,
  now: NOW_S,
  ...given,
  visitor_id,
})

if (import.meta.main) process.stdout.write(`${JSON.stringify(createProofVectors(), null, 2)}\n`)
