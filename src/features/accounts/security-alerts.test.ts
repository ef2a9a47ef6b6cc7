// Security mails, with a real mail server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { useMails } from '../../../test/mails.ts'
import {
  keepOut,
  createPerson,
  PASSWORD,
  publisherOfApp,
  setUpSecondFactor,
  visit,
  Visitor,
} from '../../../test/people.ts'
import { PUBLIC_URL, SECRET_KEY } from '../../../test/world.ts'
import { buildWorker } from '../../worker.ts'
import { createResetLink } from './reset-links.ts'
import { giveUpMails } from './mails.ts'

const { world, mails, postman } = useMails('alerts')

const { send } = postman
const subjects = () => mails.got.map(({ to, data }) => [to.join(' '), /^Subject: (.*)$/m.exec(data)?.[1]])
const from = (remoteAddress: string) => ({ remoteAddress })

async function createOwner() {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const person = await createPerson(world, 'publisher_owner', publisherId)
  return { appId, publisherId, person, owner: await new Visitor(world).signIn(person.email) }
}

test('a sign-in from a new network is mailed, one from a known network is not', async () => {
  const { email } = await createPerson(world, 'operator')
  const signInFrom = async (address: string) => {
    const body = { email, password: PASSWORD }
    assert.equal((await new Visitor(world).send('POST', '/session', body, from(address))).status, 200)
    await send()
    const [first] = mails.got.splice(0)
    return first?.to[0] ?? null
  }
  assert.equal(await signInFrom('203.0.113.7'), email)
  assert.equal(await signInFrom('203.0.113.99'), null)
  assert.equal(await signInFrom('::ffff:203.0.113.8'), null)
  assert.equal(await signInFrom('198.51.100.1'), email)
  assert.equal(await signInFrom('2001:db8:1:2::1'), email)
  assert.equal(await signInFrom('2001:db8:1:3::1'), null)
  assert.equal(await signInFrom('203.0.113.7'), null)
})

test('changing a password or second factor, or creating a token, sends an alert', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await send()
  mails.got.length = 0
  await visitor.post('/me/tokens', { name: 'nightly job' })
  await visitor.post('/me/password', { current_password: PASSWORD, new_password: PASSWORD })
  await setUpSecondFactor(visitor)
  await visitor.post('/me/two-factor/disable', { password: PASSWORD })
  const link = await createResetLink(world.database.db, SECRET_KEY, { publicUrl: PUBLIC_URL, personId: id }, new Date())
  await new Visitor(world).post('/password/reset', { token: new URL(link).hash.slice(1), password: PASSWORD })
  await send()
  assert.deepEqual(subjects(), [
    [email, 'An API token was created'],
    [email, 'Your password was changed'],
    [email, 'Two-factor sign-in was enabled'],
    [email, 'Two-factor sign-in was disabled'],
    [email, 'Your password was reset'],
  ])
  const text = await mails.take(email, /API token/)
  assert.match(text, /The API token "nightly job" was created for your account/)
  assert.match(text, new RegExp(`By: ${email}`))
  assert.equal(text.includes('mt_'), false)
  assert.equal(await send(), 0)
})

test('owners are alerted to rotated secrets and a new postback URL, also by an operator; and to no other setting', async () => {
  const { appId, publisherId, person } = await createOwner()
  const second = await createPerson(world, 'publisher_owner', publisherId)
  await keepOut(world, await createPerson(world, 'publisher_owner', publisherId))
  const developer = await visit(world, 'publisher_developer', publisherId)
  const operator = await visit(world, 'operator')
  await world.database.db.deleteFrom('mails').execute()
  const owners = [person.email, second.email]
  const settings = { url: 'https://example.com/?u={user_id}&key=hidden-in-the-address&t={is_test}' }
  await developer.put(`/apps/${appId}/postback`, settings)
  await developer.put(`/apps/${appId}/postback`, { ...settings, timeout_ms: 3000 })
  await operator.post(`/apps/${appId}/credentials/live/rotate`, { grace_hours: 1 })
  await operator.post(`/apps/${appId}/credentials/live/signing-secret/rotate`, { grace_hours: 1 })
  await developer.delete(`/apps/${appId}/postback`)
  await send()
  const expected = ['A postback URL was changed', 'An API secret was rotated', 'A signing secret was rotated', 'A postback URL was removed'] // prettier-ignore
  assert.deepEqual(
    subjects()
      .map((one) => one.join(': '))
      .toSorted(),
    owners.flatMap((owner) => expected.map((subject) => `${owner}: ${subject}`)).toSorted(),
  )
  assert.equal(
    mails.got.some(({ data }) => data.includes('hidden-in-the-address')),
    false,
  )
})

test('a mail that cannot be delivered is retried, and dropped after three days', async () => {
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await world.database.db.deleteFrom('mails').execute()
  await visitor.post('/me/tokens', { name: 'x' })
  mails.answer = (command) => (command.startsWith('RCPT') ? '451 not now' : null)
  const now = Date.now() + 1000
  await assert.rejects(send(new Date(now)))
  mails.answer = () => null
  assert.equal(await send(new Date(now + 29_000)), 0)
  assert.equal(await send(new Date(now + 31_000)), 1)
  await visitor.post('/me/tokens', { name: 'y' })
  const late = new Date(now + 4 * 86_400_000)
  assert.equal(await send(late), 0)
  const { db } = world.database
  assert.deepEqual(await giveUpMails(db, false, late), [], 'without a mail server nothing was promised')
  assert.deepEqual(await db.selectFrom('mails').select('status').execute(), [{ status: 'sent' }])
})

test('a worker sends mails automatically', async () => {
  const { email } = await createPerson(world, 'operator')
  await new Visitor(world).signIn(email)
  const config = { ...world.config, smtpUrl: mails.url }
  const worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  try {
    await until(() => mails.got.some(({ to }) => to.includes(email)))
  } finally {
    await worker.close()
  }
})
