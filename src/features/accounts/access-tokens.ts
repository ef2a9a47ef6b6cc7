// Access tokens for programs that use the management API on behalf of a person: mt_…, shown once, stored as a hash. A
// token may do what its scopes allow, of what its person may, until it expires, and only from its IP allowlist if it
// has one.
import { randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { parseRanges } from '../../lib/ip-ranges.ts'
import { base62, createSecretHash, withChecksum } from '../../lib/tokens.ts'
import { type Actor, recordAudit } from './audit.ts'
import { type Account, lockPerson } from './people.ts'

/** `read` looks at everything; the others read and change one area each. */
export const SCOPES = [
  'read',
  'apps',
  'postbacks',
  'offers',
  'conversions',
  'reports',
  'money',
  'advertisers',
  'publishers',
  'fraud',
  'people',
  'system',
] as const
export type Scope = (typeof SCOPES)[number]

export const DEFAULT_DAYS = 90
export const MAX_DAYS = 365
export const MAX_ADDRESSES = 50

const DAY_MS = 86_400_000
const USE_NOTED_MS = 60_000
const MAX_TOKENS = 50

const COLUMNS = ['token_id', 'name', 'scopes', 'allowed_ips', 'created_at', 'expires_at', 'last_used_at'] as const

export type NewAccessToken = {
  personId: string
  name: string
  scopes: readonly Scope[]
  days: number
  /** IP addresses and CIDRs; none: from anywhere. */
  allowedIps: readonly string[]
}

export async function createAccessToken(trx: Trx, by: Actor, secretKey: string, wanted: NewAccessToken, now: Date) {
  const { personId, name, scopes, days, allowedIps } = wanted
  if (name.trim() === '' || name.length > 100)
    throw new OperatorError('The name of a token must have 1 to 100 characters.', 'name')
  const { problems } = parseRanges(allowedIps.map((one) => one.replaceAll(/[\n#]/g, '?')).join('\n'))
  if (problems.length > 0) throw new OperatorError(problems.join(' '), 'allowed_ips')
  const token = withChecksum(`mt_${base62(randomBytes(32), 43)}`)
  // One at a time for each person, so that those who ask at once do not all find room; and none for who is disabled
  // at this moment.
  const person = await lockPerson(trx, personId)
  if (person === null || person.disabled_at !== null) throw new OperatorError('This account is disabled.')
  if ((await listAccessTokens(trx, personId, now)).filter(({ expires_at }) => expires_at > now).length >= MAX_TOKENS)
    throw new OperatorError(`You already have ${MAX_TOKENS} tokens. Revoke one that you no longer use.`)
  const row = await trx
    .insertInto('access_tokens')
    .values({
      person_id: personId,
      name: name.trim(),
      token_hash: createSecretHash(secretKey)(token),
      scopes: [...new Set(scopes)],
      allowed_ips: [...new Set(allowedIps)],
      created_at: now,
      expires_at: new Date(now.getTime() + days * DAY_MS),
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  const entry = { action: 'token.create', subject: personId, publisherId: person.publisher_id, details: { ...row } }
  await recordAudit(trx, by, entry)
  return { ...(row as typeof row & { scopes: Scope[] }), token }
}

/** Those that are not revoked, newest first. Of those that expired, the newest. */
export async function listAccessTokens(db: Db, personId: string, now: Date) {
  const rows = await db
    .selectFrom((from) =>
      from
        .selectFrom('access_tokens')
        .select(COLUMNS)
        .where('person_id', '=', personId)
        .where('revoked_at', 'is', null)
        .orderBy((is) => is('expires_at', '>', now), 'desc')
        .orderBy('token_id', 'desc')
        .limit(2 * MAX_TOKENS)
        .as('listed'),
    )
    .selectAll()
    .orderBy('token_id', 'desc')
    .execute()
  return rows as ((typeof rows)[number] & { scopes: Scope[] })[]
}

/** False when there is no such token. Stays revoked for good, as do all tokens that are. */
export async function revokeAccessToken(
  trx: Trx,
  by: Actor,
  { id, publisherId }: Account,
  tokenId: number,
  now: Date,
): Promise<boolean> {
  await lockPerson(trx, id)
  const revoked = await revoke(trx, id, now).where('token_id', '=', tokenId).executeTakeFirst()
  if (revoked.numUpdatedRows === 0n) return false
  await recordAudit(trx, by, { action: 'token.revoke', subject: id, publisherId, details: { token_id: tokenId } })
  return true
}

/** All tokens of a person, who is locked: how many that were. Part of a change that has an entry of its own. */
export const revokeAccessTokens = async (trx: Trx, personId: string, now: Date): Promise<number> =>
  Number((await revoke(trx, personId, now).executeTakeFirst()).numUpdatedRows)

const revoke = (trx: Trx, personId: string, now: Date) =>
  trx
    .updateTable('access_tokens')
    .set({ revoked_at: now })
    .where('person_id', '=', personId)
    .where('revoked_at', 'is', null)

/** The owner of a token with one of these hashes; null when there is none, or no longer. */
export async function findTokenHolder(db: Db, hashes: readonly string[], now: Date) {
  const row = await db
    .selectFrom('access_tokens')
    .innerJoin('people', 'people.id', 'access_tokens.person_id')
    .select(['token_id', 'access_tokens.name as token_name', 'scopes', 'allowed_ips', 'last_used_at'])
    .select(['people.id', 'people.name', 'email', 'role', 'publisher_id', 'advertiser_id', 'two_factor_enabled'])
    .where('token_hash', 'in', hashes)
    .where('revoked_at', 'is', null)
    .where('disabled_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (row === undefined) return null
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > USE_NOTED_MS)
    await db
      .updateTable('access_tokens')
      .set({ last_used_at: now, token_hash: hashes[0] as string })
      .where('token_id', '=', row.token_id)
      .execute()
  const { scopes, allowed_ips, ...holder } = row
  const { ranges } = parseRanges(allowed_ips.join('\n'))
  return {
    ...holder,
    scopes: scopes as Scope[],
    mayComeFrom: (ip: string) => allowed_ips.length === 0 || ranges.has(ip),
  }
}
