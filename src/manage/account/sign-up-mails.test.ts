// Mails of sign-ups: without a mail server, while it is down, and how many are sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { Visitor } from '../../../test/people.ts'
import { createForm, sendForm, signUpAs, takeLink, useSignUps } from '../../../test/sign-ups.ts'
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY } from '../../../test/world.ts'
import type { Postman } from '../../features/accounts/mails.ts'
import { forgetUnverified } from '../../features/accounts/sign-up/sign-up.ts'
import { permit } from '../../features/apps/permissions.ts'
import { createPostman } from '../../postman.ts'

const { world, mails, operator, settings, readApplications } = useSignUps('sign_up_mails')

const openPostman = () =>
  createPostman({ config: world.config, secretKey: SECRET_KEY, database: world.database }) as Postman

test('sign-up cannot be opened without a mail server', async () => {
  const { app } = world
  const body = await settings({ is_open: true })
  world.app = await world.start({ smtpUrl: null })
  const { status, error } = await operator.put('/sign-up/settings', body)
  await world.app.close()
  world.app = app
  assert.equal(status, 409)
  assert.match(error.message, /no mail server/)
})

test('operators are mailed at once, and at most once an hour however many sign up', async () => {
  await world.database.db.deleteFrom('mails').execute()
  for (let i = 0; i < 3; i++) await signUpAs(world, mails)
  const { rows } = await world.database.pool.query<{ is_due: boolean }>(
    `SELECT due_at <= now() + interval '5 minutes' AS is_due FROM mails WHERE kind = 'applications_waiting' AND created_at > now()
     UNION ALL SELECT bool_or(true) FROM mails WHERE kind = 'applications_waiting' AND created_at <= now()`,
  )
  assert.deepEqual(rows.map(({ is_due }) => is_due), [false, true], 'one in an hour, one now') // prettier-ignore
})

test('while the mail server is down, the link waits in the queue; unverified sign-ups are deleted', async () => {
  mails.answer = () => 'hang up'
  const form = createForm()
  assert.equal((await sendForm(world, form)).status, 200)
  await until(async () => {
    const { rows } = await world.database.pool.query(`SELECT FROM mails WHERE kind = 'sign_up' AND failure IS NOT NULL`)
    return rows.length > 0
  })
  mails.answer = () => null
  const postman = openPostman()
  await postman.send(new Date(Date.now() + 31_000)).catch(() => {})
  await postman.close()
  const token = await takeLink(mails, form.email)
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
  await forgetUnverified(world.database.db, inDays(2))
  assert.equal((await new Visitor(world).post('/sign-up/link', { token })).status, 200)
  await forgetUnverified(world.database.db, inDays(3.1))
  assert.equal((await new Visitor(world).post('/sign-up/link', { token })).status, 404)
  assert.deepEqual((await readApplications()).filter(({ status }) => status === 'unverified'), []) // prettier-ignore
})

test('an approval that could not be mailed is not mailed once the publisher is suspended', async () => {
  const { form, publisherId } = await signUpAs(world, mails)
  mails.answer = () => '451 later'
  assert.equal((await operator.post(`/publishers/${publisherId}/application/approve`)).status, 200)
  const rows = () => world.database.db.selectFrom('mails').select(['recipient', 'failure']).where('kind', '=', 'application_decision').execute() // prettier-ignore
  await until(async () => (await rows()).some(({ recipient, failure }) => recipient === form.email && failure !== null))
  await permit(world.database.db, TESTER, publisherId, { status: 'suspended' })
  mails.answer = () => null
  const postman = openPostman()
  await postman.send(new Date(Date.now() + 600_000))
  await postman.close()
  assert.deepEqual(
    (await rows()).filter(({ recipient }) => recipient === form.email),
    [],
  )
  assert.ok(mails.got.every(({ to, data }) => !to.includes(form.email) || !data.includes('is approved')))
})
