// The secrets among an app's postback settings: the values of custom headers, and the receiver's secret. Sealed.
import type { Db } from '../../db/open.ts'
import { deriveKey, deriveKeys, type KeyPurpose, reseal, type Resealed, seal, unseal } from '../../lib/keys.ts'

type Secrets = { headers: Readonly<Record<string, string>>; receiverSecret: string | null }
type Sealed = { headers_sealed: Buffer | null; receiver_secret_sealed: Buffer | null }

const PURPOSES: Record<keyof Sealed, KeyPurpose> = {
  headers_sealed: 'postback headers',
  receiver_secret_sealed: 'receiver secrets',
}

export function sealSecrets(
  secretKey: string,
  appId: number,
  headers: Secrets['headers'],
  receiverSecret: Secrets['receiverSecret'],
): Sealed {
  const close = (column: keyof Sealed, text: string | null) =>
    text === null ? null : seal(deriveKey(secretKey, PURPOSES[column]), text, String(appId))
  return {
    headers_sealed: close('headers_sealed', Object.keys(headers).length === 0 ? null : JSON.stringify(headers)),
    receiver_secret_sealed: close('receiver_secret_sealed', receiverSecret),
  }
}

/** Null when they were sealed with another key. */
export function openSecrets(secretKey: string, row: Sealed & { app_id: number }): Secrets | null {
  const open = (column: keyof Sealed): string | null => {
    const sealed = row[column]
    return sealed === null ? null : unseal(deriveKeys(secretKey, PURPOSES[column]), sealed, String(row.app_id))
  }
  try {
    const headers = JSON.parse(open('headers_sealed') ?? '{}') as Record<string, string>
    return { headers, receiverSecret: open('receiver_secret_sealed') }
  } catch {
    return null
  }
}

/** Seals all of one kind with the current key. */
async function resealColumn(db: Db, secretKey: string, column: keyof Sealed): Promise<Resealed> {
  const rows = await db.selectFrom('postback_settings').select(['app_id', column]).execute()
  const count = { resealed: 0, unreadable: 0 }
  for (const { app_id, [column]: before } of rows) {
    const after = before === null ? 'current' : reseal(secretKey, PURPOSES[column], before, String(app_id))
    if (after === 'unreadable') count.unreadable++
    if (before === null || typeof after === 'string') continue
    const query = db
      .updateTable('postback_settings')
      .set({ [column]: after })
      .where('app_id', '=', app_id)
    await query.where(column, '=', before).execute() // not those that were saved meanwhile
    count.resealed++
  }
  return count
}

export const resealHeaders = (db: Db, secretKey: string) => resealColumn(db, secretKey, 'headers_sealed')
export const resealReceiverSecrets = (db: Db, secretKey: string) =>
  resealColumn(db, secretKey, 'receiver_secret_sealed')
