import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ListenerOptions, type ReceivedPostback, startListener } from './listener.ts'
import { signMessage, signUrl } from './signing.ts'
import { EXAMPLE_VALUES, fillTemplate } from './template.ts'

const createSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const SECRET = createSecret()
const named = (name: string, secret: string) => ({ name, secret })

async function listen(t: TestContext, options: Partial<ListenerOptions> = {}) {
  const printed: string[] = []
  const listener = await startListener({
    port: 0,
    failRate: 0,
    secrets: [{ name: 'ours', secret: SECRET }],
    print: (text) => printed.push(text),
    ...options,
  })
  t.after(() => listener.close())
  return { ...listener, printed, origin: `http://127.0.0.1:${listener.port}` }
}

function headersFor(content: string, atS = Math.floor(Date.now() / 1000), secrets = [SECRET]): Record<string, string> {
  return {
    'webhook-id': 'e1',
    'webhook-timestamp': String(atS),
    'webhook-signature': signMessage(secrets, 'e1', atS, content),
  }
}

/** Sends bytes as they are, and gives back what came until the connection was closed. */
async function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: string[] = []
  socket.setEncoding('latin1').on('data', (chunk: string) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.end(bytes)
  await once(socket, 'close')
  return chunks.join('')
}

test('a GET is shown with its parameters and its signature is verified over the URL', async (t) => {
  const { origin, printed } = await listen(t)
  const template = `${origin}/cb?user={user_id}&sub={aff_sub2}&sig={signature}`
  const url = fillTemplate(template, { ...EXAMPLE_VALUES, user_id: 'Zoë & co' }, (u) => signUrl(SECRET, u))
  const answer = await fetch(url, { headers: headersFor(url) })
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), 'OK')
  assert.match(printed[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}GET \/cb\n/)
  assert.match(printed[0] ?? '', /\n {2}webhook-id +e1\n/)
  assert.match(printed[0] ?? '', /\n {2}user +Zoë & co\n {2}sub +spring sale\n/)
  assert.match(printed[0] ?? '', /\n {2}signature: verified, by ours\n {2}signature in the URL: verified\n/)

  await fetch(url.replace('spring', 'autumn'), { headers: headersFor(url) })
  assert.match(printed[1] ?? '', /signature: WRONG.*\n {2}signature in the URL: WRONG/)
})

test('a URL that a tunnel received as https is verified, too', async (t) => {
  const { port, printed } = await listen(t)
  const headers = Object.entries({ host: 'tunnel.example', ...headersFor('https://tunnel.example/cb?a=1') })
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  await sendRaw(port, `GET /cb?a=1 HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)
  assert.match(printed[0] ?? '', /signature: verified/)
})

test('a POST is shown with its body and verified over its bytes', async (t) => {
  const { origin, printed } = await listen(t, { secrets: [named('first', createSecret()), named('second', SECRET)] })
  const body = '{"id":"e1","data":{"user_id":"Zoë"}}'
  const post = (headers: Record<string, string>, sent = body) =>
    fetch(`${origin}/`, { method: 'POST', body: sent, headers })
  await post(headersFor(body))
  assert.match(printed[0] ?? '', /POST \/\n[^]*"user_id": "Zoë"[^]*signature: verified, by second\n {2}response: 200/)
  await post(headersFor(body), `${body} `)
  assert.match(printed[1] ?? '', /signature: WRONG: signed with another secret/)
  await post(headersFor(body, Math.floor(Date.now() / 1000) - 400))
  assert.match(printed[2] ?? '', /signature: WRONG: .*five minutes/)
  await post({})
  assert.match(printed[3] ?? '', /signature: WRONG: .*missing/)
})

test('without a secret nothing is checked, and the output says so', async (t) => {
  const { origin, printed } = await listen(t, { secrets: [] })
  await fetch(`${origin}/?s=${'0'.repeat(64)}`)
  assert.match(printed[0] ?? '', /signature: not checked/)
  assert.doesNotMatch(printed[0] ?? '', /WRONG|verified/)
})

test('it fails as often as it was asked to, with the status it was asked for', async (t) => {
  const draws = [0.29, 0.3, 0.99, 0]
  const { origin, printed } = await listen(t, { failRate: 0.3, failStatus: 410, random: () => draws.shift() ?? 0 })
  const statuses: number[] = []
  for (let i = 0; i < 4; i++) statuses.push((await fetch(origin)).status)
  assert.deepEqual(statuses, [410, 401, 401, 410])
  assert.match(printed[0] ?? '', /response: 410/)
  const other = await listen(t, { failRate: 1 })
  assert.equal((await fetch(other.origin)).status, 500)
})

test('a body of over 1 MiB is refused, one of 1 MiB is not, and neither fills the screen', async (t) => {
  const { port, origin, printed } = await listen(t)
  const head = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`
  assert.equal((await fetch(origin, { method: 'POST', body: 'x'.repeat(2 ** 20) })).status, 401)
  await sendRaw(port, head(2 ** 20 + 1) + 'x'.repeat(2 ** 20 + 1))
  assert.match(printed[0] ?? '', /characters more/)
  assert.match(printed[1] ?? '', /response: 413, the body is over 1 MiB/)
  for (const text of printed) assert.ok(text.length < 12_000)
})

test('rubbish neither stops it nor reaches the terminal', async (t) => {
  const { port, origin, printed } = await listen(t)
  const request = (line: string, rest = '') => `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}\r\n`
  for (const bytes of [
    randomBytes(1_000),
    'GET\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf',
    request('GET /?%zz=%ff&&=&=a?b#c'),
    request('GET http://elsewhere.example/?a=1'),
    request('OPTIONS *'),
    request('CONNECT x:1'),
    request('GET /?esc=%1b%5b31m%0a%0d%e2%80%ae'),
    request('GET /', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'),
    request(
      'GET /',
      'webhook-id: a\r\nwebhook-id: b\r\nwebhook-timestamp: 99999999999999999999\r\nwebhook-signature: ,\r\n',
    ),
    request('POST /', 'Content-Length: 6\r\n') + '{"a\u001b[',
  ])
    await sendRaw(port, bytes)
  assert.equal((await fetch(origin)).status, 401)
  assert.doesNotMatch(printed.join(''), /(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  assert.match(printed.join(''), /esc +\\u001b\[31m\\n\\u000d\\u202e\n/)
})

test('what is shown can be put in another form', async (t) => {
  const { origin, printed } = await listen(t, { describe: JSON.stringify })
  await fetch(`${origin}/cb?a=1`)
  const shown = JSON.parse(printed[0] ?? '') as ReceivedPostback
  assert.deepEqual(
    [shown.url, shown.parameters, shown.headers_verdict, shown.url_verdict, shown.answered],
    ['/cb?a=1', [['a', '1']], 'missing_headers', null, 401],
  )
})

test('closing does not wait for connections, and a taken port is an error', async (t) => {
  const { port } = await listen(t)
  await assert.rejects(startListener({ port, failRate: 0, secrets: [], print: () => {} }), { code: 'EADDRINUSE' })
  const other = await startListener({ port: 0, failRate: 0, secrets: [], print: () => {} })
  const idle = connect(other.port, '127.0.0.1')
  await once(idle, 'connect')
  await other.close()
})
