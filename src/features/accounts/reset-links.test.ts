// How many links are mailed to one person, however often they are requested.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { MailServer } from '../../../test/mail-server.ts'
import { createPerson, PASSWORD, Visitor } from '../../../test/people.ts'
import { useWorld } from '../../../test/world.ts'

let mails: MailServer
const world = useWorld('reset_links', async () => {
  mails = await new MailServer().open()
  await world.app.close()
  world.config = { ...world.config, smtpUrl: mails.url }
  world.app = await world.start()
})
after(() => mails.close())
beforeEach(async () => {
  mails.answer = () => null
  await world.database.db.deleteFrom('mails').execute()
})

let network = 0
/** From a network that was not used before: limits of one are not what ends this. */
const forgot = (email: string) =>
  new Visitor(world).send('POST', '/password/forgot', { email }, { remoteAddress: `192.7.${network++}.1` })
const readRows = () => world.database.db.selectFrom('mails').selectAll().orderBy('mail_id').execute()
const isQuiet = async () => (await readRows()).every(({ status }) => status !== 'queued')

test('a mailbox gets a few reset links an hour, and the answer does not say so', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const answers = []
  for (let i = 0; i < 6; i++) {
    answers.push(await forgot(i % 2 === 0 ? email : ` ${email.toUpperCase()}`))
    await until(isQuiet)
  }
  answers.push(await forgot('nobody@example.com'))
  for (const { status, data } of answers) assert.deepEqual({ status, data }, { status: 200, data: { mailed: true } })
  await until(isQuiet)
  assert.deepEqual((await readRows()).map(({ about, status }) => [about, status]), [1, 2, 3].map(() => [id, 'sent'])) // prettier-ignore
  const links = []
  for (let i = 0; i < 3; i++) links.push(/#(\S+)/.exec(await mails.take(email, /password/))?.[1] ?? '')
  assert.equal(mails.got.length, 0)

  const hourAgo = new Date(Date.now() - 3_600_000)
  await world.database.db.updateTable('mails').set({ created_at: hourAgo }).execute()
  await forgot(email)
  links.push(/#(\S+)/.exec(await mails.take(email, /password/))?.[1] ?? '')
  const reset = { token: links[3], password: PASSWORD }
  assert.equal((await new Visitor(world).post('/password/reset', reset)).status, 200)
})

test('while a reset mail waits, no other is queued for its person, also by requests at once', async () => {
  const { id, email } = await createPerson(world, 'operator')
  mails.answer = (said) => (said.startsWith('MAIL') ? '451 not now' : null)
  await Promise.all(Array.from({ length: 8 }, () => forgot(email)))
  await until(async () => (await readRows()).every(({ failure }) => failure !== null))
  await forgot(email)
  assert.equal((await readRows()).filter(({ about }) => about === id).length, 1)
})

test('requests for a known and for an unknown address do the same, limited or not', async () => {
  const { email } = await createPerson(world, 'operator')
  mails.answer = (said) => (said.startsWith('MAIL') ? 'hang' : null)
  await forgot(email)
  await until(async () => (await readRows()).some(({ attempts }) => attempts > 0)) // the postman is busy with it
  for (const typed of [email, 'nobody@example.com']) {
    const before = (await readRows()).length
    await forgot(typed)
    assert.equal((await readRows()).length, before + 1, typed)
  }
  mails.answer = () => null
  mails.dropConnections()
})

test('a person who asks for too many links to verify the address is told to look for those', async () => {
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const statuses = []
  for (let i = 0; i < 4; i++) {
    const { status, error } = await visitor.post('/me/email/verification')
    statuses.push(status)
    if (status !== 200) assert.match(error.message, /spam folder/)
    await until(isQuiet)
  }
  assert.deepEqual(statuses, [200, 200, 200, 429])
})
