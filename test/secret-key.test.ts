// Another SECRET_KEY takes the place of the one before, and nothing that is in use stops working.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildApp } from '../src/app.ts'
import { createAccessToken } from '../src/features/accounts/access-tokens.ts'
import { createAdvertiser } from '../src/features/accounts/advertisers.ts'
import { findInvitation, invite } from '../src/features/accounts/invitations.ts'
import { countOldHashes, findKeyProblem, retireOldKeys, useSecretKey } from '../src/features/accounts/secret-keys.ts'
import { readSigningSecrets, resealSigningSecrets, rotateSigningSecret } from '../src/features/apps/signing-secrets.ts'
import { PLAIN } from '../src/features/postbacks/dialect.ts'
import { resealHeaders, resealReceiverSecrets } from '../src/features/postbacks/sealed-settings.ts'
import { DEFAULTS, readSettings, saveSettings } from '../src/features/postbacks/settings.ts'
import { joinKeys } from '../src/lib/keys.ts'
import { resealSecondFactors } from '../src/features/accounts/session-keys.ts'
import { createPerson, PASSWORD, setUpSecondFactor, Visitor } from './people.ts'
import { SECRET_KEY, useWorld } from './world.ts'
import { TESTER } from './tester.ts'

const NEXT_KEY = 'the next secret key, also long enough'
const BOTH = joinKeys(NEXT_KEY, [SECRET_KEY])

const world = useWorld('secret_key', async () => {
  await useSecretKey(world.database.db, SECRET_KEY)
})

/** The server again, with this key. */
async function restart(secretKey: string): Promise<void> {
  await useSecretKey(world.database.db, secretKey)
  await world.app.close()
  const { config, database, log } = world
  world.app = await buildApp({ config, secretKey, database, log })
}

async function withSecondFactor() {
  const { email } = await createPerson(world, 'operator')
  const visitor = await new Visitor(world).signIn(email)
  return { email, visitor, ...(await setUpSecondFactor(visitor)) }
}

async function signsInWith({ email }: { email: string }, code: string): Promise<boolean> {
  const visitor = new Visitor(world)
  await visitor.post('/session', { email, password: PASSWORD })
  return (await visitor.post('/session/two-factor', { code })).status === 200
}

test('links, secrets, tokens, invitations and second factors outlive their key; what is not used is counted', async () => {
  const { db } = world.database
  const now = new Date()
  const [used, unused] = [await world.createApp(), await world.createApp()]
  const [offerId = 0] = await world.createOffers({})
  await rotateSigningSecret(db, TESTER, SECRET_KEY, used.appId, 'live', 3_600_000)
  const headers = { Authorization: 'a secret of the publisher' }
  const signature = { algorithm: 'hmac-sha256', of: '{reward}', encoding: 'hex', header: 'X-Hash' } as const
  const speaking = { dialect: { ...PLAIN, signature }, receiverSecret: 'a secret of the receiver' }
  await saveSettings(db, TESTER, SECRET_KEY, used.appId, {
    ...DEFAULTS,
    url: 'https://p.example.com/',
    method: 'POST',
    headers,
    ...speaking,
  })
  const signing = await readSigningSecrets(db, SECRET_KEY, [used.appId])
  const { link } = (await world.get(`/v1/offers/${offerId}?userId=u`, used.live)).body.data.offer
  const person = await createPerson(world, 'operator')
  const wanted = { personId: person.id, name: 'script', scopes: ['read'], days: 90, allowedIps: [] } as const
  const access = await db.transaction().execute((trx) => createAccessToken(trx, TESTER, SECRET_KEY, wanted, now))
  const invited = { email: 'new@example.com', role: 'operator', publisherId: null, invitedBy: null } as const
  const invitation = await db.transaction().execute((trx) => invite(trx, TESTER, SECRET_KEY, invited, now))
  await createAdvertiser(db, TESTER, SECRET_KEY, 'Never calls')
  const factor = await withSecondFactor()

  await restart(BOTH)
  const { clickId, status } = await world.follow(link)
  assert.equal(status, 302)
  assert.equal((await world.get('/v1/offers?userId=u', used.live)).status, 200)
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'approved')
  const program = new Visitor(world)
  program.token = access.token
  assert.equal((await program.get('/me')).status, 200)
  assert.equal((await findInvitation(db, BOTH, invitation.token, now))?.email, 'new@example.com')
  assert.deepEqual(await readSigningSecrets(db, BOTH, [used.appId]), signing)
  const secretsOf = async (key: string) => {
    const settings = await readSettings(db, key, used.appId)
    return [settings?.headers, settings?.receiverSecret]
  }
  assert.deepEqual(await secretsOf(BOTH), [headers, speaking.receiverSecret])
  assert.equal(await signsInWith(factor, factor.backupCodes[0] ?? ''), true)
  assert.equal((await factor.visitor.get('/me')).status, 401) // sessions end: people sign in again

  assert.deepEqual(await resealSigningSecrets(db, BOTH), { resealed: 5, unreadable: 0 }) // two apps, live and test; one old
  assert.deepEqual(await resealSigningSecrets(db, BOTH), { resealed: 0, unreadable: 0 })
  assert.deepEqual(await resealHeaders(db, BOTH), { resealed: 1, unreadable: 0 })
  assert.deepEqual(await resealReceiverSecrets(db, BOTH), { resealed: 1, unreadable: 0 })
  assert.deepEqual(await resealSecondFactors(db, BOTH), { resealed: 1, unreadable: 0 })
  assert.deepEqual(await resealSecondFactors(db, BOTH), { resealed: 0, unreadable: 0 })
  const left = await countOldHashes(db, BOTH, now)
  assert.deepEqual(left, { api_secrets: 3, advertiser_tokens: 1, access_tokens: 0, invitations: 1 })
  assert.match((await findKeyProblem(db, NEXT_KEY)) ?? '', /^SECRET_KEY_OLD is missing/)

  await retireOldKeys(db, BOTH, new Date())
  await restart(NEXT_KEY)
  assert.equal((await world.get('/v1/offers?userId=u', used.live)).status, 200)
  assert.equal((await world.get('/v1/offers?userId=u', unused.live)).body.error.code, 'INVALID_API_SECRET')
  assert.equal((await world.follow(link)).status, 404)
  assert.equal((await program.get('/me')).status, 200)
  assert.deepEqual(await readSigningSecrets(db, NEXT_KEY, [used.appId]), signing)
  assert.deepEqual(await secretsOf(NEXT_KEY), [headers, speaking.receiverSecret])
  assert.equal(await signsInWith(factor, factor.backupCodes[1] ?? ''), true)
  assert.equal((await world.confirm(offerId, clickId, { status: 'reversed' })).outcome, 'reversed')
  assert.match((await findKeyProblem(db, SECRET_KEY)) ?? '', /replaced in this database/)
})

test('a database that was used before ids of keys were kept takes the key that opens it, and no other', async () => {
  const { db } = world.database
  await world.createApp() // sealed with SECRET_KEY
  await db.deleteFrom('secret_keys').execute()
  const other = 'a key that was never used here, long enough'
  assert.match((await findKeyProblem(db, other)) ?? '', /is not the one that this database is used with/)
  await assert.rejects(useSecretKey(db, other), /SECRET_KEY_OLD to the one before/)
  await useSecretKey(db, joinKeys(other, [SECRET_KEY]))
  assert.equal(await findKeyProblem(db, joinKeys(other, [SECRET_KEY])), null)
  assert.match((await findKeyProblem(db, SECRET_KEY)) ?? '', /^SECRET_KEY_OLD is missing/)
})

const nodes = useWorld('secret_key_nodes')

test('nodes that take the new key by the steps of the README follow each other’s links at every moment', async () => {
  const { config, database, log } = nodes
  const start = async (current: string, older: string[]) => {
    const secretKey = joinKeys(current, older)
    await useSecretKey(database.db, secretKey)
    return buildApp({ config, secretKey, database, log })
  }
  const before = await start(SECRET_KEY, [])
  const { live } = await nodes.createApp()
  const [offerId = 0] = await nodes.createOffers({})
  const follows = async (from: typeof before, to: typeof before) => {
    nodes.app = from
    await from.refresh()
    const { link } = (await nodes.get(`/v1/offers/${offerId}?userId=u`, live)).body.data.offer
    nodes.app = to
    await to.refresh()
    return (await nodes.follow(link)).status === 302
  }
  const first = nodes.app
  const reads = await start(SECRET_KEY, [NEXT_KEY]) // step 1
  const writes = await start(NEXT_KEY, [SECRET_KEY]) // step 2
  const bothWays = async (a: typeof before, b: typeof before) => [await follows(a, b), await follows(b, a)]
  assert.deepEqual(await bothWays(before, reads), [true, true])
  assert.deepEqual(await bothWays(reads, writes), [true, true])
  assert.deepEqual(
    await bothWays(before, writes),
    [true, false],
    'without step 1 a node does not know the other’s links',
  )
  nodes.app = first
  for (const app of [before, reads, writes]) await app.close()
})
