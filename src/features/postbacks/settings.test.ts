import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  after,
  claimDue,
  HOUR,
  createLane,
  NOW,
  putPostback,
  readLane,
  readPostback,
  setLane,
} from '../../../test/postback-world.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { pauseLane } from './lanes.ts'
import { replayPostback } from './replay-postback.ts'
import { siftQueues } from './sift.ts'
import { OperatorError } from '../../errors.ts'
import { createAddressGuard } from './address-guard.ts'
import {
  checkSettings,
  DEFAULTS,
  openLane,
  type PostbackSettings,
  readAllSettings,
  readSettings,
  removeSettings,
  saveSettings,
} from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const GOOD = 'https://example.com/cb?u={user_id}&t={transaction_id}&s={status}&x={is_test}'
const guard = createAddressGuard({ allow: [], deny: [], allowLoopback: false })
const world = useWorld('settings')

const check = (given: Partial<PostbackSettings>) => checkSettings({ ...DEFAULTS, url: GOOD, ...given }, guard)
const messagesOf = ({ problems }: ReturnType<typeof checkSettings>) => problems.map(({ message }) => message).join(' ')
const errorsOf = (given: Partial<PostbackSettings>) => messagesOf(check(given))
const withHeader = (name: string, value = 'x') => errorsOf({ headers: { [name]: value } })
const save = (appId: number, given: Partial<PostbackSettings> = {}) =>
  saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: GOOD, ...given })

test('plain settings have neither problems nor warnings', () => {
  assert.deepEqual(check({}), { problems: [], warnings: [] })
  assert.deepEqual(check({ method: 'POST', url: 'https://example.com/' }), { problems: [], warnings: [] })
  const headers = { Authorization: 'Bearer a.b-c~d', 'X-Key': '"\\{}\t~', cookie: '', "!#$%&'*+.^_`|~9": 'odd' }
  assert.deepEqual(errorsOf({ headers }), '')
})

const FORBIDDEN = `host content-length content-type transfer-encoding connection keep-alive upgrade te trailer expect
  proxy-connection accept-encoding webhook-id webhook-timestamp webhook-signature webhook- webhook-anything`

test('headers that are ours to set are refused, in any case', () => {
  for (const name of FORBIDDEN.split(/\s+/))
    for (const spelled of [name, name.toUpperCase(), name.replace(/\w/, (c) => c.toUpperCase())])
      assert.match(withHeader(spelled), /cannot be set/, spelled)
})

test('the name of a header is a token: nothing in it can end a line or hide a forbidden name', () => {
  const names = [
    '',
    ' ',
    'a b',
    'a:',
    'a:b',
    'a\r\nHost',
    'a\n',
    '\na',
    'a\0',
    'é',
    'ｈｏｓｔ',
    'host ',
    ' host',
    'host\t',
  ]
  for (const name of [...names, 'host:', '"a"', '(a)', 'a,b', 'a/b', 'a@b', 'a[b]', 'a{b}', 'a'.repeat(101)])
    assert.match(withHeader(name), /is not a valid header name/, JSON.stringify(name))
  assert.equal(withHeader('a'.repeat(100)), '')
})

test('the value of a header is printable ASCII: no line can be added to the request', () => {
  const values = ['a\r\nX-Evil: 1', 'a\n', '\n', '\r', 'a\0', '\x7f', '\x1b[0m', 'é', '😀', '\u2028', '\u0085', '\x0b']
  for (const value of [...values, 'x'.repeat(1_001)]) assert.match(withHeader('X-A', value), /printable ASCII/, value)
  assert.equal(withHeader('X-A', 'x'.repeat(1_000)), '')
})

test('whatever passes is one line each, and not ours', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (headers) => {
      if (errorsOf({ headers }) !== '') return
      for (const [name, value] of Object.entries(headers)) {
        assert.match(`${name}: ${value}`, /^[\x21-\x7e]+: [\t\x20-\x7e]*$/)
        assert.doesNotThrow(() => new Headers([[name, value]]))
      }
    }),
  )
})

test('a header can be given once, however it is spelled, and twenty at most', () => {
  assert.match(errorsOf({ headers: { 'X-Key': 'a', 'x-key': 'b' } }), /only once/)
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'x']))
  assert.equal(errorsOf({ headers: many(20) }), '')
  assert.match(errorsOf({ headers: many(21) }), /at most 20/)
})

test('all problems are reported at once', () => {
  const { problems } = check({ events: [], timeoutMs: 1, url: 'https://{user_id}.example/', headers: { host: 'a\n' } })
  const fields = problems.map(({ field }) => field)
  assert.deepEqual(fields, ['url', 'events', 'timeout_ms', 'headers', 'headers'])
})

test('macros in front of the path are refused', () => {
  for (const url of [
    'https://{user_id}/',
    'https://{user_id}.example.com/',
    'https://example.com{user_id}/',
    'https://example.com:{offer_id}/',
    'https://example.com:80{offer_id}/',
    'https://{user_id}@example.com/',
    '{aff_sub}://example.com/',
    '{aff_sub}',
    'http{aff_sub}://example.com/',
    'https:{aff_sub}//example.com/',
  ])
    assert.match(errorsOf({ url }), /Macros are allowed only in the path and the query/, url)
  assert.equal(errorsOf({ url: 'https://example.com/{user_id}?{aff_sub}={status}&t={transaction_id}' }), '')
})

const PRIVATE = `127.0.0.1 127.1 127.0.1 0x7f.1 0x7F000001 2130706433 017700000001 0177.0.0.1 127.0.0.1. 0 0.0.0.0 ①②⑦.0.0.1
  %31%32%37.0.0.1 127。0。0。1 localhost LOCALHOST localhost. a.localhost a.b.localhost. ⓛocalhost [::1] [0:0:0:0:0:0:0:1]
  [::] [::ffff:7f00:1] [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] [fd00:ec2::254] 169.254.169.254 0xa9fea9fe
  0xa9.0xfe.0xa9.0xfe 2852039166 10.0.0.1 10.1 192.168.0.1 192.168.1 172.16.0.1 172.31.255.255 100.64.0.1 [fe80::1]
  [fc00::1] [2002:7f00:1::] [2001::1] 224.0.0.1 [ff02::1] 255.255.255.255 203.0.113.9 198.18.0.1 240.0.0.1`

test('an IP address that is not public is refused when it is saved, in every spelling', () => {
  for (const host of PRIVATE.split(/\s+/))
    for (const url of [`https://${host}/{transaction_id}/{status}`, `HTTP:\\\\${host}:8080?{transaction_id}&{status}`])
      assert.match(errorsOf({ url }), /not a public IP address/, url)
})

test('a URL must be http or https, complete, and without a password', () => {
  for (const url of ['', '/', 'example.com', 'ftp://example.com/', 'javascript:1', 'file:///etc/passwd', 'https://'])
    assert.match(errorsOf({ url }), /https:\/\/ or http:\/\//, url)
  assert.match(errorsOf({ url: 'https://user:secret@example.com/' }), /password/)
  assert.match(errorsOf({ url: 'https://example.com:0/' }), /Port 0/)
  assert.match(errorsOf({ url: `https://example.com/${'x'.repeat(2_000)}` }), /at most 2000/)
})

test('what the operator allows can be saved, and what is denied cannot', () => {
  const own = createAddressGuard({ allow: ['10.0.0.0/8'], deny: ['93.184.216.34'], allowLoopback: false })
  const errors = (host: string) => messagesOf(checkSettings({ ...DEFAULTS, url: `https://${host}/` }, own))
  assert.equal(errors('10.1.2.3'), '')
  assert.match(errors('93.184.216.34'), /denies/)
  assert.match(errors('0x5db8d822'), /denies/)
})

test('a wrong macro is refused with the right one, and a template that loses money is warned of', () => {
  assert.match(errorsOf({ url: 'https://example.com/?u={userid}' }), /\{user_id\}/)
  const warnings = (given: Partial<PostbackSettings>) => check(given).warnings.join(' ')
  assert.match(warnings({ url: 'https://example.com/?s={status}' }), /credited twice/)
  assert.match(warnings({ url: 'https://example.com/?s={status}&c={conversion_id}' }), /dropped as a duplicate/)
  assert.match(warnings({ url: 'https://example.com/?t={transaction_id}' }), /look like credits/)
  assert.match(warnings({ url: GOOD.replace('{user_id}', '') }), /You cannot tell which user to credit/)
  assert.match(warnings({ events: ['approved'] }), /Reversals are not sent/)
  assert.equal(warnings({ events: ['reversed'] }), '')
})

test('at least one event is required, and the timeout is 1 to 15 seconds', () => {
  assert.match(errorsOf({ events: [] }), /at least one/)
  for (const timeoutMs of [-1, 0, 999, 15_001, Infinity]) assert.match(errorsOf({ timeoutMs }), /1 to 15 seconds/)
  for (const timeoutMs of [1_000, 15_000]) assert.equal(errorsOf({ timeoutMs }), '')
})

test('settings are read as they were saved, and saving again replaces them whole', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  assert.equal(await readSettings(db, SECRET_KEY, appId), null)
  const settings: PostbackSettings = {
    ...DEFAULTS,
    method: 'POST',
    url: GOOD,
    events: ['pending', 'approved', 'rejected', 'reversed'],
    headers: { 'X-Key': 'a "secret" \\' },
    timeoutMs: 1_000,
    success: 'body',
    negativeReversals: false,
  }
  await save(appId, settings)
  assert.deepEqual(await readSettings(db, SECRET_KEY, appId), settings)
  await save(appId)
  assert.deepEqual(await readSettings(db, SECRET_KEY, appId), { ...DEFAULTS, url: GOOD })
  assert.equal((await readAllSettings(db, SECRET_KEY, [appId, 999_999])).size, 1)
})

test('headers are sealed: their values are nowhere in the table, and open for no other app or key', async () => {
  const { db, pool } = world.database
  const [own, other] = [await createLane(world), await createLane(world)]
  const secret = 'correct-horse-battery-staple'
  await save(own, { headers: { 'X-Very-Own': secret } })
  const { rows } = await pool.query<{ text: string }>(
    `SELECT to_jsonb(s)::text || encode(coalesce(headers_sealed, ''), 'escape') || encode(coalesce(headers_sealed, ''), 'base64')
       AS text FROM postback_settings s`,
  )
  const dump = rows.map(({ text }) => text).join('\n')
  const hex = Buffer.from(secret).toString('hex')
  for (const trace of [secret, hex, Buffer.from(secret).toString('base64').slice(0, 30), 'X-Very-Own'])
    assert.ok(!dump.includes(trace), trace)
  assert.equal((await readSettings(db, SECRET_KEY, own))?.headers['X-Very-Own'], secret)
  await assert.rejects(readSettings(db, `${SECRET_KEY}!`, own))
  await pool.query(
    `UPDATE postback_settings SET headers_sealed = (SELECT headers_sealed FROM postback_settings WHERE app_id = $1)
     WHERE app_id = $2`,
    [own, other],
  )
  await assert.rejects(readSettings(db, SECRET_KEY, other))
})

test('the same headers are sealed differently each time', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const sealed = async () => {
    await save(lane, { headers: { 'X-Key': 'x' } })
    const row = db.selectFrom('postback_settings').select('headers_sealed').where('app_id', '=', lane)
    return (await row.executeTakeFirstOrThrow()).headers_sealed?.toString('hex')
  }
  assert.notEqual(await sealed(), await sealed())
})

test('saving lets a paused lane go again; so does opening it', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const stuck = { paused_at: NOW, pause_reason: 'gone', failures: 9, failing_since: NOW, open_until: NOW }
  for (const mend of [() => save(lane), () => openLane(db, lane)]) {
    await setLane(db, lane, stuck)
    await mend()
    const { paused_at, pause_reason, failures, failing_since, open_until } = await readLane(db, lane)
    assert.deepEqual([paused_at, pause_reason, failures, failing_since, open_until], [null, null, 0, null, null])
  }
})

test('settings of an app that is not there are not saved; removed ones are gone', async () => {
  const { db } = world.database
  await assert.rejects(save(999_999), OperatorError)
  const lane = await createLane(world)
  assert.equal(await removeSettings(db, TESTER, lane), true)
  assert.equal(await removeSettings(db, TESTER, lane), false)
  assert.equal(await readSettings(db, SECRET_KEY, lane), null)
})

test('what is queued when the URL is removed stays queued, and is sent when there is one again', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const id = await putPostback(db, lane)
  await removeSettings(db, TESTER, lane)
  assert.deepEqual(await claimDue(db, 128, 256, NOW), [])
  assert.equal((await readPostback(db, id)).state, 'queued')
  await save(lane)
  assert.deepEqual(
    (await claimDue(db, 128, 256, NOW)).map(({ postback_id }) => postback_id),
    [id],
  )
})

test('what an operator holds stays held when a publisher saves the URL; only an operator resumes it', async () => {
  const { db } = world.database
  const pause = (appId: number) => db.transaction().execute((trx) => pauseLane(trx, TESTER, appId, NOW))
  for (const before of [null, 'failing', 'gone'] as const) {
    const lane = await createLane(world, before === null ? {} : { paused_at: NOW, pause_reason: before })
    assert.equal(await pause(lane), true)
    assert.equal(await pause(lane), false)
    await save(lane, { timeoutMs: 5_000 })
    assert.equal(await openLane(db, lane, 'publisher'), false)
    assert.equal((await readLane(db, lane)).pause_reason, 'operator')
    assert.equal(await openLane(db, lane, 'operator'), true)
    assert.equal((await readLane(db, lane)).pause_reason, null)
  }
})

test('what the app no longer wants leaves the queue, and what waited for it goes on', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  await save(lane, { events: ['pending', 'approved', 'reversed'] })
  const conversionId = uuid7(NOW.getTime())
  const pending = await putPostback(db, lane, { conversionId, status: 'pending', dueAt: after(HOUR), tries: 3 })
  const approved = await putPostback(db, lane, { conversionId, sequence: 2, status: 'approved' })
  const asked = await putPostback(db, lane, { status: 'pending', state: 'dead' })
  await replayPostback(db, TESTER, asked, null)
  await claimDue(db, 128, 256, NOW)
  assert.equal((await readPostback(db, approved)).place, 'behind')
  await save(lane, { events: ['approved', 'reversed'] })
  assert.equal(await siftQueues(db), 1)
  const row = await readPostback(db, pending)
  assert.deepEqual([row.state, row.place], ['dead', null])
  assert.match(row.last_error ?? '', /no longer asks/)
  assert.deepEqual((await claimDue(db, 128, 256, NOW)).map((one) => one.postback_id), [approved]) // prettier-ignore
  assert.equal((await readPostback(db, asked)).place, 'sending', 'a replay was asked for')
  assert.equal(await siftQueues(db), 0)
})
