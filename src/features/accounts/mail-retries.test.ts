// What became of a mail's recipient between two attempts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { useMails } from '../../../test/mails.ts'
import { createPerson, keepOut, PASSWORD, publisherOfApp, visit, Visitor } from '../../../test/people.ts'
import { queueMail } from './mails.ts'

const { world, mails, postman, readRows } = useMails('mail_retries')

const SECOND = 1_000
const HOUR = 3_600_000
const inMs = (ms: number) => new Date(Date.now() + ms)

test('a retry goes only to who should still get the mail: not to a disabled or removed person', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const [ann, bob, cy] = [await createPerson(world, 'publisher_owner', publisherId), await createPerson(world, 'publisher_owner', publisherId), await createPerson(world, 'publisher_owner', publisherId)] // prettier-ignore
  const operator = await visit(world, 'operator')
  await db.deleteFrom('mails').execute()
  await operator.post(`/apps/${appId}/credentials/live/rotate`, { grace_hours: 1 })
  for (const kind of ['password_reset', 'email_verification'] as const)
    await queueMail(db, { kind, about: ann.id, expiresAt: inMs(HOUR) })
  mails.answer = (said) => (said.startsWith('MAIL') ? '451 not now' : null)
  await assert.rejects(postman.send(inMs(SECOND)), /451/)
  assert.deepEqual((await readRows()).map(({ attempts }) => attempts), [1, 1, 1, 1, 1]) // prettier-ignore
  await keepOut(world, ann)
  await db.updateTable('people').set({ role: 'publisher_viewer' }).where('id', '=', bob.id).execute()
  mails.answer = () => null
  await postman.send(inMs(32 * SECOND))
  assert.deepEqual(mails.got.map(({ to }) => to), [[cy.email]]) // prettier-ignore
  assert.deepEqual((await readRows()).map(({ status }) => status), ['sent']) // prettier-ignore
})

test('a new password ends the reset mails that wait, as it ends links', async () => {
  const { db } = world.database
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await db.deleteFrom('mails').execute()
  await queueMail(db, { kind: 'password_reset', about: id, expiresAt: inMs(HOUR) })
  mails.answer = (said) => (said.startsWith('MAIL') ? '451 not now' : null)
  await assert.rejects(postman.send(inMs(SECOND)), /451/)
  const change = { current_password: PASSWORD, new_password: 'a brand new password' }
  assert.equal((await visitor.post('/me/password', change)).status, 200)
  mails.answer = () => null
  await postman.send(inMs(32 * SECOND))
  assert.deepEqual((await readRows()).map(({ kind, status }) => [kind, status]), [['security_alert', 'sent']]) // prettier-ignore
  assert.deepEqual(await db.selectFrom('verifications').select('value').where('value', '=', id).execute(), [])
})

test('a new password also ends the link of a mail that is being written at that moment', async () => {
  const { db, pool } = world.database
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await db.deleteFrom('mails').execute()
  await queueMail(db, { kind: 'password_reset', about: id, expiresAt: inMs(HOUR) })
  const writer = await pool.connect()
  try {
    // As a claim does: the mail is locked until its link is stored.
    await writer.query(`BEGIN; SELECT FROM mails WHERE kind = 'password_reset' FOR UPDATE`)
    await writer.query(`INSERT INTO verifications (identifier, value, expires_at) VALUES ('a-link', $1, now() + interval '1 hour')`, [id]) // prettier-ignore
    const change = { current_password: PASSWORD, new_password: 'a brand new password' }
    const changed = visitor.post('/me/password', change)
    await until(async () => {
      const { rowCount } = await pool.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) // prettier-ignore
      return (rowCount ?? 0) > 0
    })
    await writer.query('COMMIT')
    assert.equal((await changed).status, 200)
  } finally {
    writer.release(true)
  }
  assert.deepEqual(await db.selectFrom('verifications').select('value').where('value', '=', id).execute(), [])
})

test('a notice that is retried follows the publisher to its new address', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const moveTo = (email: string) =>
    db.updateTable('publishers').set({ email }).where('publisher_id', '=', publisherId).execute()
  await moveTo('old@example.com')
  await db.insertInto('notices').values({ app_id: appId, kind: 'postbacks_paused', message: 'Paused.' }).execute()
  mails.answer = (said) => (said.startsWith('MAIL') ? '451 not now' : null)
  await assert.rejects(postman.send(inMs(SECOND)), /451/)
  await moveTo('new@example.com')
  mails.answer = () => null
  assert.equal(await postman.send(inMs(32 * SECOND)), 1)
  assert.deepEqual(mails.got.map(({ to }) => to), [['new@example.com']]) // prettier-ignore
})
