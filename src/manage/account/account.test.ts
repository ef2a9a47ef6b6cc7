import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepOut, createPerson, createToken, PASSWORD, totp, visit, Visitor } from '../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { listAuditEntries } from '../../features/accounts/audit.ts'
import { createResetLink } from '../../features/accounts/reset-links.ts'

const world = useWorld('account')

const auditOf = async (email: string) =>
  (await listAuditEntries(world.database.db, { who: email }, 100)).map(({ action }) => action).toReversed()

const secretIn = (uri: string) => new URL(uri).searchParams.get('secret') ?? ''

/** The code after the present one, which is good already. Each is good once. */
const nextCode = (uri: string) => totp(secretIn(uri), Date.now() + 30_000)

async function withSecondFactor() {
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const { data } = await visitor.post<{ uri: string; backup_codes: string[] }>('/me/two-factor', { password: PASSWORD })
  await visitor.post('/me/two-factor/confirm', { code: totp(secretIn(data.uri)) })
  return { email, visitor, ...data }
}

/** The password was right; a code is to follow. */
async function half(email: string) {
  const visitor = new Visitor(world)
  const { data } = await visitor.post<{ two_factor: boolean }>('/session', { email, password: PASSWORD })
  assert.equal(data.two_factor, true)
  assert.equal((await visitor.get('/me')).status, 401)
  return visitor
}

test('changing the password needs the current one, ends the other sessions, and is in the audit log', async () => {
  const { email, id } = await createPerson(world, 'operator')
  const link = await createResetLink(world.database.db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId: id }, new Date()) // prettier-ignore
  const [here, there] = [await new Visitor(world).signIn(email), await new Visitor(world).signIn(email)]
  const change = (current_password: string, new_password: string) =>
    here.post('/me/password', { current_password, new_password })
  assert.match((await change('wrong', 'another good password')).error.message, /password is wrong/)
  assert.match((await change(PASSWORD, 'short')).error.message, /12 to 128/)
  assert.equal((await change(PASSWORD, 'another good password')).status, 200)
  assert.equal((await here.get('/me')).status, 200)
  assert.equal((await there.get('/me')).status, 401)
  assert.equal((await new Visitor(world).post('/session', { email, password: PASSWORD })).status, 401)
  const token = new URL(link).hash.slice(1)
  assert.equal((await new Visitor(world).post('/password/reset', { token, password: PASSWORD })).status, 400)
  assert.deepEqual(await auditOf(email), ['session.start', 'session.start', 'session.wrong_password', 'password.change', 'session.wrong_password'].slice(0, 4)) // prettier-ignore
})

test('a second factor is on only after its first code, and asked for from then on', async () => {
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  assert.equal((await visitor.post('/me/two-factor', { password: 'not the password' })).status, 400)
  const { data } = await visitor.post<{ uri: string; backup_codes: string[] }>('/me/two-factor', { password: PASSWORD })
  assert.match(data.uri, /^otpauth:\/\/totp\/Offerdeck/)
  const still = await new Visitor(world).post<{ two_factor: boolean }>('/session', { email, password: PASSWORD })
  assert.equal(still.data.two_factor, false)
  assert.equal((await visitor.post('/me/two-factor/confirm', { code: '000000' })).status, 400)
  assert.equal((await visitor.post('/me/two-factor/confirm', { code: totp(secretIn(data.uri)) })).status, 200)
  assert.equal((await visitor.get<{ two_factor: boolean }>('/me')).data.two_factor, true)

  const next = await half(email)
  assert.equal((await next.post('/session/two-factor', { code: '000000' })).status, 401)
  const code = nextCode(data.uri)
  assert.equal((await next.post('/session/two-factor', { code: `${code.slice(0, 3)} ${code.slice(3)}` })).status, 200)
  assert.equal((await next.get('/me')).status, 200)
  const entries = await auditOf(email)
  assert.deepEqual(entries, ['session.start', 'session.wrong_password', 'session.start', 'session.wrong_code', 'two_factor.enable', 'session.start']) // prettier-ignore
})

test('a backup code works once', async () => {
  const { email, backup_codes } = await withSecondFactor()
  const [code = ''] = backup_codes
  assert.equal((await (await half(email)).post('/session/two-factor', { code })).status, 200)
  const again = await (await half(email)).post('/session/two-factor', { code })
  assert.deepEqual([again.status, again.cookies.filter((cookie) => /session_token=[^;]/.test(cookie))], [401, []])
})

test('guessing codes ends: one must begin again with the password', async () => {
  const { email, uri } = await withSecondFactor()
  const visitor = await half(email)
  for (let i = 0; i < 5; i++) await visitor.post('/session/two-factor', { code: '000000' })
  const { status, error } = await visitor.post('/session/two-factor', { code: nextCode(uri) })
  assert.deepEqual([status, /Sign in again with your password/.test(error.message)], [401, true])
})

test('who is kept out between the password and the code does not get in', async () => {
  const { email, uri } = await withSecondFactor()
  const { id } = await world.database.db.selectFrom('people').select('id').where('email', '=', email).executeTakeFirstOrThrow() // prettier-ignore
  const visitor = await half(email)
  await keepOut(world, { id, publisher_id: null })
  const { status, cookies } = await visitor.post('/session/two-factor', { code: nextCode(uri) })
  assert.deepEqual([status, cookies.filter((cookie) => /session_token=[^;]/.test(cookie))], [401, []])
  const sessions = await world.database.db.selectFrom('sessions').select('id').where('person_id', '=', id).execute()
  assert.deepEqual(sessions, [])
})

test('turning the second factor off needs the password', async () => {
  const { email, visitor } = await withSecondFactor()
  assert.equal((await visitor.post('/me/two-factor/disable', { password: 'not the password' })).status, 400)
  assert.equal((await visitor.post('/me/two-factor/disable', { password: PASSWORD })).status, 200)
  await new Visitor(world).signIn(email)
  assert.ok((await auditOf(email)).includes('two_factor.disable'))
})

test('a reset link does not get around the second factor, and is in the audit log', async () => {
  const { email } = await withSecondFactor()
  const { id } = await world.database.db.selectFrom('people').select('id').where('email', '=', email).executeTakeFirstOrThrow() // prettier-ignore
  const link = await createResetLink(
    world.database.db,
    SECRET_KEY,
    { publicUrl: world.config.publicUrl, personId: id },
    new Date(),
  )
  const token = new URL(link).hash.slice(1)
  const reset = await new Visitor(world).post('/password/reset', { token, password: 'another good password' })
  assert.equal(reset.status, 200)
  assert.equal((await auditOf(email)).at(-1), 'password.reset')
  const visitor = new Visitor(world)
  const { data } = await visitor.post<{ two_factor: boolean }>('/session', { email, password: 'another good password' })
  assert.equal(data.two_factor, true)
})

test('a token shows its secret once, ends when it should, and belongs to its person alone', async () => {
  const [ann, bob] = [await visit(world, 'operator'), await visit(world, 'operator')]
  const { data } = await ann.post<{ token: string; token_id: number; expires_at: string }>('/me/tokens', { name: 'job', expires_in_days: 1 }) // prettier-ignore
  const list = await ann.get<{ tokens: { name: string; last_used_at: string | null }[] }>('/me/tokens')
  assert.deepEqual(list.data.tokens.map(({ name, last_used_at }) => [name, last_used_at]), [['job', null]]) // prettier-ignore
  assert.equal(list.text.includes(data.token), false)
  assert.equal((await bob.delete(`/me/tokens/${data.token_id}`)).status, 404)
  await world.database.db.updateTable('access_tokens').set({ expires_at: new Date(Date.now() - 1) }).where('token_id', '=', data.token_id).execute() // prettier-ignore
  const program = new Visitor(world)
  program.token = data.token
  assert.equal((await program.get('/me')).status, 401)
  for (const body of [{}, { name: '' }, { name: 'x', expires_in_days: 0 }])
    assert.equal((await ann.post('/me/tokens', body)).status, 400)
})

test('a person has fifty tokens at most, however many are created at once', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  for (let i = 0; i < 49; i++) await createToken(world, id, ['read'])
  const answers = await Promise.all(Array.from({ length: 20 }, () => visitor.post('/me/tokens', { name: 'late' })))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.match(answers.find(({ status }) => status === 400)?.error.message ?? '', /You already have 50 tokens/)
})

test('a session is listed with the whole IPv6 address that it came from', async () => {
  const { email } = await createPerson(world, 'operator')
  const visitor = new Visitor(world)
  const from = { remoteAddress: '2001:db8:1:2::9' }
  await visitor.send('POST', '/session', { email, password: PASSWORD }, from)
  const { data } = await visitor.send<{ sessions: { ip_address: string }[] }>('GET', '/me/sessions', undefined, from)
  assert.deepEqual(data.sessions.map(({ ip_address }) => ip_address), ['2001:db8:1:2::9']) // prettier-ignore
})

test('sessions are listed without what would let another person use them', async () => {
  const visitor = await visit(world, 'operator_reader')
  const { text } = await visitor.get('/me/sessions')
  const rows = await world.database.db.selectFrom('sessions').select('token').execute()
  for (const { token } of rows) assert.equal(text.includes(token), false)
})

test('an operator who may only look still keeps their own account', async () => {
  const visitor = await visit(world, 'operator_reader')
  const { status } = await visitor.post('/me/password', { current_password: PASSWORD, new_password: 'another good password' }) // prettier-ignore
  assert.equal(status, 200)
})

test('a person sets name, time zone, language of numbers and theme, and takes them back', async () => {
  const { email, id } = await createPerson(world, 'operator_reader')
  const visitor = await new Visitor(world).signIn(email)
  const profile = async () => {
    const { data } = await visitor.get<Record<'name' | 'time_zone' | 'locale' | 'theme', string | null>>('/me')
    return [data.name, data.time_zone, data.locale, data.theme]
  }
  assert.deepEqual((await profile()).slice(1), [null, null, 'system'])
  const set = { name: ' Ann Operator ', time_zone: 'Europe/Berlin', locale: 'de-DE', theme: 'dark' }
  assert.equal((await visitor.patch('/me', set)).status, 200)
  assert.deepEqual(await profile(), ['Ann Operator', 'Europe/Berlin', 'de-DE', 'dark'])
  assert.equal((await visitor.patch('/me', { time_zone: null, locale: null })).status, 200)
  assert.deepEqual(await profile(), ['Ann Operator', null, null, 'dark'])
  assert.deepEqual((await visitor.patch('/me', { time_zone: 'Mars/Base', locale: 'xx-Klingon!' })).error.details, {
    time_zone: 'Use the name of a time zone, such as Europe/Berlin or UTC.',
    locale: 'Use a language tag, such as en-US or de-DE.',
  })
  for (const wrong of [{ name: '  ' }, { theme: 'pink' }, { role: 'operator' }])
    assert.equal((await visitor.patch('/me', wrong)).status, 400)
  const [last] = await listAuditEntries(world.database.db, { subject: id, action: 'profile.' }, 10)
  assert.deepEqual(last?.details, { time_zone: null, locale: null })
  assert.equal((await visitor.patch('/me', { theme: 'dark', locale: null })).status, 200)
  const entries = await listAuditEntries(world.database.db, { subject: id, action: 'profile.' }, 10)
  assert.equal(entries.length, 2, 'what changes nothing leaves no entry')
  for (const locale of ['en-u-nu-arab', 'de-x-a-a', 'en_US'])
    assert.equal((await visitor.patch('/me', { locale })).status, 400, locale)
})
