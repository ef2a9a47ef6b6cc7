// Fetches one answer of an upstream: an HTTP request to a URL that an operator chose, with limits on time and size. A feed
// URL is as dangerous as a postback URL, so sockets are opened by the same guard, and redirects are not followed.
import { createGunzip } from 'node:zlib'
import type { Readable } from 'node:stream'
import { Client } from 'undici'
import { messageOf } from '../../errors.ts'
import type { SocketOpener } from '../postbacks/open-socket.ts'
import type { PreparedRequest } from './prepare-request.ts'

export type Limits = { timeoutMs: number; maxBytes: number }

export type FetchedPage = {
  status: number
  headers: Record<string, string>
  /** Decompressed. Empty where the status is not 200. */
  text: string
  /** As they came. */
  bytes: number
}

export type Fetched = { offers: number; pages: number; bytes: number }
export const NOTHING_FETCHED: Fetched = { offers: 0, pages: 0, bytes: 0 }

/** Why there is no answer, as a sentence for the operator. The URL is not in it. */
export class FetchProblem extends Error {
  readonly retryAfterS: number | null
  /** Until then. */
  readonly fetched: Fetched

  constructor(message: string, retryAfterS: number | null = null, fetched: Fetched = NOTHING_FETCHED) {
    super(message)
    this.name = 'FetchProblem'
    this.retryAfterS = retryAfterS
    this.fetched = fetched
  }
}

export async function fetchPage(open: SocketOpener, request: PreparedRequest, limits: Limits): Promise<FetchedPage> {
  const { url, method, headers, body } = request
  const signal = AbortSignal.timeout(limits.timeoutMs)
  const endsAt = performance.now() + limits.timeoutMs
  const { socket } = await open(url, { phase: 'dns', endsAt, lateError: null }, signal).catch((error: unknown) => {
    throw new FetchProblem(signal.aborted ? SLOW(limits) : messageOf(error))
  })
  const client = new Client(url.origin, {
    connect: (_options, callback) => queueMicrotask(() => callback(null, socket)),
    headersTimeout: 0, // one deadline for everything
    bodyTimeout: 0,
    pipelining: 1,
  })
  try {
    const answer = await client.request({
      method,
      path: url.pathname + url.search,
      headers: { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'Offerdeck', ...headers },
      body,
      signal,
    })
    const plain = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
    if (answer.statusCode !== 200) {
      answer.body.on('error', () => {}).destroy()
      return { status: answer.statusCode, headers: plain, text: '', bytes: 0 }
    }
    const { content, bytes } = await readBody(
      answer.body,
      (plain['content-encoding'] ?? '').trim().toLowerCase(),
      limits.maxBytes,
    )
    return { status: 200, headers: plain, text: decodeText(content, plain['content-type'] ?? ''), bytes }
  } catch (error) {
    if (error instanceof FetchProblem) throw error
    throw new FetchProblem(
      signal.aborted ? SLOW(limits) : `The connection was lost: ${messageOf(error).replace(/\.$/, '')}.`,
    )
  } finally {
    void client.destroy().catch(() => {})
    socket.destroy()
  }
}

const SLOW = ({ timeoutMs }: Limits) => `The response did not finish within ${timeoutMs / 1_000} s.`

/** A few bytes can unpack to gigabytes: what is unpacked counts as well. */
async function readBody(
  body: Readable,
  encoding: string,
  maxBytes: number,
): Promise<{ content: Buffer; bytes: number }> {
  if (encoding !== '' && encoding !== 'gzip' && encoding !== 'identity')
    throw new FetchProblem(`The response is compressed with "${encoding.slice(0, 30)}", which was not requested.`)
  let bytes = 0
  const count = (chunk: Buffer) => (bytes += chunk.length)
  body.on('data', count)
  const unpacked = encoding === 'gzip' ? body.pipe(createGunzip()) : body
  body.on('error', (error) => unpacked.destroy(error))
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes || bytes > maxBytes)
      throw new FetchProblem(`The response is larger than ${Math.floor(maxBytes / 1_000_000)} MB.`)
    chunks.push(chunk)
  }
  return { content: Buffer.concat(chunks), bytes }
}

/** In the charset that the upstream names; without one that is known, UTF-8. A byte order mark is not part of the text. */
function decodeText(content: Buffer, type: string): string {
  const [, charset = 'utf-8'] = /;\s*charset="?([\w:-]+)/i.exec(type) ?? []
  try {
    return new TextDecoder(charset).decode(content)
  } catch {
    return new TextDecoder().decode(content)
  }
}
