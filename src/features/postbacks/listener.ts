// A local receiver for testing postbacks: it prints each postback and whether its signature is valid, by the documented
// rules and nothing more. The content may be anything, and is printed to a terminal.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rfc3339 } from '../../lib/time.ts'
import { type Verdict, verifyMessage, verifyUrl } from './signing.ts'

const MAX_BODY_BYTES = 1024 * 1024
const MAX_SHOWN = 10_000
const UNAUTHORIZED = 401
const TOO_LONG = 413

export type ListenerOptions = {
  port: number
  /** The share of responses that are failures: 0 none, 1 all. */
  failRate: number
  /** The status of a failure. */
  failStatus?: number
  /** Without any, signatures are not checked. */
  secrets: NamedSecret[]
  print: (text: string) => void
  /** Formats a postback. */
  describe?: (postback: ReceivedPostback) => string
  random?: () => number
}

/** A signing secret, and what the output calls it. */
export type NamedSecret = { name: string; secret: string }

export type ReceivedPostback = {
  received_at: string
  method: string
  url: string
  headers: Record<string, string>
  parameters: [name: string, value: string][]
  body: string
  /** Of the headers, and of {signature} where the URL ends with one; null: there are no secrets to check them with. */
  headers_verdict: Verdict | null
  url_verdict: Verdict | null
  /** The name of the secret that signed it; null: none of them did. */
  signed_with: string | null
  answered: number
}

export async function startListener(options: ListenerOptions): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => void receive(request, response, options))
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function receive(request: IncomingMessage, response: ServerResponse, options: ListenerOptions): Promise<void> {
  response.on('error', () => {}) // the sender did not wait for the answer
  const read = await readBody(request)
  if (read === null) return
  const isFailure = (options.random ?? Math.random)() < options.failRate
  const seen = look(request, read.body, options.secrets)
  const isWrong = [seen.headers_verdict, seen.url_verdict].some((verdict) => verdict !== null && verdict !== 'ok')
  const answered = read.isCut ? TOO_LONG : isFailure ? (options.failStatus ?? 500) : isWrong ? UNAUTHORIZED : 200
  const postback = { ...seen, answered }
  options.print((options.describe ?? describePostback)(postback))
  if (read.isCut) response.setHeader('connection', 'close')
  response.writeHead(answered, { 'content-type': 'text/plain' }).end(answered === 200 ? 'OK' : 'FAILED')
}

/** The body, or as much of it as is accepted; null when the sender is gone. */
async function readBody(request: IncomingMessage): Promise<{ body: Buffer; isCut: boolean } | null> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    // The response still needs the connection when the rest of the body is not read.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      chunks.push(chunk)
      if (length > MAX_BODY_BYTES) break
    }
  } catch {
    return null
  }
  return { body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES), isCut: length > MAX_BODY_BYTES }
}

function look(request: IncomingMessage, body: Buffer, named: NamedSecret[]): Omit<ReceivedPostback, 'answered'> {
  const { method = '', url = '', headers } = request
  const now = new Date()
  const isGet = method === 'GET' || method === 'HEAD'
  // Behind a tunnel the URL that was called has https, which only the caller knows.
  const addresses = ['http', 'https'].map((scheme) => `${scheme}://${headers.host ?? ''}${url}`)
  const contents = isGet ? addresses : [body]
  const secrets = named.map(({ secret }) => secret)
  const check = (by: string[], content: string | Buffer) => verifyMessage(by, headers, content, now.getTime() / 1000)
  const verdicts = contents.map((content) => check(secrets, content))
  const signer = named.find(({ secret }) => contents.some((content) => check([secret], content) === 'ok'))
  const isChecked = secrets.length > 0
  const isUrlSigned = /=[0-9a-f]{64}$/.test(url)
  return {
    received_at: rfc3339(now),
    method,
    url,
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => name.startsWith('webhook-'))
        .map(([name, value]) => [name, String(value)]),
    ),
    parameters: [...new URLSearchParams(url.split('?').slice(1).join('?'))],
    body: body.toString(),
    headers_verdict: isChecked ? (verdicts.find((one) => one === 'ok') ?? verdicts[0] ?? 'wrong_signature') : null,
    url_verdict: isChecked && isUrlSigned ? verdictOfUrl(secrets, addresses, signer !== undefined) : null,
    signed_with: signer?.name ?? null,
  }
}

/** Where the headers, which sign the URL too, are right, it is a signature of the dialect: not ours, and not wrong. */
function verdictOfUrl(secrets: string[], addresses: string[], isSigned: boolean): 'ok' | 'wrong_signature' | null {
  if (addresses.some((address) => verifyUrl(secrets, address))) return 'ok'
  return isSigned ? null : 'wrong_signature'
}

const WORDS: Record<Verdict, string> = {
  ok: 'verified',
  missing_headers: 'WRONG: webhook-id, webhook-timestamp or webhook-signature is missing',
  stale: 'WRONG: webhook-timestamp is more than five minutes off',
  wrong_signature: 'WRONG: signed with another secret, or the content was changed',
}

/** A postback as a block of text. */
export function describePostback(postback: ReceivedPostback): string {
  const { received_at, method, url, headers, parameters, body, headers_verdict, url_verdict, signed_with, answered } =
    postback
  const lines = [`${received_at}  ${method} ${url.split('?')[0]}`]
  const shown = [...Object.entries(headers), ...parameters]
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  lines.push(...shown.map(([name, value]) => `  ${name.padEnd(width)}  ${oneLine(value)}`))
  if (body !== '')
    lines.push(
      ...prettyBody(body)
        .split('\n')
        .map((line) => `  ${line}`),
    )
  const by = signed_with === null ? '' : `, by ${signed_with}`
  lines.push(`  signature: ${headers_verdict === null ? 'not checked: add --secret' : WORDS[headers_verdict]}${by}`)
  if (url_verdict !== null) lines.push(`  signature in the URL: ${WORDS[url_verdict]}`)
  lines.push(`  response: ${answered}${answered === TOO_LONG ? ', the body is over 1 MiB' : ''}`)
  return `${visible(lines.join('\n'))}\n`
}

const oneLine = (text: string) => text.replaceAll('\n', '\\n')

function prettyBody(body: string): string {
  const whole = parseJson(body) ?? body
  return whole.length <= MAX_SHOWN
    ? whole
    : `${whole.slice(0, MAX_SHOWN)}\n… and ${whole.length - MAX_SHOWN} characters more`
}

function parseJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return null
  }
}

/** Without control characters that move the cursor, change colours or the writing direction. */
function visible(text: string): string {
  return text.replaceAll(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
