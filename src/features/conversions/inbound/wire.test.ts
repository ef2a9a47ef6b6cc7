// The advertisers' door over a raw socket: requests that no ordinary client sends. What is acknowledged is recorded, once;
// nothing is a fault of ours, and nothing keeps a connection waiting that has said all it meant to say.
import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { useWorld } from '../../../../test/world.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { callOf, listCalls } from './calls.ts'
import { reprocessCall } from './confirm.ts'

let port: number
let live: IssuedCredentials
let offerId: number
const world = useWorld('wire', async () => {
  live = (await world.createApp()).live
  offerId = (await world.createOffers({}))[0] ?? 0
  await world.app.server.listen({ host: '127.0.0.1', port: 0 })
  port = (world.app.server.server.address() as AddressInfo).port
})

let users = 0
/** A click of a new user, with the parameters that confirm it. */
async function newClick() {
  const { clickId } = await world.click(offerId, live, `userId=wire${users++}`)
  const sent = { click_id: clickId, token: world.tokenOf(offerId) }
  return { clickId, sent, query: new URLSearchParams(sent).toString(), json: JSON.stringify(sent) }
}

/** All that the server answers on one connection to exactly these bytes, one piece after the other. */
function speak(...pieces: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = ''
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.setEncoding('latin1').on('data', (chunk: string) => (heard += chunk))
    socket.on('close', () => resolve(heard)).on('error', reject)
    const next = () => {
      const piece = pieces.shift()
      if (piece !== undefined) socket.write(piece, () => setImmediate(next))
    }
    next()
  })
}

const statusesOf = (heard: string) => [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
const outcomesOf = (heard: string) => [...heard.matchAll(/"outcome":"(\w+)"/g)].map(([, outcome]) => outcome)
const HOST = 'Host: offers.test\r\n'
const CLOSE = `${HOST}Connection: close\r\n`
const post = (headers: string, body = '', query = '') =>
  `POST /postback${query} HTTP/1.1\r\n${CLOSE}${headers}\r\n${body}`
const sized = (body: string | Buffer, query = '', headers = '') =>
  Buffer.concat([
    Buffer.from(post(`${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`, '', query)),
    Buffer.from(body),
  ])

/** How many conversions there are of each click. */
async function countOf(...clickIds: string[]): Promise<number[]> {
  const rows = await world.database.db
    .selectFrom('conversions')
    .select('click_id')
    .where('click_id', 'in', clickIds)
    .execute()
  return clickIds.map((id) => rows.filter((row) => row.click_id === id).length)
}

test('a body in chunks, with extensions and trailers, in one piece or byte by byte, is read', async () => {
  const chunk = (text: string) => `${text.length.toString(16)};name="a b"\r\n${text}\r\n`
  for (const isSlow of [false, true]) {
    const { clickId, json } = await newClick()
    const body = `${chunk(json.slice(0, 9))}${chunk(json.slice(9))}0\r\nX-Trailer: click_id=other\r\nToken: x\r\n\r\n`
    const text = post('Transfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n', body)
    const heard = await speak(...(isSlow ? text.split('') : [text]))
    assert.deepEqual([statusesOf(heard), outcomesOf(heard)], [[200], ['approved']], heard)
    assert.deepEqual(await countOf(clickId), [1])
  }
})

test('chunks that are none, or come beside a length, confirm nothing', async () => {
  const { clickId, json } = await newClick()
  const whole = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`
  for (const text of [
    post('Transfer-Encoding: chunked\r\n', 'zz\r\n'),
    post('Transfer-Encoding: chunked\r\n', `-1\r\n${json}\r\n0\r\n\r\n`),
    post('Transfer-Encoding: chunked\r\n', `fffffffffffffffff\r\n${json}`),
    post(`Transfer-Encoding: chunked\r\nContent-Length: ${whole.length}\r\n`, whole),
    post(`Content-Length: ${json.length}\r\nContent-Length: 3\r\n`, json),
    post('Content-Length: -5\r\n', json),
    post('Content-Length: 5, 5\r\n', json),
    post('Content-Length: 0x10\r\n', json),
    post('Transfer-Encoding: gzip, chunked, identity\r\n', whole),
    post('Transfer-Encoding: identity\r\n', json),
  ]) {
    const heard = await speak(text)
    assert.ok(
      statusesOf(heard).every((status) => status >= 400 && status < 500),
      heard,
    )
    assert.deepEqual(outcomesOf(heard).filter((outcome) => outcome === 'approved'), []) // prettier-ignore
  }
  assert.deepEqual(await countOf(clickId), [0])
})

test('a length that is too short ends the call there; one that is too long confirms nothing when the caller leaves', async () => {
  const [short, long] = [await newClick(), await newClick()]
  const cut = await speak(post(`Content-Length: ${short.json.length - 5}\r\n`, short.json))
  assert.ok(!cut.includes('approved') && statusesOf(cut).every((status) => status === 400 || status === 401), cut)
  const socket = connect(port, '127.0.0.1')
  socket.write(post(`Content-Length: ${long.query.length + 10}\r\n`, long.query), () => socket.end())
  let heard = ''
  for await (const chunk of socket.setEncoding('latin1')) heard += String(chunk)
  assert.ok(!heard.includes('approved'), heard)
  assert.deepEqual(await countOf(short.clickId, long.clickId), [0, 0])
})

test('pipelined requests are answered in order, each with its own response', async () => {
  const clicks = await Promise.all(Array.from({ length: 12 }, newClick))
  const requests = clicks.map(({ query, json }, i) =>
    i % 3 === 0
      ? `GET /postback?${query}&txn_id=p${i} HTTP/1.1\r\n${HOST}\r\n`
      : i % 3 === 1
        ? `POST /postback HTTP/1.1\r\n${HOST}Content-Length: ${json.length}\r\n\r\n${json}`
        : `POST /postback HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
  )
  const heard = await speak(`${requests.join('')}GET /postback?last HTTP/1.1\r\n${CLOSE}\r\n`)
  assert.deepEqual(statusesOf(heard), [...clicks.map(() => 200), 401])
  const made = await world.database.db.selectFrom('conversions').select(['conversion_id', 'click_id']).execute()
  const answered = [...heard.matchAll(/"conversion_id":"([\da-f-]+)"/g)].map(([, id]) => made.find((row) => row.conversion_id === id)?.click_id) // prettier-ignore
  assert.deepEqual(answered, clicks.map(({ clickId }) => clickId)) // prettier-ignore
})

test('a GET with a body, an Expect, an Upgrade, HTTP/1.0 and no Host are calls like any other', async () => {
  const ways: ((query: string, json: string) => string)[] = [
    (query) => `GET /postback?${query} HTTP/1.1\r\n${CLOSE}Content-Length: 9\r\n\r\nclick_id=`,
    (_, json) => post(`Expect: 100-continue\r\nContent-Length: ${json.length}\r\n`, json),
    (_, json) => post(`Expect: something-else\r\nContent-Length: ${json.length}\r\n`, json),
    (query) => `GET /postback?${query} HTTP/1.1\r\n${HOST}Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n`,
    (query) => `GET /postback?${query} HTTP/1.0\r\n\r\n`,
    (query) => `GET /postback?${query}\r\n\r\n`,
    (query) => `GET /postback?${query} HTTP/1.1\r\nConnection: close\r\n\r\n`,
    (query) => `GET /postback?&&=&${query}&%&%zz=%&x=%c3%28&%00 HTTP/1.1\r\n${CLOSE}\r\n`,
  ] // prettier-ignore
  for (const [i, way] of ways.entries()) {
    const { clickId, query, json } = await newClick()
    const heard = await speak(way(query, json))
    assert.deepEqual([statusesOf(heard).at(-1), outcomesOf(heard)], [200, ['approved']], `${i}: ${heard}`)
    assert.deepEqual(await countOf(clickId), [1])
  }
})

test('a caller that waits for 100 Continue gets it', async () => {
  const { clickId, json } = await newClick()
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(post(`Expect: 100-continue\r\nContent-Length: ${json.length}\r\n`))
  let heard = ''
  for await (const chunk of socket) {
    heard += String(chunk)
    if (heard === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(json)
  }
  assert.deepEqual(statusesOf(heard), [100, 200])
  assert.deepEqual(await countOf(clickId), [1])
})

test('two Hosts, huge headers, a huge query and bytes that are no HTTP are refused, and confirm nothing', async () => {
  const { clickId, query } = await newClick()
  for (const text of [
    `GET /postback?${query} HTTP/1.1\r\n${CLOSE}${HOST}\r\n`,
    `GET /postback?${query} HTTP/1.1\r\n${CLOSE}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    `GET /postback?${query}&x=${'x'.repeat(20_000)} HTTP/1.1\r\n${CLOSE}\r\n`,
    `GET /postback?${query} HTTP/1.1\r\n${CLOSE}${Array.from({ length: 3_000 }, (_, i) => `a${i}: 1\r\n`).join('')}\r\n`,
    `GET /postback?${query}&x=\xff\xfe HTTP/1.1\r\n${CLOSE}\r\n`,
    `GET /postback?${query} HTTP/9.9\r\n${CLOSE}\r\n`,
    `GET /postback?${query} HTTP/1.1\r\n${CLOSE}X-A : b\r\n\r\n`,
    `GET /postback?${query} HTTP/1.1\r\n${CLOSE}X-A: b\rX-C: d\r\n\r\n`,
    `get /postback?${query} HTTP/1.1\r\n${CLOSE}\r\n`,
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ]) {
    const heard = await speak(Buffer.from(text, 'latin1'))
    assert.deepEqual(statusesOf(heard), [400], text.slice(0, 300))
  }
  assert.deepEqual(await countOf(clickId), [0])
})

test('a form of thousands of pairs, deep JSON, a compressed body and broken text are invalid, not a server error', async () => {
  const { clickId, sent, query } = await newClick()
  const token = `?token=${sent.token}`
  for (const [body, status, headers = ''] of [
    [`${query}&${'a=1&'.repeat(1_500)}`, 400],
    ['a&'.repeat(4_000), 400],
    [`${query}${'&x=1'.repeat(50_000)}`, 413],
    [`{"click_id":${'['.repeat(4_000)}${']'.repeat(4_000)}}`, 400],
    ['{"a":'.repeat(1_600), 400],
    [`[${JSON.stringify(sent)}]`, 400],
    ['null', 400],
    [gzipSync(JSON.stringify(sent)), 415, 'Content-Encoding: gzip\r\n'],
    [Buffer.from([0xff, 0xfe, 0x00, 0xd8]), 400],
    [Buffer.concat([Buffer.from(`click_id=${clickId}&txn_id=`), Buffer.from([0xc3, 0x28])]), 400],
    [`click_id=${clickId}&txn_id=%c3%28`, 400],
    [`click_id=${clickId}&txn_id=%00`, 400],
    [`{"click_id":"${clickId}","txn_id":"\\ud800"}`, 400],
    ['\0'.repeat(100), 400],
  ] as [string | Buffer, number, string?][]) {
    const heard = await speak(sized(body, token, headers))
    assert.deepEqual(
      [statusesOf(heard), outcomesOf(heard)],
      [[status], ['invalid']],
      `${String(body).slice(0, 60)}: ${heard}`,
    )
  }
  assert.deepEqual(await countOf(clickId), [0])
  const { n } = await world.database.db.selectFrom('inbound_calls').select((is) => is.fn.countAll<number>().as('n')).where('outcome', '=', 'invalid').executeTakeFirstOrThrow() // prettier-ignore
  assert.equal(n, 14, 'each is in the log')
})

test('of a compressed body it is said that it is, to the caller and in the log; its query alone confirms nothing', async () => {
  const { db } = world.database
  for (const [coding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    const { clickId, sent, query, json } = await newClick()
    const headers = `Content-Encoding: ${coding}\r\n`
    const inQuery = await speak(sized(compress('status=rejected'), `?${query}`, headers))
    const inBody = await speak(sized(compress(json), '', headers))
    for (const heard of [inQuery, inBody]) assert.match(heard, /415[^]*The body is compressed\. Send it uncompressed, without Content-Encoding\./) // prettier-ignore
    assert.deepEqual([...outcomesOf(inQuery), ...outcomesOf(inBody)], ['invalid', 'refused'])
    const open = (await listCalls(db, { isOpen: true, outcome: 'invalid' }, 50)).filter((row) => row.query.includes(clickId)) // prettier-ignore
    assert.deepEqual(open.map(({ body, reason }) => [body, reason?.slice(0, 23)]), [[`(compressed: ${coding})`, 'The body is compressed.']]) // prettier-ignore
    for (const row of open)
      assert.match((await reprocessCall(db, callOf(row), { countryOf: () => null })).message, /is compressed/)
    const [strangers] = await listCalls(db, { outcome: 'refused' }, 1)
    assert.deepEqual([strangers?.reason, strangers?.advertiser_id], ['compressed', null])
    assert.deepEqual(await countOf(clickId), [0])
    const plain = await speak(sized(JSON.stringify(sent), '', headers))
    assert.deepEqual([statusesOf(plain), outcomesOf(plain)], [[200], ['approved']], 'called so, but sent as it is')
  }
})

test('callers that leave in the middle of a body, or before the response, harm no other caller', async () => {
  const [left, whole] = [await newClick(), await newClick()]
  const leave = (text: string) =>
    new Promise<void>((done) => {
      const socket = connect(port, '127.0.0.1')
        .on('error', () => {})
        .on('close', () => done())
      socket.write(text, () => socket.resetAndDestroy())
    })
  const half = post('Content-Length: 5000\r\n', left.json.slice(0, 20))
  await Promise.all(Array.from({ length: 30 }, () => leave(half)))
  const full = `GET /postback?${whole.query}&txn_id=once HTTP/1.1\r\n${HOST}\r\n`
  await Promise.all(Array.from({ length: 30 }, () => leave(full)))
  const heard = await speak(full.replace(HOST, CLOSE))
  assert.equal(statusesOf(heard)[0], 200)
  assert.deepEqual(await countOf(left.clickId, whole.clickId), [0, 1])
})
