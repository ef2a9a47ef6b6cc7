// Dialects of postbacks through the management API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { PLAIN } from '../../../features/postbacks/dialect.ts'
import { readSettings } from '../../../features/postbacks/settings.ts'
import type { PostbackSettingsReply, Preview } from './schema.ts'

const world = useWorld('manage_dialects')
const { createOwned, auditOfPublisher } = createOwnedApps(world)
type Settings = Static<typeof PostbackSettingsReply>

const SECRET = 'known to the receiver alone'
const URL_OF = 'https://example.com/cb?u={user_id}&t={transaction_id}&s={status}&sig={signature}'
const SIGNATURE = { algorithm: 'md5', of: '{user_id}{transaction_id}{reward}{secret}' }
const DIALECT = { statuses: { approved: '1', reversed: '2' }, answers: ['OK', 'DUP'], signature: SIGNATURE }

test('a dialect is saved whole, shown without the secret, kept by later saves, and removed', async () => {
  const { visitor, base, appId, publisherId } = await createOwned('publisher_developer')
  const saved = await visitor.put<Settings>(`${base}/postback`, { url: URL_OF, success: 'body', dialect: DIALECT, receiver_secret: SECRET }) // prettier-ignore
  assert.equal(saved.status, 200, saved.text)
  const { settings } = (await visitor.get<Settings>(`${base}/postback`)).data
  assert.deepEqual(settings?.dialect, { ...PLAIN, ...DIALECT, signature: { ...SIGNATURE, encoding: 'hex', header: null } }) // prettier-ignore
  assert.equal(settings?.has_receiver_secret, true)
  await visitor.put(`${base}/postback`, { url: URL_OF, timeout_ms: 3_000 })
  const kept = await readSettings(world.database.db, SECRET_KEY, appId)
  assert.deepEqual([kept?.receiverSecret, kept?.dialect.answers, kept?.timeoutMs], [SECRET, ['OK', 'DUP'], 3_000])
  const { rows } = await world.database.pool.query(`SELECT to_jsonb(s)::text AS text FROM postback_settings s`)
  const traces = [SECRET, Buffer.from(SECRET).toString('hex')]
  const entries = JSON.stringify(await auditOfPublisher(publisherId))
  for (const trace of traces)
    assert.ok(![saved.text, entries, JSON.stringify(rows), world.logged.join('\n')].some((one) => one.includes(trace)))
  assert.match(entries, /"signature":"md5"/)
  await visitor.put(`${base}/postback`, { url: URL_OF, dialect: {} })
  const plain = await readSettings(world.database.db, SECRET_KEY, appId)
  assert.deepEqual([plain?.dialect, plain?.receiverSecret], [PLAIN, null])
})

test('every problem stands at its field', async () => {
  const { visitor, base } = await createOwned()
  const refused = async (body: object) => {
    const { status, error } = await visitor.put(`${base}/postback`, { url: URL_OF, receiver_secret: SECRET, ...body })
    assert.equal(status, 400)
    return error.details ?? {}
  }
  const signed = (given: object) => refused({ dialect: { ...DIALECT, signature: { ...SIGNATURE, ...given } } })
  assert.match((await signed({ of: '{reward}' }))['dialect.signature.of'] ?? '', /anyone could sign/)
  assert.match((await signed({ algorithm: 'crc32' }))['dialect.signature.algorithm'] ?? '', /one of: md5/)
  assert.match((await signed({ header: 'Host' }))['dialect.signature.header'] ?? '', /reserved/)
  assert.match((await refused({ dialect: { answers: [' OK'] } }))['dialect.answers'] ?? '', /without spaces/)
  assert.match((await refused({ dialect: { statuses: { paid: '1' } } }))['dialect.statuses.paid'] ?? '', /spelling/)
  assert.match((await refused({ dialect: DIALECT, events: ['pending'] }))['events'] ?? '', /word for pending/)
  assert.match((await refused({ dialect: DIALECT, receiver_secret: undefined }))['receiver_secret'] ?? '', /Enter the secret/) // prettier-ignore
})

test('what is signed with the secret does not follow the URL to another server', async () => {
  const { visitor, base } = await createOwned()
  await visitor.put(`${base}/postback`, { url: URL_OF, dialect: DIALECT, receiver_secret: SECRET })
  const elsewhere = URL_OF.replace('example.com', 'evil.example')
  const { status, error } = await visitor.put(`${base}/postback`, { url: elsewhere })
  assert.deepEqual([status, Object.keys(error.details ?? {})], [400, ['receiver_secret']])
  assert.equal((await visitor.put(`${base}/postback`, { url: elsewhere, receiver_secret: 'another' })).status, 200)
})

test('a preview is the whole request as the receiver sees it, signed with a sample secret', async () => {
  const { visitor, base } = await createOwned()
  const { presets } = (await visitor.get<Settings>(`${base}/postback`)).data
  assert.equal(presets.length, 6)
  for (const { query, preset, title: _t, about: _a, success: _s, ...filled } of presets) {
    const body = { ...filled, url: `https://example.com/cb.php?${query}`, status: 'reversed' }
    const { data, text } = await visitor.post<Static<typeof Preview>>(`${base}/postback/preview`, body)
    assert.deepEqual(data.errors, [], text)
    const { request } = data
    assert.ok(request?.signed_text?.includes(preset === 'sorted-query' ? 'status=rejected&' : 'example-secret'))
    assert.ok(request?.headers.some(({ name }) => name === 'webhook-signature'))
    assert.deepEqual(request?.parameters, [...new URL(request?.url ?? '').searchParams].map(([name, value]) => ({ name, value }))) // prettier-ignore
  }
  const wrong = await visitor.post<Static<typeof Preview>>(`${base}/postback/preview`, { url: URL_OF, dialect: { ...DIALECT, signature: { ...SIGNATURE, of: '{x}' } } }) // prettier-ignore
  assert.deepEqual([wrong.data.request, wrong.data.errors.length], [null, 2])
})
