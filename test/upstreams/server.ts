// Plays an upstream network on loopback: its pages, what it asks for, and whatever goes wrong there.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { FeedSource } from '../../src/features/feeds/fetch-feed.ts'
import { presetOf } from '../../src/features/feeds/presets/presets.ts'
import type { Preset } from '../../src/features/feeds/presets/preset.ts'
import { SHAPES, type UpstreamOffer } from './shapes.ts'

export type Asked = { path: string; query: URLSearchParams; headers: IncomingMessage['headers']; body: string }
/** True when it has answered. */
export type Trouble = (asked: Asked, response: ServerResponse, page: number) => boolean

const KEY = 'sesame&open=1%'
const TOKEN = 'an-hour-long-token'

export class Upstream {
  readonly preset: Preset
  offers: UpstreamOffer[] = []
  /** Every request, in order. */
  readonly asked: Asked[] = []
  /** What goes wrong, if anything. */
  trouble: Trouble = () => false
  isPacked = true
  #url = ''
  #server: Server | null = null

  constructor(key: string) {
    this.preset = presetOf(key)!
  }

  /** For `fetchFeed`: the preset, led here. */
  get source(): FeedSource {
    const { request, mapping, credentials } = this.preset
    const values = Object.fromEntries(credentials.map(({ name, secret }) => [name, secret ? KEY : 'acme']))
    const here = (url: string) => url.replace(/^https:\/\/[^/]+/, this.#url)
    const { auth } = request
    const led =
      auth?.kind === 'exchange' ? { ...auth, request: { ...auth.request, url: here(auth.request.url) } } : auth
    return { request: { ...request, url: here(request.url), ...(led === undefined ? {} : { auth: led }), pause_ms: 0 }, mapping, credentials: values } // prettier-ignore
  }

  /** Until the test ends. */
  async open(): Promise<this> {
    await this.listen()
    after(() => this.close())
    return this
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => this.#answer(request, Buffer.concat(chunks).toString(), response))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#server = server
  }

  close(): void {
    this.#server?.closeAllConnections()
    this.#server?.close()
  }

  #answer({ url = '', headers }: IncomingMessage, body: string, response: ServerResponse): void {
    const { pathname: path, searchParams: query } = new URL(url, this.#url)
    const asked = { path, query, headers, body }
    this.asked.push(asked)
    const { paging } = this.preset.request
    const size = paging.kind === 'one' || paging.kind === 'next' ? Infinity : (paging.size?.value ?? 100)
    const start = paging.kind === 'page' ? (Number(query.get(paging.parameter)) - paging.first) * size : paging.kind === 'offset' ? Number(query.get(paging.parameter)) : 0 // prettier-ignore
    if (this.trouble(asked, response, Math.floor(start / size) || 0)) return
    if (path.endsWith('/users/token')) return this.send(response, 200, { access_token: TOKEN, expires_in: 3_600 })
    if (!this.#isAllowed(asked)) return this.send(response, 401, { message: 'Unauthorized' })
    const shape = SHAPES[this.preset.key]!
    const items = this.offers.slice(start, start + size).map((offer) => shape.item(offer))
    const pages = Math.max(1, Math.ceil(this.offers.length / size))
    this.send(
      response,
      200,
      shape.page(items, { all: this.offers.length, pages, number: Math.floor(start / size), size }),
    )
  }

  /** The key stands where this upstream wants it, and nowhere else. */
  #isAllowed({ query, headers, body }: Asked): boolean {
    const { request, credentials } = this.preset
    if (!credentials.some(({ secret }) => secret)) return true
    if (request.auth?.kind === 'exchange') return headers.authorization === `Bearer ${TOKEN}`
    const name = (of: Record<string, unknown> | undefined) => Object.entries(of ?? {}).find(([, value]) => value === '{key}')?.[0] // prettier-ignore
    const [inHeader, inQuery, inJson] = [name(request.headers), name(request.query), name(request.json)]
    if (inHeader !== undefined) return headers[inHeader.toLowerCase()] === KEY
    if (inQuery !== undefined) return query.get(inQuery) === KEY
    return inJson !== undefined && (JSON.parse(body) as Record<string, unknown>)[inJson] === KEY
  }

  send(response: ServerResponse, status: number, answer: unknown, headers: Record<string, string> = {}): void {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    const content = this.isPacked ? gzipSync(text) : Buffer.from(text)
    const packed = this.isPacked ? { 'content-encoding': 'gzip' } : {}
    response.writeHead(status, { 'content-type': 'application/json', ...packed, ...headers }).end(content)
  }
}
