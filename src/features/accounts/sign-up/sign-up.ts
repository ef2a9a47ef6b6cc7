// A publisher signs up:
//
//   the form -> unverified: a link is mailed. Deleted after 3 days.
//            -> waiting: the link was opened and the password typed again. There is an account, and a publisher that is
//               pending, so its test keys work.
//            -> approved | refused by an operator (applications.ts)
//
// The form is answered alike whether or not an address has an account; what is mailed there differs. A link alone opens
// nothing: who opens it must know the password of the form, so no one gets an account that another person filled in.
import type { Db, Trx } from '../../../db/open.ts'
import { AppError, InvalidInput, OperatorError, type Problem } from '../../../errors.ts'
import { plainAddress } from '../../../lib/ip-address.ts'
import { recordAudit } from '../audit.ts'
import { queueMail } from '../mails.ts'
import { hashPassword, verifyPassword } from '../password-hash.ts'
import { addPerson, checkName, checkPassword, findByTypedEmail, normalEmail, type Person } from '../people.ts'
import { noteSignInPlace } from '../sign-in-places.ts'
import { type Answer, type GivenAnswer, isWebUrl, readAnswers } from './answers.ts'
import { byLink, VALID_MS } from './links.ts'
import { checkFlood, isMailboxFull, lockSignUps } from './limits.ts'
import { notifyOperators } from './mails.ts'
import type { SignUpSettings } from './schema.ts'
import { noteAcceptance } from './service-terms.ts'
import { holdSignUp, readSignUp } from './settings.ts'
import { areSeen, hashTerms, type SeenTerms } from './terms-hash.ts'

const MAX_COMPANY = 180 // a publisher's name has room for a number behind it

export type SignUp = {
  name: string
  email: string
  password: string
  company: string
  website: string
  accepted: SeenTerms | null
  answers: GivenAnswer[]
}

const deadLink = () =>
  new AppError('RESOURCE_NOT_FOUND', 'This link was already used or has expired. Sign in, or sign up again.')

const isClosed = () => new AppError('CONFLICT', 'This network does not accept sign-ups at the moment.')

/** Says nothing about the address. */
export async function signUp(db: Db, given: SignUp, from: string, now: Date): Promise<void> {
  const early = await readSignUp(db)
  checkSignUp(early, given)
  const ip = plainAddress(from)
  await checkFlood(db, { ip, perHour: early.per_hour }, now) // a hash takes its time
  const passwordHash = await hashPassword(given.password)
  await db.transaction().execute(async (trx) => {
    await lockSignUps(trx)
    const settings = await holdSignUp(trx)
    const { answers, email, ...checked } = checkSignUp(settings, given)
    await checkFlood(trx, { ip, perHour: settings.per_hour }, now)
    if (await isMailboxFull(trx, email, now)) return
    const { application_id } = await trx
      .insertInto('applications')
      .values({
        ...checked,
        email,
        password_hash: passwordHash,
        answers: JSON.stringify(answers),
        terms_version: settings.terms?.version ?? null,
        terms_hash: settings.terms === null ? null : hashTerms(settings.terms),
        ip,
        created_at: now,
      })
      .returning('application_id')
      .executeTakeFirstOrThrow()
    await queueMail(trx, { kind: 'sign_up', about: application_id, expiresAt: new Date(now.getTime() + VALID_MS) })
  })
}

type Checked = { name: string; email: string; company: string; website: string; answers: Answer[] }

/** All that is wrong, at once. */
function checkSignUp(settings: SignUpSettings, given: SignUp): Checked {
  if (!settings.is_open) throw isClosed()
  const problems: Problem[] = []
  const [company, website] = [given.company.trim(), given.website.trim()]
  const check = <T>(field: string, read: () => T, or: T): T => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      problems.push({ field, message: error.message })
      return or
    }
  }
  const name = check('name', () => checkName(given.name), '')
  const email = check('email', () => normalEmail(given.email), '')
  check('password', () => checkPassword(given.password), undefined)
  const domain = `.${email.split('@').at(-1) ?? ''}`
  if (settings.blocked_domains.some((blocked) => domain.endsWith(`.${blocked}`)))
    problems.push({ field: 'email', message: 'This network does not accept addresses of this domain. Use another.' })
  if (company === '' || company.length > MAX_COMPANY)
    problems.push({ field: 'company', message: `company must have 1 to ${MAX_COMPANY} characters.` })
  if (!isWebUrl(website)) problems.push({ field: 'website', message: 'Enter a URL such as https://example.com.' })
  if (settings.terms !== null && !areSeen(settings.terms, given.accepted))
    problems.push({
      field: 'terms_version',
      message: given.accepted === null ? 'Accept the terms.' : 'The terms have changed. Read and accept them again.',
    })
  const answers = readAnswers(settings.questions, given.answers)
  problems.push(...answers.problems)
  if (problems.length > 0) throw new InvalidInput(problems)
  return { name, email, company, website, answers: answers.answers }
}

/** What a link is for, before it is used. */
export async function readSignUpLink(db: Db, secretKey: string, token: string, now: Date) {
  const found = await byLink(db, secretKey, token, now).executeTakeFirst()
  if (found === undefined) throw deadLink()
  const { name, email, company } = found
  return { name, email, company }
}

export type Verification = { token: string; password: string; ip: string; requestId?: string }

/** Consumes the link: the account is there, and its publisher is pending. */
export async function verifySignUp(
  db: Db,
  secretKey: string,
  { token, password, ip, requestId }: Verification,
  now: Date,
): Promise<Person> {
  const found = await byLink(db, secretKey, token, now).executeTakeFirst()
  if (found === undefined) throw deadLink()
  if (!(await verifyPassword({ hash: found.password_hash ?? '', password })))
    throw new OperatorError('This is not the password that you chose when you signed up.', 'password')
  return db.transaction().execute(async (trx) => {
    await lockSignUps(trx)
    if (!(await readSignUp(trx)).is_open) throw isClosed()
    const application = await byLink(trx, secretKey, token, now).forUpdate().executeTakeFirst()
    if (application === undefined) throw deadLink()
    const { email, name, company, password_hash, application_id, terms_version, website } = application
    if ((await findByTypedEmail(trx, email)) !== null)
      throw new AppError('CONFLICT', 'This email address already has an account. Sign in instead.')
    const publisher = await addPending(trx, company, email)
    const publisherId = publisher.publisher_id
    const position = { role: 'publisher_owner', publisherId } as const
    const person = await addPerson(trx, { name, email, passwordHash: password_hash ?? '', ...position }, true)
    await trx
      .updateTable('applications')
      .set({
        status: 'waiting',
        password_hash: null,
        token_hash: null,
        publisher_id: publisherId,
        person_id: person.id,
        verified_at: now,
      })
      .where('application_id', '=', application_id)
      .execute()
    if (terms_version !== null) {
      const { ip: from, created_at: at, terms_hash: termsHash } = application
      await noteAcceptance(trx, { publisherId, personId: person.id, version: terms_version, termsHash, ip: from, at })
    }
    await noteSignInPlace(trx, person.id, ip, now) // where one joins is no surprise
    const details = { name: publisher.name, website, terms_version }
    const by = { id: person.id, email, ip, requestId }
    await recordAudit(trx, by, { action: 'publisher.sign_up', subject: publisherId, publisherId, details })
    await notifyOperators(trx, now)
    return person
  })
}

/** Another publisher may have the name: this one gets a number behind it. */
async function addPending(trx: Trx, company: string, email: string) {
  for (let i = 1; ; i++) {
    const name = i === 1 ? company : `${company} (${i})`
    const added = await trx
      .insertInto('publishers')
      .values({ name, email, status: 'pending' })
      .onConflict((on) => on.column('name').doNothing())
      .returning(['publisher_id', 'name'])
      .executeTakeFirst()
    if (added !== undefined) return added
  }
}

export async function forgetUnverified(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('applications')
    .where('status', '=', 'unverified')
    .where('created_at', '<', new Date(now.getTime() - VALID_MS))
    .execute()
}
