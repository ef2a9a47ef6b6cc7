// Keep-alive connections, with a limit per origin.
//
// undici's own pool is not used, because a request in its queue can neither be removed nor end a connection that is
// being opened for it: here each attempt owns the connection it opens or waits for, and leaves nothing behind at its
// deadline. undici's Client speaks HTTP over one socket, which is all it ever gets.
import type { Socket } from 'node:net'
import { Client } from 'undici'
import { Cache } from '../../lib/cache.ts'
import { skipContinues } from './skip-continues.ts'
import type { OpenSocket, SocketOpener } from './open-socket.ts'
import type { Opening } from './opening.ts'
import { SendError } from './send-error.ts'

const IDLE_MS = 4_000
const MAX_IDLE_MS = 10_000 // when the receiver says how long it keeps a connection
const MAX_AGE_MS = 60_000 // the name may resolve differently by now
const MAX_HEADER_BYTES = 16_384
const UNTIDY_MS = 600_000
const MAX_UNTIDY = 1_000

/** A request that needs a connection. `cancel` is set while it waits. */
export type Taker = Opening & { cancel: (() => void) | null }

export type Connection = {
  readonly client: Client
  readonly socket: Socket
  readonly remoteAddress: string
  readonly openedAt: number
  /** What the socket failed with first, such as an alert after the handshake: undici only reports the consequence. */
  readonly firstError: Error | null
  /** Whether it has returned a response before. */
  isReused: boolean
  /** A request is about to be sent. */
  expectAnswer(): void
  /** The response is complete: in a moment the connection is free again, or closed. */
  finish(): void
  /** Ends the connection, whatever it is doing. */
  end(): void
}

export type Connections = {
  /** Rejects with a SendError. A fresh one has not been used before. */
  take(url: URL, taker: Taker, mustBeFresh: boolean): Promise<Connection>
  close(): Promise<void>
}

type Waiter = {
  taker: Taker
  mustBeFresh: boolean
  resolve: (connection: Connection | Promise<Connection>) => void
  reject: (error: SendError) => void
}

type Origin = {
  readonly url: URL
  /** Connections, including those being opened. */
  count: number
  readonly idle: Connection[]
  /** Requests that have their whole response, but whose connection is not free yet. */
  readonly finishing: Set<Connection>
  /** In order. They wait because the origin is at its limit, or for a connection that is finishing. */
  readonly waiting: Set<Waiter>
}

export function createConnections(open: SocketOpener, maxPerOrigin: number): Connections {
  const origins = new Map<string, Origin>()
  const connections = new Set<Connection>()
  const openings = new Set<AbortController>()
  /** Origins that sent more than was asked for, and until when their connections are not reused. */
  const untidy = new Cache<string, number>(MAX_UNTIDY)
  let isClosed = false

  const originOf = (url: URL): Origin => {
    let origin = origins.get(url.origin)
    if (origin === undefined) {
      origin = { url: new URL(url.origin), count: 0, idle: [], finishing: new Set(), waiting: new Set() }
      origins.set(url.origin, origin)
    }
    return origin
  }

  const take = async (url: URL, taker: Taker, mustBeFresh: boolean): Promise<Connection> => {
    if (isClosed) throw closedError()
    if (mustBeFresh && originOf(url).count >= maxPerOrigin) originOf(url).idle[0]?.end()
    const origin = originOf(url)
    const idle = mustBeFresh ? undefined : popUsable(origin.idle)
    if (idle !== undefined) return idle
    // A sender of sequential requests would otherwise be a moment too early for its own connection.
    const isSoonFree = !mustBeFresh && origin.waiting.size < origin.finishing.size
    const hasRoom = origin.count < maxPerOrigin && !isSoonFree
    return hasRoom ? openFor(origin, taker) : wait(origin, taker, mustBeFresh)
  }

  const wait = (origin: Origin, taker: Taker, mustBeFresh: boolean) =>
    new Promise<Connection>((resolve, reject) => {
      const waiter = { taker, mustBeFresh, resolve, reject }
      origin.waiting.add(waiter)
      taker.cancel = () => {
        origin.waiting.delete(waiter)
        reject(closedError())
      }
    })

  const openFor = async (origin: Origin, taker: Taker): Promise<Connection> => {
    const opening = new AbortController()
    origin.count++
    openings.add(opening)
    taker.cancel = () => opening.abort()
    try {
      const opened = await open(origin.url, taker, opening.signal)
      if (!opening.signal.aborted) return connect(origin, opened)
      opened.socket.destroy()
      throw closedError()
    } catch (error) {
      leave(origin)
      throw isClosed ? closedError() : error
    } finally {
      taker.cancel = null
      openings.delete(opening)
    }
  }

  const connect = (origin: Origin, { socket, remoteAddress }: OpenSocket): Connection => {
    let isGiven = false
    const client = new Client(origin.url, {
      connect: (_options, callback) => {
        const isUsable = !isGiven && !socket.destroyed
        isGiven = true
        // Not at once: the client only looks for its connection after this call.
        queueMicrotask(() => (isUsable ? callback(null, socket) : callback(gone(), null)))
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: 0, // the sender has one deadline for everything
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      allowH2: false,
    })
    const expectAnswer = skipContinues(socket)
    let firstError: Error | null = null
    socket.once('error', (error) => (firstError = error))
    const end = () => {
      if (!connections.delete(connection)) return
      const at = origin.idle.indexOf(connection)
      if (at !== -1) origin.idle.splice(at, 1)
      origin.finishing.delete(connection)
      client.destroy(isClosed ? null : gone(), () => {})
      socket.destroy()
      leave(origin)
    }
    const connection: Connection = {
      client,
      socket,
      remoteAddress,
      openedAt: performance.now(),
      get firstError() {
        return firstError
      },
      isReused: false,
      expectAnswer,
      finish: () => void origin.finishing.add(connection),
      end,
    }
    connections.add(connection)
    // A client would reconnect for a request it has not sent; destroyed, it returns the request.
    client.on('disconnect', (_url, _targets, error) => {
      if (isSurplus(error)) untidy.set(origin.url.origin, performance.now() + UNTIDY_MS)
      end()
    })
    // Only after everything received so far was read: surplus bytes would be taken for the next response.
    client.on('drain', () => setImmediate(() => setImmediate(() => free(origin, connection))))
    return connection
  }

  const free = (origin: Origin, connection: Connection): void => {
    if (!connections.has(connection)) return
    connection.isReused = true
    origin.finishing.delete(connection)
    const [waiter] = origin.waiting
    const isUntidy = (untidy.get(origin.url.origin) ?? 0) > performance.now()
    const isOld = performance.now() - connection.openedAt > MAX_AGE_MS
    if (isUntidy || isOld || waiter?.mustBeFresh === true) return connection.end()
    if (waiter === undefined) {
      origin.idle.push(connection)
      return
    }
    origin.waiting.delete(waiter)
    waiter.taker.cancel = null
    waiter.resolve(connection)
  }

  /** The origin has room for one more. */
  const leave = (origin: Origin): void => {
    origin.count--
    const [waiter] = origin.waiting
    if (waiter !== undefined) {
      origin.waiting.delete(waiter)
      waiter.resolve(openFor(origin, waiter.taker))
    } else if (origin.count === 0) {
      origins.delete(origin.url.origin)
    }
  }

  const close = async (): Promise<void> => {
    isClosed = true
    for (const { waiting } of origins.values()) for (const { taker } of waiting) taker.cancel?.()
    for (const opening of openings) opening.abort()
    const clients = [...connections].map(({ client }) => client)
    for (const connection of connections) connection.end()
    await Promise.all(clients.map((client) => client.destroy()))
  }

  return { take, close }
}

/** Data that no request asked for. */
const isSurplus = (error: Error) => error.message === 'bad response'

/** The most recently used: it is the least likely to be closed by now. */
function popUsable(idle: Connection[]): Connection | undefined {
  let connection
  do connection = idle.pop()
  while (connection?.socket.destroyed === true)
  return connection
}

function gone(): Error {
  return Object.assign(new Error('The connection is gone.'), { code: 'ECONNRESET' })
}

function closedError(): SendError {
  return new SendError('connect', 'closed', 'The sender was stopped before the request was done.')
}
