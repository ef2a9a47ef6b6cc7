// Sessions and tokens that end while something is done with them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, createToken, PASSWORD, totp, visit, Visitor } from '../../../test/people.ts'
import { hold, untilWaiting } from '../../../test/waiting.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { verificationWriter } from '../../features/accounts/email-verification.ts'
import { createResetLink } from '../../features/accounts/reset-links.ts'

const world = useWorld('ending')
const NEW_PASSWORD = 'another good password'

async function resetLinkOf(personId: string): Promise<string> {
  const link = await createResetLink(world.database.db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId }, new Date()) // prettier-ignore
  return new URL(link).hash.slice(1)
}

test('a session that ends at this moment makes no token and invites no one', async () => {
  const end = {
    reset: async (_owner: Visitor, id: string) => {
      const token = await resetLinkOf(id)
      return () => new Visitor(world).post('/password/reset', { token, password: NEW_PASSWORD })
    },
    change: async (owner: Visitor) => () =>
      owner.post('/me/password', { current_password: PASSWORD, new_password: NEW_PASSWORD, end_tokens: true }),
    end: async (owner: Visitor) => {
      const { data } = await owner.get<{ sessions: { id: string; is_current: boolean }[] }>('/me/sessions')
      const other = data.sessions.find(({ is_current }) => !is_current)?.id
      return () => owner.delete(`/me/sessions/${other}`)
    },
    'second factor': async (owner: Visitor) => {
      const { data } = await owner.post<{ uri: string }>('/me/two-factor', { password: PASSWORD })
      const code = totp(new URL(data.uri).searchParams.get('secret') ?? '')
      return () => owner.post('/me/two-factor/confirm', { code })
    },
  }
  for (const [name, prepare] of Object.entries(end)) {
    const { id, email } = await createPerson(world, 'operator')
    const owner = await new Visitor(world).signIn(email)
    const thief = await new Visitor(world).signIn(email)
    const ends = await prepare(owner, id)
    const letGo = await hold(world.database.pool, 'SELECT FROM sessions WHERE person_id = $1 FOR KEY SHARE', id) // none can be deleted
    const ended = ends()
    await untilWaiting(world.database.pool, 1)
    const late = [
      thief.post('/operators/invitations', { email: `friend-of-${email}`, role: 'operator' }),
      thief.post('/me/tokens', { name: 'Late', scopes: ['people'] }),
    ]
    await untilWaiting(world.database.pool, 3)
    await letGo()
    assert.equal((await ended).status, 200, name)
    const answers = (await Promise.all(late)).map(({ status, error }) => [status, error?.code])
    assert.deepEqual(answers, [[401, 'NOT_SIGNED_IN'], [401, 'NOT_SIGNED_IN']], name) // prettier-ignore
    const { db } = world.database
    assert.deepEqual(await db.selectFrom('access_tokens').select('name').where('person_id', '=', id).execute(), [], name) // prettier-ignore
    assert.deepEqual(await db.selectFrom('invitations').select('email').where('invited_by', '=', id).execute(), [], name) // prettier-ignore
  }
})

test('a token that is revoked at this moment changes nothing', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const owner = await new Visitor(world).signIn(email)
  const program = await createToken(world, id, ['fraud'])
  const { data } = await owner.get<{ tokens: { token_id: number }[] }>('/me/tokens')
  const letGo = await hold(world.database.pool, 'SELECT FROM access_tokens WHERE person_id = $1 FOR SHARE', id)
  const revoked = owner.delete(`/me/tokens/${data.tokens[0]?.token_id}`)
  await untilWaiting(world.database.pool, 1)
  const late = program.post('/bans', { user_id: `user of ${id}`, reason: 'fraud' })
  await untilWaiting(world.database.pool, 2)
  await letGo()
  assert.equal((await revoked).status, 200)
  const { status, error } = await late
  assert.deepEqual([status, error?.code], [401, 'NOT_SIGNED_IN'])
  const bans = await world.database.db.selectFrom('banned_users').select('ban_id').where('user_id', '=', `user of ${id}`).execute() // prettier-ignore
  assert.deepEqual(bans, [])
})

test('a reset and a change of the same password at once do not wait for each other', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const owner = await new Visitor(world).signIn(email)
  const token = await resetLinkOf(id)
  const letGo = await hold(world.database.pool, 'SELECT FROM people WHERE id = $1 FOR UPDATE', id)
  const reset = new Visitor(world).post('/password/reset', { token, password: NEW_PASSWORD })
  await untilWaiting(world.database.pool, 1)
  const change = owner.post('/me/password', { current_password: PASSWORD, new_password: 'yet another password' })
  await untilWaiting(world.database.pool, 2)
  await letGo()
  const statuses = [(await reset).status, (await change).status]
  assert.ok(['200,409', '400,200'].includes(String(statuses)), String(statuses)) // one is first, either
})

test('a link that verifies an address and a reset at once do not wait for each other', async () => {
  const { id } = await createPerson(world, 'operator')
  const { db } = world.database
  const network = { secretKey: SECRET_KEY, publicUrl: world.config.publicUrl }
  const letter = await db.transaction().execute((trx) => verificationWriter(network).write(trx, id, new Date()))
  const proof = /#(\S+)/.exec(letter?.text ?? '')?.[1] ?? ''
  const token = await resetLinkOf(id)
  const letGo = await hold(world.database.pool, 'SELECT FROM people WHERE id = $1 FOR UPDATE', id)
  const reset = new Visitor(world).post('/password/reset', { token, password: NEW_PASSWORD })
  await untilWaiting(world.database.pool, 1)
  const verified = new Visitor(world).post('/email/verify', { token: proof })
  await untilWaiting(world.database.pool, 2)
  await letGo()
  const statuses = [(await reset).status, (await verified).status]
  assert.ok(['200,400', '200,200'].includes(String(statuses)), String(statuses))
})

test('what one person does at the same time does not get in its own way', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const owner = await new Visitor(world).signIn(email)
  const program = await createToken(world, id, ['fraud'])
  for (let i = 0; i < 3; i++) await new Visitor(world).signIn(email)
  const { data } = await owner.get<{ sessions: { id: string; is_current: boolean }[] }>('/me/sessions')
  const others = data.sessions.filter(({ is_current }) => !is_current)
  const answers = await Promise.all([
    ...others.map((session) => owner.delete(`/me/sessions/${session.id}`)),
    ...[1, 2, 3, 4].map((i) => owner.post('/me/tokens', { name: `Job ${i}` })),
    ...[1, 2, 3, 4].map((i) => owner.post('/operators/invitations', { email: `${i}-${email}`, role: 'operator' })),
    ...[1, 2, 3, 4].map((i) => owner.patch('/me', { name: `Name ${i}` })),
    ...[1, 2, 3, 4].map((i) => program.post('/bans', { user_id: `${i} of ${id}`, reason: 'fraud' })),
  ])
  assert.deepEqual(answers.filter(({ status }) => status !== 200).map(({ text }) => text), []) // prettier-ignore
})

test('one’s own session can be ended like any other', async () => {
  const visitor = await visit(world, 'operator')
  const { data } = await visitor.get<{ sessions: { id: string }[] }>('/me/sessions')
  assert.equal((await visitor.delete(`/me/sessions/${data.sessions[0]?.id}`)).status, 200)
  assert.equal((await visitor.get('/me')).status, 401)
})
