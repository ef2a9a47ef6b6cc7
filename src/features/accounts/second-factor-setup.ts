// Setting up a second factor: its secret, the URI that authenticator apps read, and the backup codes. In one transaction
// that locks the person: better-auth reads and writes in separate steps, and would replace a secret that was confirmed
// in between.
import { generateRandomString } from 'better-auth/crypto'
import type { Trx } from '../../db/open.ts'
import { type Actor, checkStillMay } from './audit.ts'
import { lockPerson } from './people.ts'

const SECRET_LENGTH = 32
const BACKUP_CODES = 10
const ISSUER = 'Offerdeck'
const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

type Seal = (text: string) => Promise<string>

/** Not in force before it is confirmed: replaces what was not. Null when the person has a second factor. */
export async function startSecondFactor(trx: Trx, by: Actor & { id: string }, seal: Seal) {
  const person = await lockPerson(trx, by.id)
  await checkStillMay(trx, by)
  if (person === null || person.two_factor_enabled) return null
  const secret = generateRandomString(SECRET_LENGTH)
  const backupCodes = Array.from({ length: BACKUP_CODES }, createBackupCode)
  await trx.deleteFrom('two_factors').where('person_id', '=', by.id).execute()
  await trx
    .insertInto('two_factors')
    .values({
      person_id: by.id,
      secret: await seal(secret),
      backup_codes: await seal(JSON.stringify(backupCodes)),
      verified: false,
      failed_verification_count: 0,
    })
    .execute()
  return { uri: uriOf(secret, person.email), backupCodes }
}

function createBackupCode(): string {
  const code = generateRandomString(10, 'a-z', '0-9', 'A-Z')
  return `${code.slice(0, 5)}-${code.slice(5)}`
}

function uriOf(secret: string, email: string): string {
  const query = new URLSearchParams({ secret: base32(Buffer.from(secret)), issuer: ISSUER, digits: '6', period: '30' })
  return `otpauth://totp/${ISSUER}:${encodeURIComponent(email)}?${query.toString()}`
}

/** RFC 4648, without padding. */
function base32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE_32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}
