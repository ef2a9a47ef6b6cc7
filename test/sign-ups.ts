// Publishers that sign up, for tests through the door.
import { after, before, beforeEach } from 'node:test'
import type { Db } from '../src/db/open.ts'
import { DEFAULTS, type ServiceTerms, type SignUpSettings } from '../src/features/accounts/sign-up/schema.ts'
import { createSignUpLink } from '../src/features/accounts/sign-up/links.ts'
import { readSignUp, setSignUp } from '../src/features/accounts/sign-up/settings.ts'
import { signUp, verifySignUp } from '../src/features/accounts/sign-up/sign-up.ts'
import { hashTerms, type SeenTerms } from '../src/features/accounts/sign-up/terms-hash.ts'
import { MailServer } from './mail-server.ts'
import { createPerson, PASSWORD, Visitor } from './people.ts'
import { TESTER } from './tester.ts'
import { SECRET_KEY, useWorld, type World } from './world.ts'

let count = 0

export const TERMS = { version: '1', url: null, text: 'Be fair.' }

export const openSignUp = (db: Db, settings: Partial<SignUpSettings> = {}) =>
  setSignUp(db, TESTER, { ...DEFAULTS, is_open: true, ...settings }, true)

export const changeSignUp = async (db: Db, change: Partial<SignUpSettings>) =>
  setSignUp(db, TESTER, { ...(await readSignUp(db)), ...change }, true)

/** A world with a mail server and an operator. Each test begins with sign-up open. */
export function useSignUps(name: string) {
  const mails = new MailServer()
  before(async () => {
    await mails.open()
    world.config = { ...world.config, smtpUrl: mails.url }
  })
  const world = useWorld(name, async () => {
    await operator.signIn((await createPerson(world, 'operator')).email)
  })
  const operator = new Visitor(world)
  after(() => mails.close())
  beforeEach(async () => {
    mails.answer = () => null
    await openSignUp(world.database.db)
  })
  /** The settings with a change, as the operator's form sends them. */
  async function settings(more: object) {
    const { data } = await operator.get<Record<string, unknown>>('/sign-up/settings')
    const { has_mail: _, last_hour: __, unverified: ___, ...kept } = data
    return { ...kept, ...more }
  }
  const readApplications = () => world.database.db.selectFrom('applications').selectAll().execute()
  return { world, mails, operator, settings, readApplications }
}

export const createForm = (more: object = {}) => ({
  name: 'Ada',
  email: `ada-${count++}@example.com`,
  password: PASSWORD,
  company: `Company ${count}`,
  website: 'https://example.com',
  ...more,
})

export const seen = (terms: ServiceTerms): SeenTerms => ({ version: terms.version, hash: hashTerms(terms) })

/** What a form says of terms that were shown. */
export const accepting = ({ version, hash }: SeenTerms) => ({ terms_version: version, terms_hash: hash })

/** From a network that was not used before, unless it is said. */
export const sendForm = (world: World, form: object, remoteAddress = `192.${count >> 8}.${count++ & 255}.1`) =>
  new Visitor(world).send('POST', '/sign-up', form, { remoteAddress })

const linkIn = (text: string) => /\/sign-up\/verify#(\S+)/.exec(text)?.[1] ?? ''

export const takeLink = async (mails: MailServer, email: string) => linkIn(await mails.take(email, /Finish signing up/))

/** As far as the queue: signed in, with the id of their publisher. */
export async function signUpAs(world: World, mails: MailServer, more: object = {}) {
  const form = createForm(more)
  const { status, text } = await sendForm(world, form)
  if (status !== 200) throw new Error(`Signing up: ${status} ${text}`)
  const token = await takeLink(mails, form.email)
  const visitor = new Visitor(world)
  const done = await visitor.post('/sign-up/verify', { token, password: PASSWORD })
  if (done.status !== 200) throw new Error(`Finishing a sign-up: ${done.status} ${done.text}`)
  const { data } = await visitor.get<{ publisher: { publisher_id: number } }>('/me')
  return { visitor, form, publisherId: data.publisher.publisher_id }
}

/** A sign-up whose link was not mailed; returns its token. */
export async function createLink({ database: { db } }: World, more: object): Promise<string> {
  // Counted in this world, so that examples are the same whatever ran before.
  const { n } = await db.selectFrom('applications').select((is) => is.fn.countAll<number>().as('n')).executeTakeFirstOrThrow() // prettier-ignore
  const form = createForm({ email: `ada-${n}@example.com`, company: `Company ${n}`, ...more })
  await signUp(db, { ...form, accepted: null, answers: [], ...more }, `192.1.${n}.1`, new Date())
  const last = db.selectFrom('applications').select('application_id').where('email', '=', form.email)
  const { application_id } = await last.executeTakeFirstOrThrow()
  const network = { secretKey: SECRET_KEY, publicUrl: '' }
  return linkIn(await db.transaction().execute((trx) => createSignUpLink(trx, network, application_id)))
}

/** One that waits for review; returns the id of its publisher. */
export async function createApplication(world: World, more: object = {}, settings: Partial<SignUpSettings> = {}) {
  const { db } = world.database
  await openSignUp(db, settings)
  const finish = { token: await createLink(world, more), password: PASSWORD, ip: '192.0.2.1' }
  return (await verifySignUp(db, SECRET_KEY, finish, new Date())).publisher_id ?? 0
}

type Step = { id: string; method: string; path: string; body?: unknown; as?: Visitor }

/** Every operation that changes something about sign-ups. */
export async function signUpSteps(world: World): Promise<Step[]> {
  const { db } = world.database
  await openSignUp(db, { terms: TERMS })
  const accepted = seen(TERMS)
  const applicant = new Visitor(world)
  await applicant.post('/sign-up/verify', { token: await createLink(world, { accepted }), password: PASSWORD })
  const { data } = await applicant.get<{ publisher: { publisher_id: number } }>('/me')
  const path = `/publishers/${data.publisher.publisher_id}/application`
  const finish = { token: await createLink(world, { accepted }), password: PASSWORD }
  const next = { ...TERMS, version: '2' }
  await changeSignUp(db, { terms: next })
  return [
    { id: 'verifySignUp', method: 'POST', path: '/sign-up/verify', body: finish, as: new Visitor(world) },
    { id: 'refuseApplication', method: 'POST', path: `${path}/refuse`, body: { reason: 'Spam.' } },
    { id: 'approveApplication', method: 'POST', path: `${path}/approve`, body: {} },
    { id: 'acceptTerms', method: 'POST', path: '/me/terms', body: seen(next), as: applicant },
    { id: 'setSignUpSettings', method: 'PUT', path: '/sign-up/settings', body: DEFAULTS },
  ]
}
