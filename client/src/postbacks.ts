// Verifies postbacks, as docs/postbacks.md describes them: by the headers of Standard Webhooks, over the body of a POST or
// the URL of a GET; or by the {signature} at the end of a URL.
import type { ConversionEvent } from './events.ts'
import { decodeBase64, decodeHex, isSigned } from './hmac.ts'

const TOLERANCE_S = 300
const TIMESTAMP = /^\d{1,12}$/
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/
const SIGNED_URL = /^(.*=)([0-9a-f]{64})$/s

/** `Headers` of fetch, or an object as Node has it. */
export type PostbackHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

type Verified = {
  headers: PostbackHeaders
  /** The signing secret of the app; both of them during a rotation; also that of the test key, if you expect tests. */
  secrets: string | readonly string[]
  /** How many seconds `webhook-timestamp` may be off. 300 by default. */
  toleranceSeconds?: number | undefined
  /** Instead of the present time. */
  now?: Date | undefined
}

/** A POST: the body as it was received, byte for byte, before anything parses it. */
export type PostPostback = Verified & { body: string | Uint8Array | ArrayBuffer; url?: undefined }
/** A GET: the whole URL as it was sent. Hard-code scheme and host: behind a proxy the request may have others. */
export type GetPostback = Verified & { url: string; body?: undefined }

export type PostbackProblem = 'missing_headers' | 'stale' | 'wrong_signature'

const SENTENCES: Record<PostbackProblem, string> = {
  missing_headers: 'This is no postback: webhook-id, webhook-timestamp or webhook-signature is missing or malformed.',
  stale: 'This postback is too old, or the clock of this server is wrong.',
  wrong_signature: 'This postback was not signed by your secret, or it was changed on its way.',
}

/** Not a postback of yours: answer with 401, and credit nothing. */
export class InvalidPostbackError extends Error {
  readonly reason: PostbackProblem

  constructor(reason: PostbackProblem) {
    super(SENTENCES[reason])
    this.name = 'InvalidPostbackError'
    this.reason = reason
  }
}

/** Resolves with the event of a POST, or the parameters of a GET. Rejects with an `InvalidPostbackError`. */
export function verifyPostback(postback: PostPostback): Promise<ConversionEvent>
export function verifyPostback(postback: GetPostback): Promise<URLSearchParams>
export async function verifyPostback(postback: PostPostback | GetPostback): Promise<ConversionEvent | URLSearchParams> {
  const problem = await findProblem(postback)
  if (problem !== null) throw new InvalidPostbackError(problem)
  if (postback.url !== undefined) return new URL(postback.url).searchParams
  return JSON.parse(new TextDecoder().decode(bytesOf(postback.body))) as ConversionEvent
}

/**
 * Verifies a GET by the {signature} at the end of its URL, where headers cannot be read. This does not cover the time:
 * process each transaction ID once. Resolves with the parameters; rejects with an `InvalidPostbackError`.
 */
export async function verifySignedUrl(given: {
  url: string
  secrets: string | readonly string[]
}): Promise<URLSearchParams> {
  const [, signed = '', signature = ''] = SIGNED_URL.exec(given.url) ?? []
  const isOurs = await isSigned(listOf(given.secrets), signature === '' ? [] : [decodeHex(signature)], bytesOf(signed))
  if (!isOurs) throw new InvalidPostbackError('wrong_signature')
  return new URL(given.url).searchParams
}

/** Null if there is none. */
export async function findProblem(postback: PostPostback | GetPostback): Promise<PostbackProblem | null> {
  const { headers, toleranceSeconds = TOLERANCE_S, now = new Date() } = postback
  const secrets = listOf(postback.secrets)
  // Only one of them is signed: what is returned must be that one.
  if (postback.body !== undefined && postback.url !== undefined)
    throw new TypeError('Give the body of a POST or the url of a GET, not both.')
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    readHeader(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signatures || !TIMESTAMP.test(timestamp)) return 'missing_headers'
  if (!(Math.abs(Math.floor(now.getTime() / 1_000) - Number(timestamp)) <= toleranceSeconds)) return 'stale'
  const content = concat(bytesOf(`${id}.${timestamp}.`), bytesOf(postback.body ?? postback.url))
  const given = signatures.split(' ').flatMap((one) => SIGNATURE.exec(one)?.[1] ?? [])
  return (await isSigned(secrets, given.map(decodeBase64), content)) ? null : 'wrong_signature'
}

function listOf(secrets: string | readonly string[]): readonly string[] {
  const list = [secrets].flat()
  if (list.length === 0) throw new TypeError('secrets must have at least one signing secret.')
  return list
}

/** In any case: some platforms keep names as they were sent. */
function readHeader(headers: PostbackHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name)
  const value = Object.entries(headers as Record<string, string | string[]>).find(
    ([one]) => one.toLowerCase() === name,
  )?.[1]
  return typeof value === 'string' ? value : null
}

/** Not by `instanceof`: test runners and frameworks have bytes of another realm. */
function bytesOf(content: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof content === 'string') return new TextEncoder().encode(content)
  if (ArrayBuffer.isView(content)) return new Uint8Array(content)
  if (Object.prototype.toString.call(content) === '[object ArrayBuffer]') return new Uint8Array(content)
  throw new TypeError('body must be the raw body, as text or bytes: once it was parsed, it cannot be verified.')
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
