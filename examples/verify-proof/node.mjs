import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
// Copy from here
import { createHmac, timingSafeEqual } from 'node:crypto'

const PROOF = /^(locker\.v1\.([0-9]{1,15})\.([0-9a-f]{32})\.[0-9a-f-]{36}\.([0-9]{1,12}))\.([0-9a-f]{64})$/

/** The visitor's ID, or null. One that is valid can have been used before: redeem it, then deliver. */
export function verifyProof(secrets, lockerId, proof, now = Date.now() / 1000) {
  const [, signed, locker, visitorId, expiresAt, signature] = PROOF.exec(proof) ?? []
  if (locker !== String(lockerId) || Number(expiresAt) <= now) return null
  const isSigned = secrets.some((secret) => {
    const expected = createHmac('sha256', keyOf(secret)).update(signed).digest()
    return timingSafeEqual(Buffer.from(signature, 'hex'), expected)
  })
  return isSigned ? visitorId : null
}

/** Without a key anyone could sign. */
function keyOf(secret) {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  if (key.length === 0) throw new Error('The signing secret must be whsec_ and base64.')
  return key
}
// to here. The rest tries it: node node.mjs < vectors.json

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, secrets, locker_id, proof, now, visitor_id } of JSON.parse(readFileSync(0, 'utf8'))) {
    const isRight = verifyProof(secrets, locker_id, proof, now) === visitor_id
    process.stdout.write(`${isRight ? 'pass' : 'FAIL'}  ${name}\n`)
    if (!isRight) process.exitCode = 1
  }
}
