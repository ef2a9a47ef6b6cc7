// People who sign in: operators, who run the network, those of a publisher, and those of an advertiser.
import { type ExpressionBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { containing } from '../../db/search.ts'
import type { DB as Tables } from '../../db/tables.ts'
import { OperatorError } from '../../errors.ts'
import { checkEmail } from './email.ts'
import { hashPassword } from './password-hash.ts'

export const OPERATOR_ROLES = ['operator', 'operator_reader'] as const
export const PUBLISHER_ROLES = [
  'publisher_owner',
  'publisher_developer',
  'publisher_finance',
  'publisher_viewer',
] as const
export const ADVERTISER_ROLES = ['advertiser'] as const
export const ROLES = [...OPERATOR_ROLES, ...PUBLISHER_ROLES, ...ADVERTISER_ROLES] as const
export type Role = (typeof ROLES)[number]

export const isOperatorRole = (role: Role) => role === 'operator' || role === 'operator_reader'

const LEADING: readonly Role[] = ['operator', 'publisher_owner']
export const isLeadingRole = (role: Role) => LEADING.includes(role)

/** Who leads a team may invite people and keep them out. */
export const isLeading = ({ role, disabled_at }: Pick<Person, 'role' | 'disabled_at'>) =>
  disabled_at === null && isLeadingRole(role)

/** Whose people: a publisher's, an advertiser's, or, without either, the operators. */
export type Team = { publisherId: number | null; advertiserId?: number | null }
export type Position = Team & { role: Role }

export type Person = {
  id: string
  name: string
  email: string
  role: Role
  publisher_id: number | null
  advertiser_id: number | null
  two_factor_enabled: boolean
  disabled_at: Date | null
  /** Only an operator enables them again. */
  disabled_by_operator: boolean
  created_at: Date
}

/** Whose entries in the audit log these are. */
export type Account = { id: string; publisherId: number | null }

export const MIN_PASSWORD = 12
export const MAX_PASSWORD = 128

const COLUMNS = [
  'id',
  'name',
  'email',
  'role',
  'publisher_id',
  'advertiser_id',
  'two_factor_enabled',
  'disabled_at',
  'disabled_by_operator',
  'created_at',
] as const

export type NewPerson = Position & { name: string; email: string; password: string }

/** People sign in with an email address and a password. */
export async function createPerson(db: Db, person: NewPerson): Promise<Person> {
  const checked = await checkPerson(person)
  return db.transaction().execute((trx) => addPerson(trx, checked))
}

type CheckedPerson = Position & { name: string; email: string; passwordHash: string }

export async function checkPerson({ name, email, password, ...position }: NewPerson): Promise<CheckedPerson> {
  const checkedName = checkName(name)
  checkPassword(password)
  return { ...position, name: checkedName, email: normalEmail(email), passwordHash: await hashPassword(password) }
}

/** Without spaces around it. */
export function checkName(name: string): string {
  if (name.trim() === '' || name.length > 200 || /\p{Cc}/u.test(name))
    throw new OperatorError('A name must have 1 to 200 characters, on one line.', 'name')
  return name.trim()
}

/** `isVerified`: whether the email address is verified. */
export async function addPerson(
  trx: Trx,
  { name, email, role, publisherId, advertiserId = null, passwordHash }: CheckedPerson,
  isVerified = false,
) {
  const person = await trx
    .insertInto('people')
    .values({ name, email, role, publisher_id: publisherId, advertiser_id: advertiserId, email_verified: isVerified })
    .onConflict((on) => on.column('email').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst()
  if (person === undefined) throw new OperatorError(`Another account uses the email address "${email}".`, 'email')
  await addPassword(trx, person.id, passwordHash)
  return person as Person
}

async function addPassword(trx: Trx, personId: string, hash: string): Promise<void> {
  await trx
    .insertInto('sign_ins')
    .values({ provider_id: 'credential', account_id: personId, person_id: personId, password: hash })
    .execute()
}

export function normalEmail(email: string): string {
  const address = email.trim().toLowerCase()
  checkEmail(address)
  return address
}

export function checkPassword(password: string): void {
  if (password.length < MIN_PASSWORD || password.length > MAX_PASSWORD)
    throw new OperatorError(`A password must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters.`, 'password')
}

export async function countPeople(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('people')
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Those of one team. */
export const peopleOf = (db: Db, team: Team) => db.selectFrom('people').select(COLUMNS).where(isOfTeam(team))

/** Which people, or invitations, are a team's. */
export const isOfTeam =
  ({ publisherId, advertiserId = null }: Team) =>
  (is: ExpressionBuilder<Tables, 'people' | 'invitations'>) =>
    is.and([
      is('publisher_id', publisherId === null ? 'is' : '=', publisherId),
      is('advertiser_id', advertiserId === null ? 'is' : '=', advertiserId),
    ])

/** `search` is part of a name or an email address; `after` is the last one of the previous page. */
export type PeopleFilter = { search?: string; after?: string }

/** In the order in which they joined. */
export async function listPeople(
  db: Db,
  team: Team,
  limit: number,
  { search, after }: PeopleFilter = {},
): Promise<Person[]> {
  let query = peopleOf(db, team)
  if (search !== undefined) {
    const pattern = containing(search)
    query = query.where((is) => is.or([is('name', 'ilike', pattern), is('email', 'ilike', pattern)]))
  }
  if (after !== undefined)
    query = query.where(sql<boolean>`(created_at, id) > (SELECT created_at, id FROM people WHERE id = ${after}::uuid)`)
  return (await query.orderBy('created_at').orderBy('id').limit(limit).execute()) as Person[]
}

export const isMember = async (db: Db, team: Team, typedEmail: string): Promise<boolean> =>
  (await peopleOf(db, team).where('email', '=', typedEmail.trim().toLowerCase()).executeTakeFirst()) !== undefined

export const hasLeader = async (db: Db, team: Team): Promise<boolean> =>
  (await peopleOf(db, team).where('role', 'in', LEADING).where('disabled_at', 'is', null).executeTakeFirst()) !==
  undefined

export async function listEverybody(db: Db): Promise<Person[]> {
  return (await db.selectFrom('people').select(COLUMNS).orderBy('created_at').execute()) as Person[]
}

export async function findPersonByEmail(db: Db, email: string): Promise<Person | null> {
  const row = await db.selectFrom('people').select(COLUMNS).where('email', '=', normalEmail(email)).executeTakeFirst()
  return (row as Person | undefined) ?? null
}

/** Null also for an invalid email address. */
export async function findByTypedEmail(db: Db, typed: string) {
  const person = await db
    .selectFrom('people')
    .select(['id', 'email', 'publisher_id'])
    .where('email', '=', typed.trim().toLowerCase())
    .executeTakeFirst()
  return person ?? null
}

/**
 * Whatever ends sessions or tokens, or changes a way in, locks the person before anything else. What is done with a
 * session at this moment then happens before it ends, or not at all (audit.ts); and no two such changes wait for each
 * other.
 */
export async function lockPerson(trx: Trx, personId: string) {
  const person = await trx
    .selectFrom('people')
    .select(['email', 'publisher_id', 'two_factor_enabled', 'disabled_at'])
    .where('id', '=', personId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return person ?? null
}

export async function isDisabled(db: Db, personId: string): Promise<boolean> {
  const person = await db.selectFrom('people').select('disabled_at').where('id', '=', personId).executeTakeFirst()
  return person?.disabled_at != null
}
