// Publishers sign up, from the form to live keys, and what changes on the way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, PASSWORD, Visitor } from '../../../test/people.ts'
import { accepting, changeSignUp, createForm, openSignUp, seen, sendForm, signUpAs, takeLink, TERMS, useSignUps } from '../../../test/sign-ups.ts' // prettier-ignore
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY } from '../../../test/world.ts'
import { invite } from '../../features/accounts/invitations.ts'
import { permit } from '../../features/apps/permissions.ts'

type Keys = { api_key: string; api_secret: string }
type Made = { live: Keys; test: Keys }
type Shown = {
  status: string
  answers: { label: string; answer: string }[]
  terms: { version: string }[]
  reason: string
}
type Me = { publisher: { status: string; refusal: string | null }; terms: { version: string } | null }

const { world, mails, operator, settings, readApplications } = useSignUps('sign_up')
const readShown = async (path: string) => (await operator.get<{ application: Shown }>(path)).data.application

test('a publisher signs up, tests at once, and goes live once it is approved', async () => {
  const questions = [
    { question_id: 'traffic', label: 'Where is your traffic from?', kind: 'choice', is_required: true, choices: ['US', 'EU'] },
    { question_id: 'more', label: 'Anything else?', kind: 'long_text', is_required: false, choices: [] },
  ] // prettier-ignore
  const opened = await operator.put('/sign-up/settings', await settings({ is_open: true, terms: TERMS, questions }))
  assert.equal(opened.status, 200, opened.text)
  const { data: form } = await new Visitor(world).get<{ questions: unknown; terms: unknown }>('/sign-up')
  assert.deepEqual([form.questions, form.terms], [questions, { ...TERMS, hash: seen(TERMS).hash }])

  const missing = await sendForm(world, { ...createForm({ website: 'no', name: ' ', password: 'short', company: ' ' }), answers: [] }) // prettier-ignore
  assert.equal(missing.status, 400)
  assert.deepEqual(Object.keys(missing.error.details ?? {}).toSorted(), ['answers.traffic', 'company', 'name', 'password', 'terms_version', 'website']) // prettier-ignore

  const answers = [{ question_id: 'traffic', answer: 'EU' }, { question_id: 'more', answer: '' }, { question_id: 'gone', answer: 'x' }] // prettier-ignore
  const { visitor, publisherId } = await signUpAs(world, mails, { ...accepting(seen(TERMS)), answers, company: 'Acme' })
  const { data: me } = await visitor.get<Me>('/me')
  assert.deepEqual([me.publisher.status, me.terms], ['pending', null])
  const made = await visitor.post<Made>(`/publishers/${publisherId}/apps`, { name: 'Site', currency: 'Coins', rate: 100 }) // prettier-ignore
  assert.equal(made.status, 200, made.text)
  await world.app.refresh()
  const statusOf = async (keys: Keys) => (await world.get('/v1/offers?userId=u', keys)).status
  assert.deepEqual([await statusOf(made.data.test), await statusOf(made.data.live)], [200, 401])
  assert.match(await mails.take((await operator.get<{ email: string }>('/me')).data.email, /waiting for review/), /network\/applications/) // prettier-ignore

  const path = `/publishers/${publisherId}/application`
  const shown = await readShown(path)
  assert.deepEqual(shown.answers, [{ label: 'Where is your traffic from?', kind: 'choice', answer: 'EU' }])
  assert.deepEqual([shown.status, shown.terms.map(({ version }) => version)], ['waiting', ['1']])
  assert.equal((await operator.get<{ waiting_applications: number }>('/me')).data.waiting_applications, 1)
  assert.equal((await operator.post(`${path}/approve`)).status, 200)
  assert.match(await mails.take((await visitor.get<{ email: string }>('/me')).data.email, /approved/), /live keys work/)
  assert.equal(await statusOf(made.data.live), 200)
  assert.equal((await operator.post(`${path}/approve`)).status, 409)
  assert.equal((await operator.post(`${path}/refuse`, { reason: 'x' })).status, 409)
  assert.equal((await operator.get('/publishers/999999/application')).status, 404, 'not one that an operator created')
})

test('an address that has an account is answered like a new one, and its owner is mailed', async () => {
  const { email } = await createPerson(world, 'publisher_viewer', (await signUpAs(world, mails)).publisherId)
  const [known, unknown] = [await sendForm(world, createForm({ email: email.toUpperCase() })), await sendForm(world, createForm())] // prettier-ignore
  const shapeOf = ({ status, data }: typeof known) => ({ status, data })
  assert.deepEqual(shapeOf(known), shapeOf(unknown))
  const text = await mails.take(email, /already have an account/)
  assert.equal(text.includes('/sign-up/verify'), false)
})

test('a link opens nothing without the password of the form, and works once', async () => {
  const form = createForm()
  await sendForm(world, form)
  const token = await takeLink(mails, form.email)
  const guest = new Visitor(world)
  const { data } = await guest.post<{ email: string }>('/sign-up/link', { token })
  assert.equal(data.email, form.email)
  const wrong = await guest.post('/sign-up/verify', { token, password: 'of another person' })
  assert.deepEqual([wrong.status, Object.keys(wrong.error.details ?? {})], [400, ['password']])
  const verify = () => new Visitor(world).post('/sign-up/verify', { token, password: PASSWORD })
  const both = await Promise.all([verify(), verify()])
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 404],
  )
  assert.equal((await guest.post('/sign-up/link', { token })).status, 404)
  assert.equal((await readApplications()).filter(({ email }) => email === form.email).length, 1)
})

test('two forms of one person make one account; companies of one name are told apart', async () => {
  const form = createForm({ company: 'Twins' })
  await sendForm(world, form)
  const first = await takeLink(mails, form.email)
  await sendForm(world, form)
  const second = await takeLink(mails, form.email)
  const statuses = await Promise.all(
    [first, second].map(async (token) => (await new Visitor(world).post('/sign-up/verify', { token, password: PASSWORD })).status), // prettier-ignore
  )
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [200, 409],
  )
  await signUpAs(world, mails, { company: 'Twins' })
  const { data } = await operator.get<{ publishers: { name: string }[] }>('/publishers?search=Twins')
  assert.deepEqual(data.publishers.map(({ name }) => name).toSorted(), ['Twins', 'Twins (2)'])
})

test('of an approval and a refusal at once, one counts', async () => {
  const { publisherId, visitor, form } = await signUpAs(world, mails)
  const path = `/publishers/${publisherId}/application`
  const both = await Promise.all([
    operator.post(`${path}/approve`, { seen_status: 'waiting' }),
    operator.post(`${path}/refuse`, { reason: 'Spam.' }),
  ])
  assert.deepEqual(both.map(({ status }) => status).toSorted((a, b) => a - b), [200, 409]) // prettier-ignore
  const wanted = both[0]?.status === 200 ? ['approved', 'active'] : ['refused', 'suspended']
  const data = await readShown(path)
  assert.deepEqual([data.status, (await visitor.get<Me>('/me')).data.publisher.status], wanted)
  await mails.take(form.email, new RegExp(data.status))
})

test('a refusal is mailed with its reason, ends the test keys, and can be followed by an approval', async () => {
  const { publisherId, visitor, form } = await signUpAs(world, mails)
  const path = `/publishers/${publisherId}/application`
  assert.equal((await operator.post(`${path}/refuse`, {})).status, 400)
  assert.equal((await operator.post(`${path}/refuse`, { reason: 'No website.' })).status, 200)
  assert.match(await mails.take(form.email, /refused/), /No website\./)
  const { data } = await visitor.get<Me>('/me')
  assert.deepEqual([data.publisher.status, data.publisher.refusal], ['suspended', 'No website.'])
  assert.equal((await operator.post(`${path}/approve`)).status, 200)
  assert.equal((await visitor.get<Me>('/me')).data.publisher.refusal, null)
})

test('a publisher that is activated by its permissions leaves the queue, and is mailed', async () => {
  const { publisherId, form } = await signUpAs(world, mails)
  await permit(world.database.db, TESTER, publisherId, { sharePpm: 900_000 })
  const path = `/publishers/${publisherId}/application`
  assert.equal((await readShown(path)).status, 'waiting')
  await permit(world.database.db, TESTER, publisherId, { status: 'active' })
  assert.equal((await readShown(path)).status, 'approved')
  const { rows } = await world.database.pool.query(`SELECT kind FROM mails WHERE kind = 'application_decision' AND about =
    (SELECT application_id::text FROM applications WHERE publisher_id = ${publisherId})`) // prettier-ignore
  assert.equal(rows.length, 1)
  assert.ok(form.email)
})

test('what the operator changes between the form and the link holds', async () => {
  const { db } = world.database
  const question = { question_id: 'q', label: 'Why?', kind: 'text' as const, is_required: true, choices: [] }
  const [a, b] = [{ ...TERMS, version: 'a' }, { ...TERMS, version: 'b' }] // prettier-ignore
  await openSignUp(db, { terms: a, questions: [question] })
  const form = createForm({ ...accepting(seen(a)), answers: [{ question_id: 'q', answer: 'Because.' }] })
  await sendForm(world, form)
  const token = await takeLink(mails, form.email)

  const outdated = await operator.put('/sign-up/settings', await settings({ terms: { ...TERMS, version: 'a', text: 'New.' } })) // prettier-ignore
  assert.deepEqual(Object.keys(outdated.error.details ?? {}), ['terms.version'], 'what was accepted stays what it was')
  await changeSignUp(db, { is_open: false, questions: [], terms: b })
  const visitor = new Visitor(world)
  const closed = await visitor.post('/sign-up/verify', { token, password: PASSWORD })
  assert.equal(closed.status, 409)
  assert.equal((await sendForm(world, createForm())).status, 409)
  assert.equal((await new Visitor(world).get<{ is_open: boolean }>('/sign-up')).data.is_open, false)

  await changeSignUp(db, { is_open: true })
  assert.equal((await sendForm(world, form)).error.details?.['terms_version'], 'The terms have changed. Read and accept them again.') // prettier-ignore
  assert.equal((await visitor.post('/sign-up/verify', { token, password: PASSWORD })).status, 200)
  const { data: me } = await visitor.get<Me & { publisher: { publisher_id: number } }>('/me')
  assert.equal(me.terms?.version, 'b', 'asked again')
  const data = await readShown(`/publishers/${me.publisher.publisher_id}/application`)
  assert.deepEqual([data.answers[0]?.answer, data.terms.map(({ version }) => version)], ['Because.', ['a']])

  assert.equal((await visitor.post('/me/terms', seen(a))).status, 409)
  assert.equal((await operator.post('/me/terms', seen(b))).status, 403)
  const accept = () => visitor.post('/me/terms', seen(b))
  assert.deepEqual((await Promise.all([accept(), accept()])).map(({ status }) => status), [200, 200]) // prettier-ignore
  assert.equal((await visitor.get<Me>('/me')).data.terms, null)
  assert.equal((await operator.put('/sign-up/settings', await settings({ version: 'old' }))).status, 409)
})

test('who was invited and joined meanwhile keeps that account', async () => {
  const { db } = world.database
  const { publisherId } = await signUpAs(world, mails)
  const form = createForm()
  await sendForm(world, form)
  const token = await takeLink(mails, form.email)
  const invited = { email: form.email, role: 'publisher_viewer', publisherId, invitedBy: null } as const
  const invitation = await db.transaction().execute((trx) => invite(trx, TESTER, SECRET_KEY, invited, new Date()))
  await new Visitor(world).post('/invitation/accept', { token: invitation.token, name: 'Ada', password: PASSWORD })
  const { status, error } = await new Visitor(world).post('/sign-up/verify', { token, password: PASSWORD })
  assert.equal(status, 409)
  assert.match(error.message, /already has an account/)
})

test('a flood of sign-ups ends at limits: of a mailbox, an address, a network, and all together', async () => {
  const { db } = world.database
  await db.deleteFrom('applications').where('status', '=', 'unverified').execute()
  await db.updateTable('applications').set({ created_at: new Date(0) }).execute() // prettier-ignore
  await db.deleteFrom('mails').execute()
  const statusOf = async (form: object, from?: string) => (await sendForm(world, form, from)).status
  const mailbox = (i: number) => createForm({ email: `one+${i}@example.com` })
  for (let i = 0; i < 5; i++)
    assert.equal(await statusOf(mailbox(i)), 200, 'says nothing of what is known of a mailbox')
  assert.equal((await readApplications()).filter(({ email }) => email.startsWith('one+')).length, 3)

  /** What was there already, and two more at once. */
  const twoAfter = async (before: number, ip: string, ...from: [string, string]) => {
    await world.database.pool.query(
      `INSERT INTO applications (name, email, password_hash, company, website, answers, ip, created_at)
       SELECT 'x', 'x' || n || $2, 'x', 'x', 'x', '[]', $2, now() FROM generate_series(1, $1) n`,
      [before, ip],
    )
    const statuses = await Promise.all(from.map((address) => statusOf(createForm(), address)))
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [200, 429],
      ip,
    )
  }
  await twoAfter(4, '198.51.100.1', '198.51.100.1', '198.51.100.1')
  await twoAfter(14, '198.51.100.2', '198.51.100.3', '198.51.100.4')
  await twoAfter(4, '2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1:5::')
  await changeSignUp(db, { per_hour: 30 })
  await twoAfter(1, '203.0.113.1', '192.0.2.1', '192.0.3.1')
  const { data } = await operator.get<{ last_hour: number }>('/sign-up/settings')
  assert.equal(data.last_hour, 30)

  await changeSignUp(db, { per_hour: 1000, blocked_domains: ['trash.example'] })
  const refused = await sendForm(world, createForm({ email: 'a@mx.trash.example' }))
  assert.deepEqual([refused.status, Object.keys(refused.error.details ?? {})], [400, ['email']])
})
