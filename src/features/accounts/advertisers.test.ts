import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { createSecretHashes, hasValidChecksum } from '../../lib/tokens.ts'
import { type AdvertiserSettings, setAdvertiser } from './advertiser-settings.ts'
import {
  createAdvertiser,
  findAdvertiserByToken,
  getAdvertiser,
  listAdvertisers,
  matchAdvertisers,
  rotateToken,
} from './advertisers.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('advertisers')
const hash = createSecretHashes(SECRET_KEY)
const NOW = new Date('2026-03-10T12:00:00Z')
const HOUR_MS = 3_600_000
let count = 0

const make = () => createAdvertiser(world.database.db, TESTER, SECRET_KEY, `Advertiser ${count++}`)
/** Whose live token it is. */
async function ownerOf(token: string, now = NOW): Promise<number | null> {
  const found = await findAdvertiserByToken(world.database.db, hash(token), now)
  return found === null || found.isExpired ? null : found.advertiserId
}

test('a new advertiser has a token of 256 bits with a checksum, of which only a hash is kept', async () => {
  const { db } = world.database
  const made = await make()
  assert.match(made.token, /^adv_[0-9A-Za-z]{49}$/)
  assert.ok(hasValidChecksum(made.token))
  assert.notEqual((await make()).token, made.token)
  assert.equal(await ownerOf(made.token), made.advertiser_id)
  assert.equal(await ownerOf(`${made.token}x`), null)
  const kept = await db.selectFrom('advertiser_tokens').selectAll().execute()
  assert.ok(kept.length > 0 && !JSON.stringify(kept).includes(made.token.slice(4, -6)))
  await assert.rejects(createAdvertiser(db, TESTER, SECRET_KEY, made.name), /An advertiser ".*" already exists/)
  await assert.rejects(createAdvertiser(db, TESTER, SECRET_KEY, ' '), /1 to 200 characters/)
})

test('after a rotation the new token is good, the one before for the grace, and older ones are not', async () => {
  const { db } = world.database
  const { advertiser_id, token: first } = await make()
  const { token: second, old_token_expires_at } = await rotateToken(db, TESTER, SECRET_KEY, advertiser_id, HOUR_MS, NOW)
  assert.deepEqual(old_token_expires_at, new Date(NOW.getTime() + HOUR_MS))
  const atEnd = new Date(NOW.getTime() + HOUR_MS)
  assert.deepEqual([await ownerOf(first), await ownerOf(second)], [advertiser_id, advertiser_id])
  assert.deepEqual([await ownerOf(first, atEnd), await ownerOf(second, atEnd)], [null, advertiser_id])
  const { token: third } = await rotateToken(db, TESTER, SECRET_KEY, advertiser_id, HOUR_MS, NOW)
  assert.deepEqual([await ownerOf(first), await ownerOf(second), await ownerOf(third)], [null, advertiser_id, advertiser_id]) // prettier-ignore
  const { token: fourth } = await rotateToken(db, TESTER, SECRET_KEY, advertiser_id, 0, NOW)
  assert.deepEqual([await ownerOf(second), await ownerOf(third), await ownerOf(fourth)], [null, null, advertiser_id])
  await assert.rejects(rotateToken(db, TESTER, SECRET_KEY, 999_999, 0, NOW), /There is no advertiser 999999\./) // prettier-ignore
})

test('rotations at the same time leave two live tokens', async () => {
  const { db } = world.database
  const { advertiser_id } = await make()
  const rotated = await Promise.all(
    Array.from({ length: 10 }, () => rotateToken(db, TESTER, SECRET_KEY, advertiser_id, HOUR_MS, NOW)),
  )
  const owners = await Promise.all(rotated.map(({ token }) => ownerOf(token)))
  assert.equal(owners.filter((owner) => owner === advertiser_id).length, 2)
})

test('an advertiser created without a token gets its first by a rotation, and the list shows who has one', async () => {
  const { db } = world.database
  const name = `Advertiser ${count++}`
  await db.insertInto('advertisers').values({ name }).execute()
  const [{ advertiser_id } = { advertiser_id: 0 }] = await matchAdvertisers(db, { id: 0, name })
  const hasToken = async () => (await listAdvertisers(db)).find((one) => one.name === name)?.has_token
  assert.equal(await hasToken(), false)
  const { token, old_token_expires_at } = await rotateToken(db, TESTER, SECRET_KEY, advertiser_id, HOUR_MS, NOW)
  assert.equal(old_token_expires_at, null)
  assert.equal(await ownerOf(token), advertiser_id)
  assert.equal(await hasToken(), true)
})

test('advertisers are found by name and by id, or a sentence says what to do', async () => {
  const { db } = world.database
  const { advertiser_id, name } = await make()
  const known = await getAdvertiser(db, advertiser_id)
  assert.deepEqual(await matchAdvertisers(db, { id: 0, name }), [known])
  assert.deepEqual(await matchAdvertisers(db, { id: advertiser_id, name: '' }), [known])
  assert.deepEqual(await matchAdvertisers(db, { id: 0, name: 'Nobody' }), [])
  await assert.rejects(getAdvertiser(db, 999_999), /There is no advertiser 999999/)
})

test('what is set is replaced as a whole, the rest is left, and a token finds all of it', async () => {
  const { db } = world.database
  const { advertiser_id, token } = await make()
  await setAdvertiser(db, TESTER, advertiser_id, { allowedIps: ['192.0.2.7', '2001:DB8::/32', '::ffff:198.51.100.0/120', '192.0.2.7'] }) // prettier-ignore
  await setAdvertiser(db, TESTER, advertiser_id, { statusMap: [[' PAID ', 'approved'], ['a=b', 'rejected']] }) // prettier-ignore
  await setAdvertiser(db, TESTER, advertiser_id, { aliases: [['click_id', 'cid'], ['txn_id', 'tid'], ['click_id', 'sub1']] }) // prettier-ignore
  assert.deepEqual(await findAdvertiserByToken(db, hash(token), NOW), {
    advertiserId: advertiser_id,
    isExpired: false,
    allowedIps: ['192.0.2.7', '2001:db8::/32', '198.51.100.0/24'],
    signed: null,
    statusMap: { paid: 'approved', 'a=b': 'rejected' },
    aliases: { click_id: ['cid', 'sub1'], txn_id: ['tid'] },
    negativeAmount: 'refuse',
    reversalPrefix: '',
    decimalMark: 'detect',
    callRules: {},
  })
  const changed = await setAdvertiser(db, TESTER, advertiser_id, { allowedIps: [], statusMap: [['ok', 'pending']], aliases: [] }) // prettier-ignore
  assert.partialDeepStrictEqual(changed, { allowed_ips: [], status_map: { ok: 'pending' }, aliases: {} })
  assert.deepEqual(await getAdvertiser(db, advertiser_id), changed)
  await assert.rejects(setAdvertiser(db, TESTER, 999_999, { allowedIps: [] }), /There is no advertiser 999999/)
})

test('a setting that makes no sense is refused with a sentence, and nothing is changed', async () => {
  const { db } = world.database
  const { advertiser_id } = await make()
  const before = await getAdvertiser(db, advertiser_id)
  const everything = ['0.0.0.0/0', '::/0', '10.0.0.0/0', '::ffff:0:0/96', '::ffff:1.2.3.4/90', '::/64']
  const bad = [
    '10.0.0.0/33',
    '10.1',
    '010.0.0.1',
    '2001:db8::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'example.com',
    '',
    'fe80::1%eth0',
  ]
  const attempts: [Partial<AdvertiserSettings>, RegExp][] = [
    ...everything.map((ip): [Partial<AdvertiserSettings>, RegExp] => [{ allowedIps: [ip] }, /allows every IP address/]),
    ...bad.map((ip): [Partial<AdvertiserSettings>, RegExp] => [{ allowedIps: [ip] }, /is not an address such as 192\.0\.2\.7/]),
    [{ statusMap: [['paid', 'done']] }, /"done" is not a status\. Map to one of approved, pending, rejected, reversed/],
    [{ statusMap: [['', 'approved']] }, /is not a value of 1 to 100 characters/],
    [{ statusMap: [['x'.repeat(101), 'approved']] }, /is not a value of 1 to 100 characters/],
    [{ statusMap: [['OK', 'approved'], ['ok', 'pending']] }, /"ok" is mapped to two statuses/],
    [{ aliases: [['clickid', 'x']] }, /"clickid" is not a parameter\. Use one of click_id, goal/],
    [{ aliases: [['click_id', 'a&b']] }, /is not a valid parameter name/],
    [{ aliases: [['click_id', 'x'], ['txn_id', 'x']] }, /"x" is mapped to two parameters/],
    [{ aliases: [['goal', 'txn_id']] }, /"txn_id" is one of our own parameters, so it cannot be mapped to goal/],
    [{ aliases: [['goal', 'token']] }, /"token" is one of our own parameters/],
    [{ allowedIps: ['x'], statusMap: [['paid', 'done']] }, /"x" is not an address[\s\S]*"done" is not a status/],
  ] // prettier-ignore
  for (const [settings, message] of attempts)
    await assert.rejects(setAdvertiser(db, TESTER, advertiser_id, settings), message, JSON.stringify(settings))
  assert.deepEqual(await getAdvertiser(db, advertiser_id), before)
})
