// Codes that are good once, sessions that end, and a network that requires a second factor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, createToken, PASSWORD, setUpSecondFactor, totp, visit, Visitor } from '../../../test/people.ts'
import { readPaths } from '../../../test/operations.ts'
import { useWorld } from '../../../test/world.ts'
import { listAuditEntries } from '../../features/accounts/audit.ts'
import type { Role } from '../../features/accounts/people.ts'

const world = useWorld('second_factor')

async function withSecondFactor(role: Role = 'operator') {
  const { id, email } = await createPerson(world, role)
  const visitor = await new Visitor(world).signIn(email)
  return { id, email, visitor, ...(await setUpSecondFactor(visitor)) }
}

/** The password was right; a code is to follow. */
async function half(email: string): Promise<Visitor> {
  const visitor = new Visitor(world)
  await visitor.post('/session', { email, password: PASSWORD })
  return visitor
}

test('of many who come with the same code at once, to two processes, one gets in', async () => {
  const { email, secret, backupCodes } = await withSecondFactor()
  const [mine, other] = [world.app, await world.start()]
  try {
    for (const code of [totp(secret, Date.now() + 30_000), backupCodes[0] ?? '']) {
      const visitors = await Promise.all(Array.from({ length: 6 }, () => half(email)))
      const answers = await Promise.all(
        visitors.map((visitor, i) => {
          world.app = i % 2 === 0 ? mine : other
          return visitor.post('/session/two-factor', { code })
        }),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 1, code)
    }
  } finally {
    world.app = mine
    await other.close()
  }
})

test('a code is not good again, nor one before it, also for another purpose', async () => {
  const { id, email, secret, usedCode, visitor } = await withSecondFactor()
  const next = totp(secret, Date.now() + 30_000)
  assert.equal((await (await half(email)).post('/session/two-factor', { code: usedCode })).status, 401)
  assert.equal((await visitor.post('/session/proof', { code: next })).status, 200)
  assert.equal((await (await half(email)).post('/session/two-factor', { code: next })).status, 401)
  const before = totp(secret, Date.now() - 30_000)
  assert.equal((await (await half(email)).post('/session/two-factor', { code: before })).status, 401)
  await world.database.db.updateTable('two_factors').set({ last_step: null }).where('person_id', '=', id).execute()
  assert.equal((await (await half(email)).post('/session/two-factor', { code: next })).status, 200)
})

test('two challenges in one request do not get a used code past: the one that is judged is the one that is let in', async () => {
  const [victim, own] = [await withSecondFactor(), await withSecondFactor()]
  const code = totp(victim.secret, Date.now() + 30_000)
  assert.equal((await (await half(victim.email)).post('/session/two-factor', { code })).status, 200)
  const cookieOf = async (email: string) =>
    (await new Visitor(world).post('/session', { email, password: PASSWORD })).cookies
      .find((cookie) => /two_factor=[^;]/.test(cookie))
      ?.split(';')[0] ?? ''
  const [theirs, ours] = [await cookieOf(victim.email), await cookieOf(own.email)]
  for (const cookie of [`${ours}; ${theirs}`, `${theirs}; ${ours}`, `${ours};${theirs}`]) {
    const { status } = await new Visitor(world).send('POST', '/session/two-factor', { code }, { headers: { cookie } })
    assert.equal(status, 401)
  }
})

test('enabling the second factor ends the other sessions, and disabling it, too; this one goes on', async () => {
  const { email, id } = await createPerson(world, 'operator')
  const [here, there] = [await new Visitor(world).signIn(email), await new Visitor(world).signIn(email)]
  await setUpSecondFactor(here)
  assert.deepEqual([(await here.get('/me')).status, (await there.get('/me')).status], [200, 401])
  const sessions = await world.database.db.selectFrom('sessions').select('id').where('person_id', '=', id).execute()
  assert.equal(sessions.length, 1)
  assert.equal((await here.post('/me/two-factor', { password: PASSWORD })).status, 409)
  assert.equal((await here.post('/me/two-factor/disable', { password: PASSWORD })).status, 200)
  assert.equal((await here.post('/me/two-factor/disable', { password: PASSWORD })).status, 409)
  assert.equal((await here.get('/me')).status, 200)
})

test('a setup that was never confirmed is no second factor that could be turned off', async () => {
  const { email, id } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const there = await new Visitor(world).signIn(email)
  const { data } = await visitor.post<{ uri: string }>('/me/two-factor', { password: PASSWORD })
  const { status, error } = await visitor.post('/me/two-factor/disable', { password: PASSWORD })
  assert.deepEqual([status, error?.message], [409, 'Two-factor sign-in is already off.'])
  assert.deepEqual(await listAuditEntries(world.database.db, { subject: id, action: 'two_factor.' }, 10), [])
  assert.equal((await there.get('/me')).status, 200)
  const code = totp(new URL(data.uri).searchParams.get('secret') ?? '')
  assert.equal((await visitor.post('/me/two-factor/confirm', { code })).status, 200) // it goes on
})

test('a session that was opened while the second factor was turned on does not stay', async () => {
  const { email } = await createPerson(world, 'operator')
  const here = await new Visitor(world).signIn(email)
  const { data } = await here.post<{ uri: string }>('/me/two-factor', { password: PASSWORD })
  const code = totp(new URL(data.uri).searchParams.get('secret') ?? '')
  const late = Array.from({ length: 4 }, () => new Visitor(world))
  await Promise.all([
    here.post('/me/two-factor/confirm', { code }),
    ...late.map((visitor) => visitor.post('/session', { email, password: PASSWORD })),
  ])
  for (const visitor of late) assert.equal((await visitor.get('/me')).status, 401)
  assert.equal((await here.get('/me')).status, 200)
  const next = await new Visitor(world).post<{ two_factor: boolean }>('/session', { email, password: PASSWORD })
  assert.equal(next.data.two_factor, true)
})

test('where it is required, an operator without one reaches its setup and nothing else, by token neither', async () => {
  const { email, id } = await createPerson(world, 'operator')
  const { appId } = await world.createApp()
  const program = await createToken(world, id, ['read'])
  const mine = world.app
  world.app = await world.start({ require2fa: true })
  try {
    const visitor = await new Visitor(world).signIn(email)
    const { data } = await visitor.get<{ must_set_up_two_factor: boolean }>('/me')
    assert.equal(data.must_set_up_two_factor, true)
    const paths = readPaths(world)
    const open: string[] = []
    for (const [path, methods] of Object.entries(paths).filter(([one]) => one.startsWith('/manage/v1')))
      for (const [method, operation] of Object.entries(methods)) {
        if (operation['x-access'] === 'anyone') continue
        if (operation['x-set-up']) {
          open.push(`${method} ${path}`)
          continue
        }
        const filled = path.slice('/manage/v1'.length).replaceAll(/\{\w+\}/g, String(appId))
        const { status, error } = await visitor.send(method.toUpperCase(), filled, method === 'get' ? undefined : {})
        assert.deepEqual([status, error.code], [403, 'SECOND_FACTOR_REQUIRED'], `${method} ${path}`)
      }
    assert.deepEqual(open.toSorted(), ['get /manage/v1/me', 'post /manage/v1/me/two-factor', 'post /manage/v1/me/two-factor/confirm']) // prettier-ignore
    assert.equal((await program.get('/publishers')).error.code, 'SECOND_FACTOR_REQUIRED')
    await setUpSecondFactor(visitor)
    assert.equal((await visitor.get('/publishers')).status, 200)
    assert.equal((await program.get('/publishers')).status, 200)
    const off = await visitor.post('/me/two-factor/disable', { password: PASSWORD })
    assert.deepEqual([off.status, off.error.code], [409, 'CONFLICT'])
  } finally {
    await world.app.close()
    world.app = mine
  }
})

test('wrong passwords and codes are in the audit log, bounded however many there are', async () => {
  const { email, id } = await withSecondFactor()
  const guess = (address: string, password: string) => new Visitor(world).post('/session', { email: address, password })
  for (let i = 0; i < 25; i++) await guess(email, `guess number ${i}`)
  for (let i = 0; i < 25; i++) await guess(`nobody-${i}@example.com`, `guess number ${i}`)
  const visitor = await half(email)
  for (let i = 0; i < 3; i++) await visitor.post('/session/two-factor', { code: '000000' })
  const failed = async (subject: string) =>
    (await listAuditEntries(world.database.db, { subject, action: 'session.wrong' }, 100)).map(({ action, who, details, ip }) => [action, who, (details as { failures: number }).failures, ip !== null]) // prettier-ignore
  assert.deepEqual(await failed(id), [
    ['session.wrong_code', email, 1, true],
    ['session.wrong_password', email, 10, true],
    ['session.wrong_password', email, 1, true],
  ])
  const unknown = await failed('unknown')
  assert.ok(unknown.length >= 2 && unknown.length <= 3)
  const log = JSON.stringify(await listAuditEntries(world.database.db, { action: 'session.wrong' }, 100))
  assert.doesNotMatch(log, /guess number|nobody-/)
  const reader = await visit(world, 'operator_reader')
  const { data } = await reader.get<{ entries: unknown[] }>('/audit?action=session.wrong_password')
  assert.ok(data.entries.length >= 4)
})
