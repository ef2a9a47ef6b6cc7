// The queue of mails, with a real mail server that hangs, refuses, drops and dies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { useMails } from '../../../test/mails.ts'
import { createPerson, PASSWORD, publisherOfApp, visit, Visitor } from '../../../test/people.ts'
import { PUBLIC_URL } from '../../../test/world.ts'
import { createMailer } from '../../lib/mail.ts'
import { forgetOldMails, giveUpMails, queueMail } from './mails.ts'

const { world, mails, postman, openPostman, readRows } = useMails('mails')

const SECOND = 1_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

const inMs = (ms: number) => new Date(Date.now() + ms)
const statuses = async () => (await readRows()).map(({ status }) => status)

/** Queues the mail of a security alert; returns its recipient. */
async function alert(): Promise<string> {
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await world.database.db.deleteFrom('mails').execute()
  await visitor.post('/me/tokens', { name: 'x' })
  return email
}

/** Transactions in this database in which nothing happens just now. */
async function findIdleTransactions(): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ id: string }>(
    `SELECT pid || ' ' || xact_start AS id FROM pg_stat_activity
     WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
  )
  return rows.map(({ id }) => id)
}

/** The API's own work is between two statements for a moment, or was there before. What waits for a mail server stays. */
async function hasNoOpenTransaction(before: readonly string[]): Promise<void> {
  const seen = (await findIdleTransactions()).filter((id) => !before.includes(id))
  await until(async () => !(await findIdleTransactions()).some((id) => seen.includes(id)), 10_000)
}

for (const [where, command] of [
  ['before it greets', 'EHLO'],
  ['after the recipient', 'DATA'],
  ['after the whole mail', 'END'],
] as const)
  test(`while a mail server hangs ${where}, no transaction is open, and the mail is sent once it works again`, async () => {
    const email = await alert()
    const { appId } = await world.createApp()
    const publisherId = await publisherOfApp(world, appId)
    const { db } = world.database
    await db.updateTable('publishers').set({ email: 'p@example.com' }).where('publisher_id', '=', publisherId).execute()
    await db.insertInto('notices').values({ app_id: appId, kind: 'postbacks_paused', message: 'Paused.' }).execute()
    let hanging = 0
    mails.answer = (said) => (said.startsWith(command) ? (hanging++, 'hang') : null)
    const before = await findIdleTransactions()
    const attempt = postman.send()
    await until(() => hanging > 0)
    await hasNoOpenTransaction(before)
    mails.answer = () => null
    mails.dropConnections()
    await assert.rejects(attempt)
    await postman.send(inMs(31 * SECOND))
    assert.deepEqual(mails.got.map(({ to }) => to.join()).toSorted(), [email, 'p@example.com'].toSorted())
    assert.deepEqual(await statuses(), ['sent', 'sent'])
  })

test('an attempt ends after its time, whatever the mail server does', async () => {
  const mailer = createMailer(mails.url, 'offers@example.com', 200)
  mails.answer = (said) => (said.startsWith('MAIL') ? 'hang' : null)
  await assert.rejects(mailer.send({ to: 'a@example.com', subject: 's', text: 't' }), { code: 'ETIMEDOUT' })
})

test('a mail server that refuses for a while gets every mail once, later each time', async () => {
  const email = await alert()
  let refusals = 0
  mails.answer = (said) => (said.startsWith('MAIL') ? (refusals++, '451 not now') : null)
  let now = Date.now() + SECOND
  for (const waitMs of [30, 60, 120, 240].map((s) => s * SECOND)) {
    await assert.rejects(postman.send(new Date(now)), /451/)
    assert.equal(await postman.send(new Date(now + waitMs - SECOND)), 0)
    now += waitMs
  }
  assert.equal(refusals, 4)
  assert.equal((await readRows())[0]?.failure, '451 MAIL FROM')
  mails.answer = () => null
  assert.equal(await postman.send(new Date(now)), 1)
  assert.equal(await postman.send(new Date(now + DAY)), 0)
  assert.deepEqual(mails.got.map(({ to }) => to), [[email]]) // prettier-ignore
})

test('a mail that the server may have taken is sent again rather than lost', async () => {
  await alert()
  mails.answer = (said) => (said === 'END' ? 'hang up' : null)
  await assert.rejects(postman.send(inMs(SECOND)))
  assert.deepEqual(await statuses(), ['queued'])
  mails.answer = () => null
  assert.equal(await postman.send(inMs(32 * SECOND)), 1)
})

test('a server that is gone costs one attempt, not one for each mail that waits', async () => {
  for (let i = 0; i < 3; i++)
    await world.database.db
      .insertInto('mails')
      .values({ kind: 'email_verification', about: (await createPerson(world, 'operator')).id, expires_at: inMs(DAY) })
      .execute()
  mails.answer = () => 'hang up'
  await assert.rejects(postman.send(inMs(SECOND)))
  assert.deepEqual(
    (await readRows()).map(({ attempts }) => attempts).toSorted((a, b) => a - b),
    [0, 0, 1],
  )
  mails.answer = () => null
  assert.equal(await postman.send(inMs(32 * SECOND)), 3)
})

test('one mail that is refused keeps no other waiting, and one recipient none of the others', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const [ann, bob] = [await createPerson(world, 'publisher_owner', publisherId), await createPerson(world, 'publisher_owner', publisherId)] // prettier-ignore
  const operator = await visit(world, 'operator')
  await world.database.db.deleteFrom('mails').execute()
  await operator.post(`/apps/${appId}/credentials/live/rotate`, { grace_hours: 1 })
  mails.answer = (said) => (said.includes(ann.email) ? '451 greylisted' : null)
  await assert.rejects(postman.send(inMs(SECOND)), /451/)
  assert.deepEqual(mails.got.map(({ to }) => to), [[bob.email]]) // prettier-ignore
  mails.answer = (said) => (said.includes(ann.email) ? '550 no such mailbox' : null)
  await assert.rejects(postman.send(inMs(32 * SECOND)), /550/)
  assert.deepEqual((await readRows()).map(({ recipient, status, failure }) => [recipient, status, failure]), [[ann.email, 'failed', '550 RCPT TO'], [bob.email, 'sent', null]]) // prettier-ignore
})

test('two workers send each mail once', async () => {
  const people = await Promise.all(Array.from({ length: 12 }, () => createPerson(world, 'operator')))
  for (const { id } of people)
    await world.database.db
      .insertInto('mails')
      .values({ kind: 'email_verification', about: id, expires_at: inMs(DAY) })
      .execute()
  const other = openPostman()
  const counts = await Promise.all([postman.send(), other.send()])
  await other.close()
  assert.equal(counts[0] + counts[1], 12)
  assert.deepEqual(mails.got.map(({ to }) => to.join()).toSorted(), people.map(({ email }) => email).toSorted())
})

test('a mail is sent by the run that its queueing asked for, also within one millisecond', async () => {
  const { id } = await createPerson(world, 'operator')
  for (let i = 0; i < 50; i++) {
    await queueMail(world.database.db, { kind: 'email_verification', about: id, expiresAt: inMs(DAY) })
    assert.equal(await postman.send(), 1)
  }
})

test('a worker that lost its lease says nothing about the attempt of another', async () => {
  const email = await alert()
  let isHanging = false
  mails.answer = (said) => (said === 'END' && !isHanging ? ((isHanging = true), 'hang') : null)
  const slow = openPostman()
  const attempt = slow.send()
  await until(() => isHanging)
  assert.equal(await postman.send(inMs(31 * SECOND)), 1)
  mails.dropConnections()
  await assert.rejects(attempt)
  await slow.close()
  assert.deepEqual(mails.got.map(({ to }) => to), [[email]]) // prettier-ignore
  assert.deepEqual(await statuses(), ['sent'])
})

test('what expired is not sent any more, said, shown to operators, and forgotten in time', async () => {
  const { db } = world.database
  const email = await alert()
  mails.answer = () => '451 not now'
  await assert.rejects(postman.send(inMs(SECOND)))
  mails.answer = () => null
  const late = inMs(4 * DAY)
  assert.equal(await postman.send(late), 0)
  assert.deepEqual(await giveUpMails(db, true, late), [`Gave up mailing ${email} (security_alert) after 1 attempts: 451 HELO`]) // prettier-ignore
  assert.deepEqual(await giveUpMails(db, true, late), [])
  assert.deepEqual(await statuses(), ['failed'])
  type Shown = {
    queues: { mails_queued: number }
    failed_mails: { kind: string; recipient: string; failure: string }[]
  }
  const reader = await visit(world, 'operator_reader')
  const { data } = await reader.get<Shown>('/system')
  assert.equal(data.queues.mails_queued, 1, 'the sign-in of the reader')
  assert.deepEqual(data.failed_mails.map(({ kind, recipient, failure }) => [kind, recipient, failure]), [['security_alert', email, '451 HELO']]) // prettier-ignore
  await forgetOldMails(db, 90, inMs(91 * DAY))
  assert.deepEqual(await statuses(), ['queued'])
})

test('reset and verification mails survive a mail server that fails at first; neither queue nor link is in the database', async () => {
  await world.app.close()
  world.config = { ...world.config, smtpUrl: mails.url }
  world.app = await world.start()
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await world.database.db.deleteFrom('mails').execute()
  mails.answer = () => 'hang up'
  assert.equal((await visitor.post('/me/email/verification')).status, 200)
  assert.equal((await new Visitor(world).post('/password/forgot', { email: email.toUpperCase() })).status, 200)
  assert.equal((await new Visitor(world).post('/password/forgot', { email: 'nobody@example.com' })).status, 200)
  assert.equal((await readRows()).length, 3, 'the same work whether or not there is such an account')
  await until(async () => (await readRows()).some(({ failure }) => failure !== null))
  mails.answer = () => null
  for (const wait of [31, 62]) await postman.send(inMs(wait * SECOND)) // the server was unreachable in one attempt
  const reset = await mails.take(email, /password/)
  const verify = await mails.take(email, /Verify/)
  assert.equal(mails.got.length, 0)
  const token = (text: string) => new URL(/https:\S+/.exec(text)?.[0] ?? '').hash.slice(1)
  const stored = JSON.stringify([
    await readRows(),
    await world.database.db.selectFrom('verifications').selectAll().execute(),
  ])
  for (const text of [reset, verify]) assert.equal(stored.includes(token(text)), false)
  assert.ok(reset.includes(`${PUBLIC_URL}/reset-password#`))
  assert.equal((await new Visitor(world).post('/email/verify', { token: token(verify) })).status, 200)
  assert.equal((await new Visitor(world).post('/password/reset', { token: token(reset), password: PASSWORD })).status, 200) // prettier-ignore
  assert.deepEqual(await statuses(), ['sent', 'sent', 'queued'])
})
