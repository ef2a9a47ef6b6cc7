// Signatures by the client: it takes the postbacks that we sign and no others, and the server takes the users it signs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidPostbackError, signWallUser, verifyPostback, verifySignedUrl } from '../../client/src/index.ts'
import { findProblem } from '../../client/src/postbacks.ts'
import { rotateSigningSecret } from '../../src/features/apps/signing-secrets.ts'
import { buildRequest } from '../../src/features/postbacks/message.ts'
import { DEFAULTS } from '../../src/features/postbacks/settings.ts'
import { EXAMPLE_VALUES } from '../../src/features/postbacks/template.ts'
import { until } from '../installation.ts'
import { createVectors } from '../postback-vectors.ts'
import { TESTER } from '../tester.ts'
import { createWallVectors } from '../wall-vectors.ts'
import { SECRET_KEY } from '../world.ts'
import { useServed } from './served.ts'

const { world, url } = useServed('client_signing')
const NOW = new Date(1_794_719_785_000)
const SECRET = `whsec_${Buffer.from('the signing secret of an app, 32').toString('base64')}`

test('the client judges the test vectors of postbacks as the server does', async () => {
  for (const { name, proof, secrets, headers, content, now, expect } of createVectors()) {
    const isOurs =
      proof === 'headers'
        ? (await findProblem({ headers, body: content, secrets, now: new Date(now * 1_000) })) === null
        : await verifySignedUrl({ url: content, secrets }).then(() => true, (error) => !(error instanceof InvalidPostbackError)) // prettier-ignore
    assert.equal(isOurs ? 'ok' : 'wrong', expect, name)
  }
})

const send = (method: 'GET' | 'POST', template: string) => {
  const data = { user_id: 'Zoë & co', status: 'approved', payout_local: 12.5 }
  const body = { id: 'evt-1', type: 'conversion.approved', created_at: NOW.toISOString(), sequence: 1, data }
  const macros = { ...EXAMPLE_VALUES, user_id: 'Zoë & co' }
  return buildRequest({ body, macros }, { ...DEFAULTS, method, url: template }, [SECRET], NOW)
}

test('a POST as we send it gives its event, whichever way a framework holds headers and body', async () => {
  const { headers, body } = send('POST', 'https://example.com/hook')
  const text = body ?? ''
  const upperCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
  for (const given of [headers, new Headers(headers), upperCase])
    for (const raw of [text, Buffer.from(text), new TextEncoder().encode(text).buffer]) {
      const event = await verifyPostback({ headers: given, body: raw, secrets: SECRET, now: NOW })
      assert.deepEqual([event.id, event.type, event.data.user_id], ['evt-1', 'conversion.approved', 'Zoë & co'])
    }
})

test('a GET as we send it gives its parameters, by the headers or by {signature}', async () => {
  const template = 'https://example.com/cb?user={user_id}&tx={transaction_id}&sig={signature}'
  const { url: sent, headers } = send('GET', template)
  const byHeaders = await verifyPostback({ headers, url: sent, secrets: [SECRET], now: NOW })
  const bySignature = await verifySignedUrl({ url: sent, secrets: SECRET })
  for (const parameters of [byHeaders, bySignature]) assert.equal(parameters.get('user'), 'Zoë & co')
})

test('a postback that is not ours says why, and what you gave wrongly is another error', async () => {
  const { headers, body } = send('POST', 'https://example.com/hook')
  const good = { headers, body: body ?? '', secrets: SECRET, now: NOW }
  const reasonOf = (given: Partial<typeof good>) =>
    verifyPostback({ ...good, ...given }).then(
      () => 'ok',
      (error: unknown) => (error instanceof InvalidPostbackError ? error.reason : (error as Error).name),
    )
  assert.equal(await reasonOf({}), 'ok')
  assert.equal(await reasonOf({ headers: {} }), 'missing_headers')
  assert.equal(await reasonOf({ now: new Date(NOW.getTime() + 301_000) }), 'stale')
  assert.equal(await reasonOf({ now: new Date(Number.NaN) }), 'stale')
  assert.equal(await reasonOf({ body: `${good.body} ` }), 'wrong_signature')
  assert.equal(await reasonOf({ body: JSON.parse(good.body) as string }), 'TypeError')
  // The body is signed, and what the URL says is not.
  assert.equal(await reasonOf({ url: 'https://example.com/hook?reward=1000000' } as object), 'TypeError')
  for (const secrets of [
    '',
    'whsec_',
    'whsec_AAAA',
    SECRET.replace('whsec_', ''),
    [] as never,
    undefined as never,
    `${SECRET}\n`,
  ])
    assert.equal(await reasonOf({ secrets }), 'TypeError', JSON.stringify(secrets))
  await assert.rejects(verifyPostback({ ...good, secrets: 'whsec_very secret' }), (error: Error) => !error.message.includes('very')) // prettier-ignore
})

test('the client signs the test vectors of wall users', async () => {
  for (const { name, secret: signingSecret, api_key: apiKey, user_id: userId, expires_at, signature } of createWallVectors()) {
    const expiresAt = new Date(expires_at * 1_000)
    const signed = await signWallUser({ apiKey, signingSecret, userId, expiresAt, now: new Date(expiresAt.getTime() - 1) })
    assert.deepEqual(signed, { apiKey, userId, exp: String(expires_at), sig: signature }, name)
  } // prettier-ignore
})

test('the wall accepts a user as the client signs, also by both secrets of a rotation', async () => {
  const { appId, live } = await world.createApp()
  const look = async (signingSecret: string, other: Record<string, string> = {}) => {
    const user = await signWallUser({ apiKey: live.api_key, signingSecret, userId: 'Zoë & co\n1' })
    const query = new URLSearchParams({ ...user, ...other })
    return (await fetch(`${url()}/wall/v1/offers?${query.toString()}`)).status
  }
  assert.equal(await look(live.signing_secret), 200)
  assert.equal(await look(live.signing_secret, { userId: 'another' }), 400)
  const next = await rotateSigningSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', 60_000)
  await until(async () => (await look(next.signing_secret)) === 200)
  assert.equal(await look(live.signing_secret), 200)
})

test('a user is signed for a day at most, and never for a time that is over', async () => {
  const user = { apiKey: 'pk_live_1', signingSecret: SECRET, userId: 'u', now: NOW }
  const until = (ms: number) => signWallUser({ ...user, expiresAt: new Date(NOW.getTime() + ms) })
  assert.equal((await until(86_400_000)).exp, '1794806185')
  assert.equal((await signWallUser(user)).exp, '1794723385')
  for (const ms of [86_400_001, 0, -1, Number.NaN]) await assert.rejects(until(ms), RangeError)
  for (const wrong of [{ userId: ' ' }, { apiKey: 'sk_live_1' }, { signingSecret: 'sk_live_1' }])
    await assert.rejects(signWallUser({ ...user, ...wrong }), TypeError)
})
