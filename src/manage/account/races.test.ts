// Steps of a flow that something else comes between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, createToken, PASSWORD, publisherOfApp, setUpSecondFactor, totp, visit, Visitor } from '../../../test/people.ts' // prettier-ignore
import { until } from '../../../test/installation.ts'
import { hold, untilWaiting } from '../../../test/waiting.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { createResetLink } from '../../features/accounts/reset-links.ts'

const world = useWorld('races')
const NEW_PASSWORD = 'another good password'

async function resetLinkOf(personId: string): Promise<string> {
  const link = await createResetLink(world.database.db, SECRET_KEY, { publicUrl: world.config.publicUrl, personId }, new Date()) // prettier-ignore
  return new URL(link).hash.slice(1)
}

test('a sign-in with the old password during a reset fails', async () => {
  for (let round = 0; round < 4; round++) {
    const { id, email } = await createPerson(world, 'operator')
    const token = await resetLinkOf(id)
    const thieves = Array.from({ length: 6 }, () => new Visitor(world))
    await Promise.all([
      new Visitor(world).post('/password/reset', { token, password: NEW_PASSWORD }),
      ...thieves.map((thief) => thief.post('/session', { email, password: PASSWORD })),
    ])
    for (const thief of thieves) assert.equal((await thief.get('/me')).status, 401, `round ${round}`)
    await new Visitor(world).signIn(email, NEW_PASSWORD)
  }
})

test('a sign-in that waits for its code is void after a reset, a change and a disabling', async () => {
  const end = {
    reset: async (id: string) =>
      new Visitor(world).post('/password/reset', { token: await resetLinkOf(id), password: NEW_PASSWORD }),
    disable: async (id: string) =>
      (await visit(world, 'operator')).patch(`/operators/people/${id}`, { disabled: true }),
  }
  for (const ends of Object.values(end)) {
    const { id, email } = await createPerson(world, 'operator')
    const { secret } = await setUpSecondFactor(await new Visitor(world).signIn(email))
    const thief = new Visitor(world)
    await thief.post('/session', { email, password: PASSWORD })
    assert.equal((await ends(id)).status, 200)
    assert.equal((await thief.post('/session/two-factor', { code: totp(secret, Date.now() + 30_000) })).status, 401)
    assert.equal((await thief.get('/me')).status, 401)
  }
})

test('an owner who is disabled or demoted at this moment makes no one else an owner', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const operator = await visit(world, 'operator')
  const base = `/publishers/${publisherId}/people`
  for (const change of [{ disabled: true }, { role: 'publisher_viewer' }, { disabled: true }]) {
    const owner = await createPerson(world, 'publisher_owner', publisherId)
    const visitor = await new Visitor(world).signIn(owner.email)
    const friends = await Promise.all(
      Array.from({ length: 5 }, () => createPerson(world, 'publisher_viewer', publisherId)),
    )
    const order: string[] = []
    await Promise.all([
      operator.patch(`${base}/${owner.id}`, change).then(() => order.push('operator')),
      ...friends.map(({ id }) =>
        visitor.patch(`${base}/${id}`, { role: 'publisher_owner' }).then(({ status }) => order.push(String(status))),
      ),
    ])
    const log = await world.database.db
      .selectFrom('audit_log')
      .select(['audit_id', 'subject', 'details'])
      .where('action', '=', 'person.change')
      .where('subject', 'in', [owner.id, ...friends.map(({ id }) => id)])
      .orderBy('audit_id')
      .execute()
    // The entries stand in the order of the commits: the operator's is the last.
    assert.equal(log.at(-1)?.subject, owner.id, JSON.stringify({ order, log }))
  }
})

test('a person removed while their change is under way gets no secret and no app', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const operator = await visit(world, 'operator')
  const secrets = () => world.database.db.selectFrom('api_secrets').selectAll().orderBy('hash').execute()
  const apps = () => world.database.db.selectFrom('apps').select('name').orderBy('app_id').execute()
  const app = { name: 'Late', currency: 'Coins', rate: 1 }
  for (const [path, body] of [
    [`/apps/${appId}/credentials/live/rotate`, { grace_hours: 1 }],
    [`/apps/${appId}/credentials/live/signing-secret/rotate`, { grace_hours: 1 }],
    [`/publishers/${publisherId}/apps`, app],
  ] as const) {
    const owner = await createPerson(world, 'publisher_owner', publisherId)
    const visitor = await new Visitor(world).signIn(owner.email)
    const before = [await secrets(), await apps()]
    const holder = await world.database.pool.connect()
    await holder.query('BEGIN; LOCK TABLE api_secrets, credentials, apps IN EXCLUSIVE MODE')
    const late = visitor.post(path, body)
    await until(async () => {
      const waiting = await holder.query("SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") // prettier-ignore
      return waiting.rowCount !== 0
    })
    const removed = await operator.patch(`/publishers/${publisherId}/people/${owner.id}`, { disabled: true })
    assert.equal(removed.status, 200)
    await holder.query('COMMIT')
    holder.release()
    const { status, error } = await late
    assert.deepEqual([status, error?.message], [403, 'Your account may no longer do that.'], path)
    assert.deepEqual([await secrets(), await apps()], before)
  }
})

test('an owner who is disabled while they replace or revoke an invitation keeps no one waiting, and no link', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const operator = await visit(world, 'operator')
  const base = `/publishers/${publisherId}`
  for (const way of ['replace', 'revoke']) {
    const owner = await createPerson(world, 'publisher_owner', publisherId)
    const visitor = await new Visitor(world).signIn(owner.email)
    const wanted = { email: `friend-${way}@example.com`, role: 'publisher_viewer' }
    assert.equal((await visitor.post(`${base}/invitations`, wanted)).status, 200)
    const open = async () =>
      (await operator.get<{ invitations: { invitation_id: number }[] }>(`${base}/people`)).data.invitations
    const [{ invitation_id } = { invitation_id: 0 }] = await open()
    const letGo = await hold(world.database.pool, 'SELECT FROM invitations WHERE invitation_id = $1 FOR UPDATE', String(invitation_id)) // prettier-ignore
    const own = way === 'replace' ? visitor.post(`${base}/invitations`, wanted) : visitor.delete(`${base}/invitations/${invitation_id}`) // prettier-ignore
    await untilWaiting(world.database.pool, 1)
    const disabled = operator.patch(`${base}/people/${owner.id}`, { disabled: true })
    await untilWaiting(world.database.pool, 2)
    await letGo()
    assert.deepEqual([(await own).status, (await disabled).status], [200, 200], way)
    assert.deepEqual(await open(), [])
  }
})

test('a stolen token from elsewhere does not use up what its holder may ask', async () => {
  const { id } = await createPerson(world, 'operator')
  const program = await createToken(world, id, ['read'], ['203.0.113.0/24'])
  const from = (remoteAddress: string) => program.send('GET', '/me', undefined, { remoteAddress })
  const statuses = new Set<number>()
  for (let i = 0; i < 70; i++) statuses.add((await from('198.51.100.9')).status)
  assert.deepEqual([...statuses], [403, 429])
  assert.equal((await from('203.0.113.9')).status, 200)
})

test('a code from the clock’s future locks no one out once the clock is right again', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const { secret } = await setUpSecondFactor(visitor)
  const inAnHour = Math.floor(Date.now() / 30_000) + 120
  await world.database.db.updateTable('two_factors').set({ last_step: inAnHour }).where('person_id', '=', id).execute()
  const code = totp(secret)
  assert.equal((await visitor.post('/session/proof', { code })).status, 200)
  assert.equal((await visitor.post('/session/proof', { code })).status, 400)
})

test('a sign-in with the old password that waits for its code fails, too, when it overlaps a reset', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const { secret } = await setUpSecondFactor(await new Visitor(world).signIn(email))
  const token = await resetLinkOf(id)
  const { pool } = world.database
  await pool.query(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(4242); RETURN NEW; END $$;
    CREATE TRIGGER wait_for_test BEFORE INSERT ON verifications FOR EACH ROW EXECUTE FUNCTION wait_for_test()`)
  const holder = await pool.connect()
  try {
    await holder.query('SELECT pg_advisory_lock(4242)')
    const thief = new Visitor(world)
    const half = thief.post('/session', { email, password: PASSWORD })
    await untilWaiting(world.database.pool, 1) // the password was right; the challenge is not stored yet
    assert.equal((await new Visitor(world).post('/password/reset', { token, password: NEW_PASSWORD })).status, 200)
    await holder.query('SELECT pg_advisory_unlock(4242)')
    assert.equal((await half).status, 401)
    assert.equal((await thief.post('/session/two-factor', { code: totp(secret, Date.now() + 30_000) })).status, 401)
    assert.equal((await thief.get('/me')).status, 401)
  } finally {
    await holder.query('SELECT pg_advisory_unlock_all()')
    holder.release()
    await pool.query('DROP TRIGGER wait_for_test ON verifications')
  }
})

test('a second factor that is being confirmed is not replaced by another one', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const start = () => visitor.post<{ uri: string }>('/me/two-factor', { password: PASSWORD })
  const secret = new URL((await start()).data.uri).searchParams.get('secret') ?? ''
  const letGo = await hold(world.database.pool, 'SELECT FROM two_factors WHERE person_id = $1 FOR UPDATE', id)
  const confirmed = visitor.post('/me/two-factor/confirm', { code: totp(secret) })
  await untilWaiting(world.database.pool, 1)
  const again = start()
  await untilWaiting(world.database.pool, 2)
  await letGo()
  assert.deepEqual([(await confirmed).status, (await again).status], [200, 409])
  const next = new Visitor(world)
  await next.post('/session', { email, password: PASSWORD })
  assert.equal((await next.post('/session/two-factor', { code: totp(secret, Date.now() + 30_000) })).status, 200)
})

test('of two second factors that are set up at the same time, one is left', async () => {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  const letGo = await hold(world.database.pool, 'LOCK TABLE two_factors IN EXCLUSIVE MODE')
  const starts = [1, 2].map(() => visitor.post<{ uri: string }>('/me/two-factor', { password: PASSWORD }))
  await untilWaiting(world.database.pool, 2)
  await letGo()
  const codes = (await Promise.all(starts)).map(({ data }) => totp(new URL(data.uri).searchParams.get('secret') ?? ''))
  const rows = await world.database.db.selectFrom('two_factors').select('id').where('person_id', '=', id).execute()
  assert.equal(rows.length, 1)
  const statuses: number[] = []
  for (const code of codes) statuses.push((await visitor.post('/me/two-factor/confirm', { code })).status)
  assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses))
})
