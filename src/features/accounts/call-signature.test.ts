import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { joinKeys } from '../../lib/keys.ts'
import { listCalls, callOf } from '../conversions/inbound/calls.ts'
import { reprocessCall } from '../conversions/inbound/confirm.ts'
import { createAdvertiser, findAdvertiserByToken, getAdvertiser } from './advertisers.ts'
import { type CallSignature, isSigned, resealCallSecrets, setCallSignature } from './call-signature.ts'
import { createSecretHashes } from '../../lib/tokens.ts'

const world = useWorld('call_signatures')
const URL_SIGNED: CallSignature = {
  algorithm: 'hmac-sha1',
  of: '{url}',
  encoding: 'hex',
  parameter: 'hash',
  header: null,
}
const md5 = (text: string) => createHash('md5').update(text).digest('hex')

async function create(signature: CallSignature, secret = 'sesame') {
  const { db } = world.database
  const { advertiser_id, token } = await createAdvertiser(
    db,
    TESTER,
    SECRET_KEY,
    `Signed ${signature.algorithm} ${Math.random()}`,
  )
  await setCallSignature(db, TESTER, SECRET_KEY, advertiser_id, { signature, secret })
  const owner = async (key = SECRET_KEY) =>
    (await findAdvertiserByToken(db, createSecretHashes(key)(token), new Date()))?.signed ?? assert.fail()
  const send = async (query: string, headers: Record<string, string> = {}) => {
    const url = `/postback?${query}&token=${token}`
    const answer = await world.app.server.inject({ url, headers })
    return { status: answer.statusCode, ...answer.json<{ outcome: string; reason: string | null }>() }
  }
  return { advertiser_id, token, owner, send }
}

test('a URL that is signed as its network documents it is known as signed', async () => {
  const { advertiser_id, owner } = await create(URL_SIGNED, 'JLOIAUNMHFli7ZJOQVEzm98rzqnm9')
  const url = 'https://publisher.com/complete?uid=8cc877ee-af19-488d-b28d-216fb866b996&val=500'
  const check = async (hash: string, at = url) =>
    isSigned(SECRET_KEY, advertiser_id, await owner(), { url: `${at}&hash=${hash}`, parameters: new Map([['hash', [hash]]]), headers: {} }) // prettier-ignore
  assert.equal(await check('dbcd6bb8ca677344592842a52b4fca9bec36cd4b'), true)
  assert.equal(await check('DBCD6BB8CA677344592842A52B4FCA9BEC36CD4B'), true)
  assert.equal(await check('dbcd6bb8ca677344592842a52b4fca9bec36cd4c'), false)
  assert.equal(await check('dbcd6bb8ca677344592842a52b4fca9bec36cd4b', `${url}0`), false)
  assert.equal(await check(''), false)
})

test('callbacks without the right signature are refused and stay so; with it they are processed', async () => {
  const { advertiser_id, send, token } = await create({ algorithm: 'md5', of: '{oid}-{click_id}-{secret}', encoding: 'hex', parameter: 'sig', header: null }) // prettier-ignore
  const clickId = '00000000-0000-7000-8000-000000000000'
  const query = `click_id=${clickId}&oid=7`
  for (const sig of ['', '&sig=', `&sig=${md5('7-x-sesame')}`, `&sig=${md5(`7-${clickId}-other`)}`]) {
    const answer = await send(query + sig)
    assert.deepEqual([answer.status, answer.outcome, answer.reason], [401, 'refused', 'wrong_signature'], sig)
  }
  assert.equal((await send(`${query}&sig=${md5(`7-${clickId}-sesame`)}`)).outcome, 'unmatched')
  const [kept] = await listCalls(world.database.db, { advertiserId: advertiser_id, outcome: 'refused' }, 1)
  assert.ok(kept !== undefined && !JSON.stringify(kept).includes(token))
  await setCallSignature(world.database.db, TESTER, SECRET_KEY, advertiser_id, null)
  assert.equal((await send(query)).outcome, 'unmatched', 'signatures are no longer checked')
  const again = await reprocessCall(world.database.db, callOf(kept), { countryOf: () => null })
  assert.deepEqual([again.outcome, again.message.startsWith('The signature was missing or wrong')], ['refused', true])
})

test('a header may have it, over all parameters in order', async () => {
  const { send, token } = await create({ algorithm: 'hmac-sha256', of: '{sorted_query}', encoding: 'hex', parameter: null, header: 'X-Hash' }) // prettier-ignore
  const clickId = '00000000-0000-7000-8000-000000000000'
  const sorted = `a=1+2&click_id=${clickId}&token=${token}`
  const hash = createHmac('sha256', 'sesame').update(sorted).digest('hex')
  assert.equal((await send(`click_id=${clickId}&a=1%202`, { 'x-hash': hash })).outcome, 'unmatched')
  assert.equal((await send(`click_id=${clickId}&a=1%203`, { 'x-hash': hash })).reason, 'wrong_signature')
})

test('a signature in base64 is known with its + as it is, encoded, or read as a space', async () => {
  const { send } = await create({ algorithm: 'md5', of: '{secret}{oid}', encoding: 'base64', parameter: 'sig', header: null }) // prettier-ignore
  const signOf = (oid: number) => createHash('md5').update(`sesame${oid}`).digest('base64')
  const withPlus = (at: (sign: string) => boolean) => Array.from({ length: 10_000 }, (_, oid) => oid).find((oid) => at(signOf(oid))) ?? assert.fail() // prettier-ignore
  for (const oid of [withPlus((sign) => sign.startsWith('+')), withPlus((sign) => sign.indexOf('+') > 0)])
    for (const sig of [signOf(oid), encodeURIComponent(signOf(oid)), signOf(oid).replaceAll('+', '%20')])
      assert.equal((await send(`txn_id=${oid}&oid=${oid}&sig=${sig}`)).outcome, 'unmatched', sig)
  assert.equal((await send(`txn_id=1&oid=1&sig=${signOf(2)}`)).reason, 'wrong_signature')
})

test('the secret is stored encrypted, follows a new SECRET_KEY, and is shown nowhere', async () => {
  const { advertiser_id, owner } = await create(URL_SIGNED, 'a-secret-of-theirs')
  const { db } = world.database
  const NEXT = 'n'.repeat(40)
  const { signature_secret } = await db.selectFrom('advertisers').select('signature_secret').where('advertiser_id', '=', advertiser_id).executeTakeFirstOrThrow() // prettier-ignore
  assert.ok(!signature_secret?.includes('a-secret-of-theirs'))
  assert.ok(!('signature_secret' in (await getAdvertiser(db, advertiser_id))))
  const log = await db
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'advertiser.set_signature')
    .execute()
  assert.ok(!JSON.stringify(log).includes('a-secret-of-theirs'))
  assert.ok((await resealCallSecrets(db, joinKeys(NEXT, [SECRET_KEY]))).resealed > 0)
  const hash = createHmac('sha1', 'a-secret-of-theirs').update('https://x/?a=1').digest('hex')
  assert.equal(isSigned(NEXT, advertiser_id, await owner(), { url: `https://x/?a=1&hash=${hash}`, parameters: new Map([['hash', [hash]]]), headers: {} }), true) // prettier-ignore
})

test('what is wrong with a signature is said', async () => {
  const { advertiser_id } = await create(URL_SIGNED)
  const attempt = (change: Partial<CallSignature>, secret = 'x') => setCallSignature(world.database.db, TESTER, SECRET_KEY, advertiser_id, { signature: { ...URL_SIGNED, ...change }, secret }) // prettier-ignore
  await assert.rejects(attempt({ algorithm: 'md5', of: '{url}' }), /Add \{secret\} to the signed text/)
  await assert.rejects(attempt({ algorithm: 'md5', of: '{secret}' }), /Add a parameter such as/)
  await assert.rejects(attempt({ header: 'X-A' }), /either the parameter or the header/)
  await assert.rejects(attempt({ parameter: 'a b' }), /not a valid parameter name/)
  await assert.rejects(attempt({}, ' '), /The secret must have 1 to 500 characters/)
})
