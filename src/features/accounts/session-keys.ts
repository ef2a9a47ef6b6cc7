// What better-auth signs sessions and encrypts second factors with.
import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto'
import type { Db } from '../../db/open.ts'
import { deriveKey, type Resealed, splitKeys } from '../../lib/keys.ts'

/** The first writes. */
export const sessionSecrets = (secretKey: string) =>
  splitKeys(secretKey).map((key) => ({
    version: deriveKey(key, 'key id').readUInt32BE(8) >>> 1,
    value: deriveKey(key, 'sessions').toString('base64'),
  }))

/** Encrypts second factors with the key that writes. */
export async function resealSecondFactors(db: Db, secretKey: string): Promise<Resealed> {
  const [current, ...older] = sessionSecrets(secretKey) as [SessionSecret, ...SessionSecret[]]
  const keys = new Map([current, ...older].map(({ version, value }) => [version, value]))
  const key = { keys, currentVersion: current.version, legacySecret: (older.at(-1) ?? current).value }
  const isPresent = (text: string) => text.startsWith(`$ba$${current.version}$`)
  const rows = await db.selectFrom('two_factors').select(['id', 'secret', 'backup_codes']).execute()
  const count = { resealed: 0, unreadable: 0 }
  for (const { id, ...before } of rows) {
    if (isPresent(before.secret) && isPresent(before.backup_codes)) continue
    try {
      const renew = async (data: string) => symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data }) })
      const after = { secret: await renew(before.secret), backup_codes: await renew(before.backup_codes) }
      const query = db.updateTable('two_factors').set(after).where('id', '=', id)
      await query.where('secret', '=', before.secret).where('backup_codes', '=', before.backup_codes).execute()
      count.resealed++
    } catch {
      count.unreadable++
    }
  }
  return count
}

type SessionSecret = ReturnType<typeof sessionSecrets>[number]
