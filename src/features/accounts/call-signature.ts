// How an advertiser signs its callbacks: a hash of a text in which {name} stands for a parameter as it was sent, and
//   {secret}        what the advertiser and the operator share
//   {url}           the URL up to the parameter of the signature
//   {sorted_query}  all parameters but that of the signature, sorted (signatures.ts)
import { timingSafeEqual } from 'node:crypto'
import { type Db, inTransaction } from '../../db/open.ts'
import { InvalidInput, NoSuch, type Problem } from '../../errors.ts'
import { deriveKey, deriveKeys, reseal, type Resealed, seal, unseal } from '../../lib/keys.ts'
import { ALGORITHMS, ENCODINGS, type HashKind, signText, SORTED_QUERIES, sortQuery } from '../../lib/signatures.ts'
import { type Actor, recordAudit } from './audit.ts'

export type CallSignature = HashKind & {
  of: string
  /** Where it comes: a parameter, or a header. */
  parameter: string | null
  header: string | null
}

const PURPOSE = 'callback signatures'
const MOST_TEXT = 500
const MACRO = /\{(\w+)\}/g

/** Null: its callbacks are not signed, or no longer. */
export async function setCallSignature(
  db: Db,
  by: Actor,
  secretKey: string,
  advertiserId: number,
  wanted: { signature: CallSignature; secret: string } | null,
): Promise<void> {
  const problems = wanted === null ? [] : problemsOf(wanted.signature, wanted.secret)
  if (problems.length > 0) throw new InvalidInput(problems)
  const values = wanted === null ? { signature: null, signature_secret: null } : { signature: JSON.stringify(wanted.signature), signature_secret: seal(deriveKey(secretKey, PURPOSE), wanted.secret, String(advertiserId)) } // prettier-ignore
  await inTransaction(db, async (trx) => {
    const changed = await trx.updateTable('advertisers').set(values).where('advertiser_id', '=', advertiserId).returning('name').executeTakeFirst() // prettier-ignore
    if (changed === undefined) throw new NoSuch('advertiser', advertiserId)
    await recordAudit(trx, by, { action: 'advertiser.set_signature', subject: advertiserId, details: { signature: wanted?.signature ?? null } }) // prettier-ignore
  })
}

function problemsOf({ algorithm, encoding, of, parameter, header }: CallSignature, secret: string): Problem[] {
  const found: Problem[] = []
  const say = (field: string, message: string) => found.push({ field: `signature.${field}`, message })
  const used = [...of.matchAll(MACRO)].map(([, name = '']) => name)
  if (!ALGORITHMS.includes(algorithm)) say('algorithm', `The algorithm must be one of ${ALGORITHMS.join(', ')}.`)
  if (!ENCODINGS.includes(encoding)) say('encoding', `The encoding must be one of ${ENCODINGS.join(', ')}.`)
  if (of.length > MOST_TEXT) say('of', `The signed text must have at most ${MOST_TEXT} characters.`)
  if (!algorithm.startsWith('hmac-') && !used.includes('secret')) say('of', 'Add {secret} to the signed text: without it, anyone could sign.') // prettier-ignore
  if (used.every((name) => name === 'secret')) say('of', 'Add a parameter such as {click_id} to the signed text: otherwise every callback has the same signature.') // prettier-ignore
  if ((parameter === null) === (header === null)) say('parameter', 'Name either the parameter or the header that has the signature.') // prettier-ignore
  if (parameter !== null && !/^[\w.-]{1,100}$/.test(parameter)) say('parameter', 'This is not a valid parameter name.')
  if (header !== null && !/^[\w-]{1,100}$/.test(header)) say('header', 'This is not a valid header name.')
  if (secret.trim() === '' || secret.length > 500) found.push({ field: 'secret', message: 'The secret must have 1 to 500 characters.' }) // prettier-ignore
  return found
}

/** A callback as it came. */
export type SignedCall = {
  /** As it was called from outside, with its query. */
  url: string
  parameters: ReadonlyMap<string, readonly string[]>
  headers: Record<string, string | string[] | undefined>
}

export type SealedSignature = { signature: CallSignature; secret: Buffer }

/** Compared in constant time, in any case of letters where it is hex. */
export function isSigned(
  secretKey: string,
  advertiserId: number,
  { signature, secret }: SealedSignature,
  call: SignedCall,
): boolean {
  // prettier-ignore
  const { parameter, header, encoding } = signature
  const given = parameter === null ? call.headers[(header ?? '').toLowerCase()] : call.parameters.get(parameter)?.[0]
  if (typeof given !== 'string') return false
  const plain = unseal(deriveKeys(secretKey, PURPOSE), secret, String(advertiserId))
  // A + of base64 that was sent as it is in a URL arrives as a space.
  const fold = (text: string) => Buffer.from(encoding === 'base64' ? text.replaceAll(' ', '+').trim() : text.trim().toLowerCase()) // prettier-ignore
  const [a, b] = [fold(given), fold(signText(signature, plain, textOf(signature, plain, call)))]
  return a.length === b.length && timingSafeEqual(a, b)
}

function textOf({ of, parameter }: CallSignature, secret: string, { url, parameters }: SignedCall): string {
  const unsigned = parameter === null ? url : withoutParameter(url, parameter)
  return of.replaceAll(MACRO, (_, name: string) => {
    if (name === 'secret') return secret
    if (name === 'url') return unsigned
    if ((SORTED_QUERIES as readonly string[]).includes(name)) return sortQuery(unsigned.slice(unsigned.indexOf('?') + 1), name) // prettier-ignore
    return parameters.get(name)?.[0] ?? ''
  })
}

/** The rest stays as it is, byte for byte. */
function withoutParameter(url: string, name: string): string {
  const [path = '', query = ''] = url.split(/\?(.*)/s)
  return `${path}?${query.split('&').filter((pair) => pair.split('=', 1)[0] !== name).join('&')}` // prettier-ignore
}

/** With the key that writes now. */
export async function resealCallSecrets(db: Db, secretKey: string): Promise<Resealed> {
  const rows = await db.selectFrom('advertisers').select(['advertiser_id', 'signature_secret']).where('signature_secret', 'is not', null).execute() // prettier-ignore
  const count = { resealed: 0, unreadable: 0 }
  for (const { advertiser_id, signature_secret: before } of rows) {
    if (before === null) continue
    const after = reseal(secretKey, PURPOSE, before, String(advertiser_id))
    if (after === 'unreadable') count.unreadable++
    if (typeof after === 'string') continue
    const query = db
      .updateTable('advertisers')
      .set({ signature_secret: after })
      .where('advertiser_id', '=', advertiser_id)
    await query.where('signature_secret', '=', before).execute() // not one that was saved meanwhile
    count.resealed++
  }
  return count
}
