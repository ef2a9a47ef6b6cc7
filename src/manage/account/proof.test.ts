// Verifying the person again before anything that creates people, tokens, secrets or ways in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, PASSWORD, setUpSecondFactor, totp, Visitor } from '../../../test/people.ts'
import { useWorld } from '../../../test/world.ts'

const world = useWorld('proof')
const MINUTE_MS = 60_000

async function someoneProved(minutesAgo: number) {
  const { id, email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  await prove(id, minutesAgo)
  return { id, email, visitor }
}

const prove = (personId: string, minutesAgo: number) =>
  world.database.db
    .updateTable('sessions')
    .set({ proven_at: new Date(Date.now() - minutesAgo * MINUTE_MS) })
    .where('person_id', '=', personId)
    .execute()

const createToken = (visitor: Visitor) => visitor.post('/me/tokens', { name: 'job' })

test('a session is proved for 15 minutes after signing in, and again after the password', async () => {
  const { visitor, id } = await someoneProved(14)
  assert.equal((await createToken(visitor)).status, 200)
  await prove(id, 16)
  const refused = await createToken(visitor)
  assert.deepEqual([refused.status, refused.error.code], [403, 'PROOF_REQUIRED'])
  assert.match(refused.error.message, /enter your password again/)
  assert.equal((await visitor.get('/me')).status, 200)
  const wrong = await visitor.post('/session/proof', { password: 'not the password' })
  assert.deepEqual([wrong.status, wrong.error.details], [400, { password: 'This password is wrong.' }])
  assert.equal((await createToken(visitor)).status, 403)
  assert.equal((await visitor.post('/session/proof', {})).status, 400)
  assert.equal((await visitor.post('/session/proof', { password: PASSWORD })).status, 200)
  assert.equal((await createToken(visitor)).status, 200)
})

test('the proof is of one session: another one of the same person asks for itself', async () => {
  const { visitor, email, id } = await someoneProved(0)
  const other = await new Visitor(world).signIn(email)
  await prove(id, 60)
  await visitor.post('/session/proof', { password: PASSWORD })
  assert.equal((await createToken(visitor)).status, 200)
  assert.equal((await createToken(other)).error.code, 'PROOF_REQUIRED')
})

test('a proof from the future, by a clock that was put back, is none', async () => {
  const { visitor } = await someoneProved(-60)
  assert.equal((await createToken(visitor)).error.code, 'PROOF_REQUIRED')
  await visitor.post('/session/proof', { password: PASSWORD })
  assert.equal((await createToken(visitor)).status, 200)
})

test('a person with a second factor verifies by a code, not by the password', async () => {
  const { visitor, id } = await someoneProved(0)
  const { secret, backupCodes } = await setUpSecondFactor(visitor)
  await prove(id, 60)
  assert.match((await createToken(visitor)).error.message, /code of your second factor/)
  assert.equal((await visitor.post('/session/proof', { password: PASSWORD })).status, 400)
  assert.equal((await visitor.post('/session/proof', { code: '000000' })).status, 400)
  assert.equal((await createToken(visitor)).error.code, 'PROOF_REQUIRED')
  const code = totp(secret, Date.now() + 30_000)
  assert.equal((await visitor.post('/session/proof', { code })).status, 200)
  assert.equal((await createToken(visitor)).status, 200)
  await prove(id, 60)
  const again = await visitor.post('/session/proof', { code })
  assert.deepEqual([again.status, again.error.message], [400, 'This code was already used. Wait for the next one.'])
  const [backup = ''] = backupCodes
  assert.equal((await visitor.post('/session/proof', { code: backup })).status, 200)
  assert.equal((await createToken(visitor)).status, 200)
  assert.equal((await visitor.post('/session/proof', { code: backup })).status, 400)
})

test('guessing the proof in an open session is slow, and locks the second factor', async () => {
  const { visitor, id } = await someoneProved(60)
  const statuses = []
  for (let i = 0; i < 12; i++) statuses.push((await visitor.post('/session/proof', { password: `guess ${i}` })).status)
  assert.deepEqual([statuses[0], statuses.at(-1)], [400, 429])

  const other = await someoneProved(0)
  const { secret } = await setUpSecondFactor(other.visitor)
  await world.database.db.updateTable('two_factors').set({ failed_verification_count: 9 }).where('person_id', '=', other.id).execute() // prettier-ignore
  assert.equal((await other.visitor.post('/session/proof', { code: '000000' })).status, 400)
  const locked = await other.visitor.post('/session/proof', { code: totp(secret, Date.now() + 30_000) })
  assert.deepEqual([locked.status, /Too many wrong codes/.test(locked.error.message)], [429, true])
  assert.notEqual(id, other.id)
})

test('a password that was changed elsewhere is no proof, and the proof of an ended session is worth nothing', async () => {
  const { visitor, email, id } = await someoneProved(60)
  const other = await new Visitor(world).signIn(email)
  assert.equal((await other.post('/me/password', { current_password: PASSWORD, new_password: 'another good password' })).status, 200) // prettier-ignore
  assert.equal((await visitor.post('/session/proof', { password: PASSWORD })).status, 401)
  await prove(id, 60)
  assert.equal((await other.post('/session/proof', { password: PASSWORD })).status, 400)
  assert.equal((await other.post('/session/proof', { password: 'another good password' })).status, 200)
})
