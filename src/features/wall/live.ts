// Open walls that hear when something changes for their user: server-sent events. Every process follows the feed of
// conversion events anyway (offers/completions.ts), so a conversion that any node wrote reaches the walls of all nodes.
//
// A stream says only that something changed; the page then asks for it, with its signature. A proxy that buffers, or a
// page that comes back, loses nothing: it asks again by itself. An answer to a ticket comes by NOTIFY.
import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import type { AppUser, Completions } from '../offers/completions.ts'

const BEAT_MS = 25_000 // proxies close what is silent for a minute
const MAX_STREAMS = 20_000
const MAX_OF_USER = 5
/** Of those whom no publisher has signed: anyone can be any number of them. */
const MAX_OF_NETWORK = 100
const MAX_UNREAD_BYTES = 65_536
const RETRY = 'retry: 3000\n\n'

export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

type LetIn = () => boolean | Promise<boolean>
type Stream = { response: ServerResponse; endsAtMs: number; isLetIn: LetIn }

export type StreamOptions = {
  endsAtMs: number
  /** Whether it would be opened now, too: asked at each beat. */
  isLetIn: LetIn
  /** Of a user who is not signed. */
  network?: string
}

/** With the key of the user as payload. */
export const TICKETS_CHANGED = 'wall_tickets'

/** Says on every node that a ticket of this user has changed, once the transaction is committed. */
export const notifyWalls = (trx: Trx, user: AppUser) =>
  sql`SELECT pg_notify(${TICKETS_CHANGED}, ${keyOf(user)})`.execute(trx)

export class LiveWalls {
  readonly #byUser = new Map<string, Set<Stream>>()
  readonly #byNetwork = new Map<string, number>()
  readonly #unsubscribe: () => void
  readonly #beat: NodeJS.Timeout
  #count = 0
  #isClosed = false

  constructor(completions: Pick<Completions, 'subscribe'>) {
    this.#unsubscribe = completions.subscribe((user) => this.notify(keyOf(user), 'activity'))
    this.#beat = setInterval(() => this.#keepAlive(Date.now()), BEAT_MS).unref()
  }

  get count(): number {
    return this.#count
  }

  /** False when there are too many; the page then asks now and then. */
  open(user: AppUser, response: ServerResponse, { endsAtMs, isLetIn, network }: StreamOptions): boolean {
    if (response.req.method === 'HEAD') return false // it has no body to wait for
    if (response.destroyed) return true // the page is gone: its end was not heard here
    if (this.#isClosed) {
      response.end(RETRY) // the page opens it again, on another node; for `busy` it would not
      return true
    }
    const key = keyOf(user)
    const streams = this.#byUser.get(key) ?? new Set<Stream>()
    if (this.#count >= MAX_STREAMS || streams.size >= MAX_OF_USER) return false
    if (network !== undefined && (this.#byNetwork.get(network) ?? 0) >= MAX_OF_NETWORK) return false
    if (network !== undefined) this.#countNetwork(network, 1)
    const stream = { response, endsAtMs, isLetIn }
    streams.add(stream)
    this.#byUser.set(key, streams)
    this.#count++
    response.once('close', () => {
      this.#count--
      if (network !== undefined) this.#countNetwork(network, -1)
      streams.delete(stream)
      if (streams.size === 0 && this.#byUser.get(key) === streams) this.#byUser.delete(key)
    })
    response.write(RETRY)
    return true
  }

  close(): void {
    this.#isClosed = true
    this.#unsubscribe()
    clearInterval(this.#beat)
    for (const streams of this.#byUser.values()) for (const { response } of streams) response.end()
  }

  #countNetwork(network: string, more: 1 | -1): void {
    const count = (this.#byNetwork.get(network) ?? 0) + more
    if (count === 0) this.#byNetwork.delete(network)
    else this.#byNetwork.set(network, count)
  }

  /** The key of a user, as `notifyWalls` sends it. */
  notify(key: string, event: 'activity' | 'tickets'): void {
    for (const stream of this.#byUser.get(key) ?? []) tell(stream, `event: ${event}\ndata: {}\n\n`)
  }

  /** A stream ends with the signature it was opened with, and with what let it in. */
  #keepAlive(nowMs: number): void {
    for (const streams of this.#byUser.values())
      for (const stream of streams) {
        if (nowMs >= stream.endsAtMs) stream.response.end()
        else void beat(stream)
      }
  }
}

async function beat(stream: Stream): Promise<void> {
  const goesOn = await Promise.resolve()
    .then(stream.isLetIn)
    .catch(() => true) // it cannot be asked now, but at the next beat
  if (goesOn) tell(stream, ':\n\n')
  else stream.response.end()
}

/** A page that reads nothing is left alone. Its stream may have ended and wait for it: writing to that ends the process. */
function tell({ response }: Stream, text: string): void {
  if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
  else if (!response.writableEnded) response.write(text)
}

const keyOf = ({ appId, isTest, userId }: AppUser) => `${appId}|${isTest ? 't' : 'l'}|${userId}`
