// What a token may do, from where, and when it ends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepOut, createPerson, createToken, PASSWORD, publisherOfApp, visit, Visitor } from '../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { listAuditEntries } from '../../features/accounts/audit.ts'
import { createResetLink } from '../../features/accounts/reset-links.ts'
import { changePerson } from '../../features/accounts/team.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('tokens')
const DAY_MS = 86_400_000

type Issued = { token: string; token_id: number; scopes: string[]; allowed_ips: string[]; expires_at: string }

test('without wishes a token may only read, for 90 days; a year is the most', async () => {
  const visitor = await visit(world, 'operator')
  const { data } = await visitor.post<Issued>('/me/tokens', { name: 'job' })
  assert.deepEqual([data.scopes, data.allowed_ips], [['read'], []])
  assert.equal(Math.round((Date.parse(data.expires_at) - Date.now()) / DAY_MS), 90)
  for (const body of [
    { name: 'x', expires_in_days: 366 },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['everything'] },
    { name: 'x', allowed_ips: ['nowhere'] },
    { name: 'x', allowed_ips: ['10.0.0.0/99'] },
    { name: 'x', allowed_ips: ['10.0.0.1 # all'] },
    { name: 'x', allowed_ips: ['#'] },
  ])
    assert.equal((await visitor.post('/me/tokens', body)).status, 400, JSON.stringify(body))
})

test('a token is valid from its IP allowlist alone, and the response says so', async () => {
  const { id } = await createPerson(world, 'operator')
  const program = await createToken(world, id, ['read'], ['203.0.113.0/24', '2001:db8::/32'])
  const from = (remoteAddress: string) => program.send('GET', '/me', undefined, { remoteAddress })
  assert.equal((await from('203.0.113.77')).status, 200)
  assert.equal((await from('2001:db8::1')).status, 200)
  assert.equal((await from('::ffff:203.0.113.77')).status, 200)
  const elsewhere = await from('198.51.100.1')
  assert.deepEqual([elsewhere.status, elsewhere.error.code], [403, 'NOT_ALLOWED'])
  assert.match(elsewhere.error.message, /cannot be used from 198\.51\.100\.1/)
})

test('the audit log names the token of a change', async () => {
  const { id } = await createPerson(world, 'operator')
  const program = await createToken(world, id, ['publishers'])
  const { data } = await program.post<{ publisher_id: number }>('/publishers', { name: 'By a program' })
  const [entry] = await listAuditEntries(world.database.db, { action: 'publisher.create', subject: String(data.publisher_id) }, 1) // prettier-ignore
  assert.match(entry?.via ?? '', /^token \d+: Job \d+$/)
  const reader = await visit(world, 'operator_reader')
  const { data: log } = await reader.get<{ entries: { via: string }[] }>(`/audit?subject=${data.publisher_id}&action=publisher.create`) // prettier-ignore
  assert.equal(log.entries[0]?.via, entry?.via)
})

test('a reset ends every token, a change only if asked, and both say how many', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const program = await createToken(world, id, ['read'])
  const change = (more: object) =>
    visitor.post('/me/password', { current_password: PASSWORD, new_password: PASSWORD, ...more })
  assert.deepEqual((await change({})).data, { tokens_ended: 0 })
  assert.equal((await program.get('/me')).status, 200)
  assert.deepEqual((await change({ end_tokens: true })).data, { tokens_ended: 1 })
  assert.equal((await program.get('/me')).status, 401)

  const programs = [await createToken(world, id, ['read']), await createToken(world, id, ['read'])]
  const link = await createResetLink(world.database.db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId: id }, new Date()) // prettier-ignore
  const reset = await new Visitor(world).post('/password/reset', { token: new URL(link).hash.slice(1), password: 'another good password' }) // prettier-ignore
  assert.deepEqual([reset.status, reset.data], [200, { tokens_ended: 2 }])
  for (const one of programs) assert.equal((await one.get('/me')).status, 401)
  const [entry] = await listAuditEntries(world.database.db, { action: 'password.reset', subject: id }, 1)
  assert.deepEqual(entry?.details, { tokens_ended: 2 })
})

test('a disabled person loses their tokens for good: enabling brings none back', async () => {
  const person = await createPerson(world, 'operator')
  const program = await createToken(world, person.id, ['read'])
  await keepOut(world, person)
  assert.equal((await program.get('/me')).status, 401)
  const place = { personId: person.id, publisherId: null, byOperator: true }
  await world.database.db
    .transaction()
    .execute((trx) => changePerson(trx, TESTER, place, { disabled: false }, new Date()))
  assert.equal((await program.get('/me')).status, 401)
  const visitor = await new Visitor(world).signIn(person.email)
  assert.deepEqual((await visitor.get<{ tokens: unknown[] }>('/me/tokens')).data.tokens, [])
})

test('no token is created for a person who is disabled at that very moment', async () => {
  for (let round = 0; round < 5; round++) {
    const person = await createPerson(world, 'operator')
    const visitor = await new Visitor(world).signIn(person.email)
    const [made] = await Promise.all([
      visitor.post<Issued>('/me/tokens', { name: 'late' }),
      keepOut(world, person),
      visitor.post<Issued>('/me/tokens', { name: 'later' }),
    ])
    const { live } = await world.database.db
      .selectFrom('access_tokens')
      .select((is) => is.fn.countAll<number>().as('live'))
      .where('person_id', '=', person.id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow()
    assert.equal(live, 0, `round ${round}: ${made.status}`)
  }
})

test('a token follows its person: a new role holds at once', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const person = await createPerson(world, 'publisher_developer', publisherId)
  const program = await createToken(world, person.id, ['apps', 'read'])
  const rename = () => program.patch(`/apps/${appId}`, { name: 'Renamed' })
  assert.equal((await rename()).status, 200)
  const place = { personId: person.id, publisherId, byOperator: true }
  await world.database.db
    .transaction()
    .execute((trx) => changePerson(trx, TESTER, place, { role: 'publisher_viewer' }, new Date()))
  assert.equal((await rename()).status, 403)
  assert.equal((await program.get(`/apps/${appId}`)).status, 200)
})
