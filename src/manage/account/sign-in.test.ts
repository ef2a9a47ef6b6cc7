import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyRequest } from 'fastify'
import pg from 'pg'
import { until } from '../../../test/installation.ts'
import { keepOut, createPerson, PASSWORD, visit, Visitor } from '../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { SCOPES } from '../../features/accounts/access-tokens.ts'
import { invite, inviteFirstOperator, type NewInvitation } from '../../features/accounts/invitations.ts'
import { createResetLink, queueResetMail, resetWriter } from '../../features/accounts/reset-links.ts'
import { createMemoryLimiter } from '../../http/rate-limit.ts'
import { buildWorker } from '../../worker.ts'
import { createAttemptLimits } from './attempt-limits.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('sign_in')
const inviteNow = (invitation: NewInvitation, now = new Date()) =>
  world.database.db.transaction().execute((trx) => invite(trx, TESTER, SECRET_KEY, invitation, now))
const tokenIn = (url: string) => new URL(url).hash.slice(1)

test('the first operator comes in by the set-up link, once', async () => {
  const { db } = world.database
  const old = (await inviteFirstOperator(db, SECRET_KEY, new Date())) ?? ''
  const token = (await inviteFirstOperator(db, SECRET_KEY, new Date())) ?? '' // the program was started again
  const visitor = new Visitor(world)
  assert.equal((await visitor.post('/invitation', { token: old })).status, 404)
  const seen = await visitor.post<{ role: string }>('/invitation', { token })
  assert.equal(seen.data.role, 'operator')
  const join = { token, name: 'Olga', email: 'Olga@Example.com', password: PASSWORD }
  const short = await visitor.post('/invitation/accept', { ...join, password: 'too short' })
  assert.deepEqual([short.status, short.error.message], [400, 'A password must have 12 to 128 characters.'])
  const twoLines = await visitor.post('/invitation/accept', { ...join, name: 'Olga\nSee https://evil.example' })
  assert.match(twoLines.error.details?.['name'] ?? '', /on one line/)
  assert.equal((await visitor.post('/invitation/accept', join)).status, 200)
  const { data } = await visitor.get<{ email: string; role: string }>('/me')
  assert.deepEqual([data.email, data.role], ['olga@example.com', 'operator'])
  const again = await new Visitor(world).post('/invitation/accept', { ...join, email: 'second@example.com' })
  assert.equal(again.status, 404)
  assert.equal(await inviteFirstOperator(db, SECRET_KEY, new Date()), null)
})

test('the set-up link is void once there is an account', async () => {
  const position = { role: 'operator', publisherId: null, email: null, invitedBy: null } as const
  const { token } = await inviteNow(position) // as if Olga had not come by it
  const join = { token, name: 'Mallory', email: 'mallory@example.com', password: PASSWORD }
  assert.equal((await new Visitor(world).post('/invitation/accept', join)).status, 404)
})

test('spaces around a typed email address do not matter', async () => {
  const { email } = await createPerson(world, 'operator')
  assert.equal((await new Visitor(world).post('/session', { email: ` ${email} `, password: PASSWORD })).status, 200)
})

test('who signs in is known until they sign out', async () => {
  const person = await createPerson(world, 'operator')
  const visitor = new Visitor(world)
  assert.equal((await visitor.get('/me')).status, 401)
  const { cookies } = await visitor.post('/session', { email: person.email.toUpperCase(), password: PASSWORD })
  assert.match(cookies[0] ?? '', /^__Secure-offerdeck\.session_token=.*HttpOnly.*SameSite=Lax/)
  assert.match(cookies[0] ?? '', /Secure/)
  const { data } = await visitor.get<{ email: string; role: string }>('/me')
  assert.deepEqual([data.email, data.role], [person.email, 'operator'])
  await visitor.delete('/session')
  assert.equal((await visitor.get('/me')).status, 401)
})

test('a wrong password, an unknown email address and a disabled person get the same response', async () => {
  const [known, disabled] = [await createPerson(world, 'operator'), await createPerson(world, 'operator')]
  await keepOut(world, disabled)
  const answers = await Promise.all(
    [
      { email: known.email, password: 'not the password' },
      { email: 'nobody@example.com', password: PASSWORD },
      { email: disabled.email, password: PASSWORD },
      { email: 'not an address', password: PASSWORD },
    ].map(async (body) => {
      const { status, error, cookies } = await new Visitor(world).post('/session', body)
      return { status, error, cookies }
    }),
  )
  for (const answer of answers)
    assert.deepEqual(answer, {
      status: 401,
      error: { code: 'NOT_SIGNED_IN', message: 'The email address or the password is wrong.', details: null },
      cookies: [],
    })
  const sessions = await world.database.db.selectFrom('sessions').select('id').where('person_id', '=', disabled.id).execute() // prettier-ignore
  assert.deepEqual(sessions, [])
})

test('the database does not reveal the token of a reset link, emailed or printed', async () => {
  const { db } = world.database
  const { email, id } = await createPerson(world, 'operator')
  await queueResetMail(db, email, new Date())
  const network = { secretKey: SECRET_KEY, publicUrl: world.config.publicUrl }
  const letter = await db.transaction().execute((trx) => resetWriter(network).write(trx, id, new Date()))
  const [mailed = ''] = /https:\S+/.exec(letter?.text ?? '') ?? []
  const printed = await createResetLink(db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId: id }, new Date())
  const rows = await db.selectFrom('verifications').selectAll().where('value', '=', id).execute()
  assert.equal(rows.length, 2)
  const queued = await db.selectFrom('mails').selectAll().where('about', '=', id).execute()
  assert.equal(queued.length, 1)
  assert.equal(JSON.stringify(queued).includes('#'), false, 'a queued mail holds no link')
  for (const link of [mailed, printed]) assert.equal(JSON.stringify(rows).includes(tokenIn(link)), false)
  const reset = (token: string) =>
    new Visitor(world).post('/password/reset', { token, password: 'another good password' })
  for (const { identifier } of rows) assert.equal((await reset(identifier)).status, 400)
  assert.equal((await reset(tokenIn(mailed))).status, 200)
  assert.equal((await reset(tokenIn(printed))).status, 400) // one reset voids all links
})

test('guessing from one IP address is slow, and does not affect sign-ins or reset links of others', async () => {
  const { email } = await createPerson(world, 'operator')
  const guesser = new Visitor(world)
  const statuses = []
  for (let i = 0; i < 12; i++)
    statuses.push((await guesser.post('/session', { email, password: 'guess guess guess' })).status)
  assert.deepEqual([statuses.at(0), statuses.at(-1)], [401, 429])
  assert.equal((await new Visitor(world).post('/session', { email, password: PASSWORD })).status, 200)
  assert.equal((await new Visitor(world).post('/password/forgot', { email })).status, 200)
})

test('guessing at one account from many IP addresses is slow, too', async () => {
  const attempts = createAttemptLimits(createMemoryLimiter())
  const tryFrom = (ip: string) => attempts.count({ ip } as FastifyRequest, 'sign-in', ' Ann@example.com')
  for (let i = 0; i < 100; i++) await tryFrom(`203.0.113.${i}`)
  await assert.rejects(tryFrom('203.0.113.200'), { code: 'RATE_LIMIT_EXCEEDED' })
})

test('a session lasts while it is used, in the browser too, but no longer than a month', async () => {
  const { db } = world.database
  const { email, id } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  assert.deepEqual((await visitor.get('/me')).cookies, [])
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
  const set = (times: { expires_at?: Date; created_at?: Date }) =>
    db.updateTable('sessions').set(times).where('person_id', '=', id).execute()
  await set({ expires_at: inDays(5) }) // used last two days ago
  const { status, cookies } = await visitor.get('/me')
  assert.equal(status, 200)
  assert.match(cookies[0] ?? '', /session_token=.*Max-Age=604800/)
  await set({ created_at: inDays(-31) })
  assert.equal((await visitor.get('/me')).status, 401)
})

test('a session that is ended elsewhere is over at once', async () => {
  const { email } = await createPerson(world, 'operator')
  const [here, there] = [await new Visitor(world).signIn(email), await new Visitor(world).signIn(email)]
  const { data } = await here.get<{ sessions: { id: string; is_current: boolean }[] }>('/me/sessions')
  assert.equal(data.sessions.length, 2)
  const other = data.sessions.find((session) => !session.is_current)
  assert.equal((await here.delete(`/me/sessions/${other?.id}`)).status, 200)
  assert.equal((await there.get('/me')).status, 401)
  assert.equal((await here.get('/me')).status, 200)
})

test('no one can end another person’s session', async () => {
  const [ann, bob] = [await visit(world, 'operator'), await visit(world, 'operator')]
  const { data } = await ann.get<{ sessions: { id: string }[] }>('/me/sessions')
  assert.equal((await bob.delete(`/me/sessions/${data.sessions[0]?.id}`)).status, 404)
  assert.equal((await ann.get('/me')).status, 200)
})

test('a request that changes something must come from our own pages', async () => {
  const visitor = await visit(world, 'operator')
  for (const origin of ['https://evil.test', 'null', 'https://offers.test.evil.test', '']) {
    const { status, error } = await visitor.send('POST', '/me/tokens', { name: 'x' }, { headers: { origin } })
    assert.deepEqual([status, error.code], [403, 'NOT_ALLOWED'], origin)
  }
  assert.equal((await visitor.send('GET', '/me', undefined, { headers: { origin: 'https://evil.test' } })).status, 200)
})

test('an invitation is taken by one of many who come at once', async () => {
  const { token } = await inviteNow({ role: 'operator_reader', publisherId: null, email: 'race@example.com', invitedBy: null }) // prettier-ignore
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      new Visitor(world).post('/invitation/accept', { token, name: 'R', password: PASSWORD }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 404, 404, 404, 404],
  )
})

test('an expired invitation says so', async () => {
  const weekAgo = new Date(Date.now() - 8 * 86_400_000)
  const { token } = await inviteNow(
    { role: 'operator', publisherId: null, email: 'late@example.com', invitedBy: null },
    weekAgo,
  )
  const { status, error } = await new Visitor(world).post('/invitation', { token })
  assert.equal(status, 404)
  assert.match(error.message, /has expired/)
})

test('a reset link sets a new password once, and ends every session', async () => {
  const { email, id } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const token = tokenIn(
    await createResetLink(
      world.database.db,
      SECRET_KEY,
      { publicUrl: world.config.publicUrl, personId: id },
      new Date(),
    ),
  )
  const reset = (password: string) => new Visitor(world).post('/password/reset', { token, password })
  assert.match((await reset('short')).error.message, /12 to 128 characters/)
  assert.equal((await reset('another good password')).status, 200)
  assert.equal((await visitor.get('/me')).status, 401)
  assert.equal((await reset('a third good password')).status, 400)
  await new Visitor(world).signIn(email, 'another good password')
})

test('who asks for a reset link learns nothing about who has an account', async () => {
  const { email } = await createPerson(world, 'operator')
  const ask = (address: string) => new Visitor(world).send('POST', '/password/forgot', { email: address })
  assert.deepEqual((await ask(email)).data, (await ask('nobody@example.com')).data)
})

test('a token works until it is revoked, needs no Origin, and creates no way in that would outlive it', async () => {
  const visitor = await visit(world, 'operator')
  const { data } = await visitor.post<{ token: string; token_id: number }>('/me/tokens', { name: 'nightly job', scopes: [...SCOPES] }) // prettier-ignore
  const program = new Visitor(world)
  program.token = data.token
  assert.equal((await program.get('/me')).status, 200)
  assert.equal((await program.post('/publishers', { name: 'By a program' })).status, 200)
  const invitation = { email: 'x@example.com', role: 'operator_reader' }
  assert.equal((await program.post('/operators/invitations', invitation)).status, 403)
  assert.equal((await program.post('/me/tokens', { name: 'more' })).status, 403)
  const mixed = await visitor.send('POST', '/me/password', { current_password: PASSWORD, new_password: 'x'.repeat(12) }, { headers: { authorization: `Bearer ${data.token}` } }) // prettier-ignore
  assert.equal(mixed.status, 403) // also with a session's cookie beside it
  assert.equal((await visitor.delete(`/me/tokens/${data.token_id}`)).status, 200)
  assert.equal((await program.get('/me')).status, 401)
  program.token = `${data.token}x`
  assert.equal((await program.get('/me')).status, 401)
})

test('signing in does not scan the catalogue, whose old partitions may just be dropped', async (t) => {
  const { email } = await createPerson(world, 'operator')
  const asked = t.mock.method(pg.Client.prototype, 'query')
  const app = await world.start()
  const answer = await app.server.inject({
    method: 'POST',
    url: '/manage/v1/session',
    headers: { origin: world.config.publicUrl },
    payload: { email, password: PASSWORD },
  })
  await app.close()
  assert.equal(answer.statusCode, 200)
  const texts = asked.mock.calls.map(({ arguments: [query] }) => JSON.stringify(query))
  assert.ok(texts.length > 0)
  assert.deepEqual(texts.filter((text) => text.includes('pg_get_serial_sequence')), []) // prettier-ignore
})

test('the worker deletes expired sessions and unused links', async () => {
  const { db } = world.database
  const { email, id } = await createPerson(world, 'operator')
  const [old, present] = [await new Visitor(world).signIn(email), await new Visitor(world).signIn(email)]
  const [oldest] = await db
    .selectFrom('sessions')
    .select('id')
    .where('person_id', '=', id)
    .orderBy('created_at')
    .execute()
  await db.updateTable('sessions').set({ expires_at: new Date(Date.now() - 1_000) }).where('id', '=', oldest?.id ?? '').execute() // prettier-ignore
  await createResetLink(db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId: id }, new Date('2026-01-01'))
  const rowsLeft = async () => [
    (await db.selectFrom('sessions').select('id').where('person_id', '=', id).execute()).length,
    (await db.selectFrom('verifications').select('id').where('value', '=', id).execute()).length,
  ]
  assert.deepEqual(await rowsLeft(), [2, 1])
  const worker = await buildWorker({ config: world.config, secretKey: SECRET_KEY, database: world.database, log: world.log }) // prettier-ignore
  try {
    await until(async () => isDeepStrictEqual(await rowsLeft(), [1, 0]))
  } finally {
    await worker.close()
  }
  assert.deepEqual([(await old.get('/me')).status, (await present.get('/me')).status], [401, 200])
})
