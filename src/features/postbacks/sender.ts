// Sends one postback: an HTTP request to a URL that a publisher chose, and that may be slow, broken or hostile.
//
// One deadline covers everything, from the DNS look-up to the last byte of the body. Redirects are not followed,
// nothing is decompressed, and only part of the response is read. A failed attempt is a result like any other.
import type { Dispatcher } from 'undici'
import { type AddressGuard, literalRefusal } from './address-guard.ts'
import { type Connection, type Connections, createConnections, type Taker } from './connections.ts'
import { createSocketOpener } from './open-socket.ts'
import { Received } from './received.ts'
import { toSendError, isLoss, type Phase, SendError } from './send-error.ts'

const MAX_PER_ORIGIN = 64
const MAX_INTERIM = 10 // responses like 103 before the real one
const REPEAT_WITHIN_MS = 250 // later than that, a lost connection is the receiver's doing

const TIMEOUTS: Record<Phase, string> = {
  dns: 'The host name could not be looked up in time.',
  connect: 'No connection could be made in time.',
  tls: 'The TLS handshake did not finish in time.',
  send: 'The request could not be sent in time.',
  headers: 'The server did not respond in time.',
  body: 'The response did not finish in time.',
}

export type SendRequest = {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  body: string | null
  timeoutMs: number
}

/** One HTTP attempt, as far as it got. A failure is a value, never thrown. */
export type SendResult = {
  /** Where it ended; null: the whole response was read, or as much of it as is ever read. */
  phase: Phase | null
  /** A short code and a sentence for the publisher; null when the response was read. */
  error: { code: string; message: string } | null
  /** Set even if the body failed afterwards. */
  status: number | null
  /** The header as received. */
  retryAfter: string | null
  /** Status line, headers, empty line and body, up to 8 KiB. */
  responseHead: string
  /** The first 64 bytes of the body. */
  bodyStart: string
  remoteAddress: string | null
  durationMs: number
  /** It was sent a second time, on a new connection: the kept-alive one was closed before any response. */
  isRepeated: boolean
}

export type Sender = {
  /** `appId`: the app, where that decides how it is sent. */
  send(request: SendRequest, appId?: number): Promise<SendResult>
  /** Aborts everything that is under way. */
  close(): Promise<void>
}

export type SenderOptions = {
  guard: AddressGuard
  /** As http://user:password@host:port. */
  proxy: string | null
  maxConnectionsPerOrigin?: number
  /** An additional certificate to trust. */
  ca?: string
}

export function createSender(options: SenderOptions): Sender {
  const { maxConnectionsPerOrigin = MAX_PER_ORIGIN } = options
  const connections = createConnections(createSocketOpener(options), maxConnectionsPerOrigin)
  return {
    send: (request) => new Promise((resolve) => new Try(request, options, connections, resolve).start()),
    close: () => connections.close(),
  }
}

class Try implements Dispatcher.DispatchHandler {
  readonly #request: SendRequest
  readonly #guard: AddressGuard
  readonly #isProxied: boolean
  readonly #connections: Connections
  readonly #resolve: (result: SendResult) => void
  readonly #startedAt = performance.now()
  readonly #taker: Taker
  #timer: NodeJS.Timeout | undefined
  #url: URL | null = null
  #connection: Connection | null = null
  #received = new Received()
  #interim = 0
  #hasAnswered = false
  #dispatchedAt = 0
  #isRepeated = false
  #isOver = false

  constructor(
    request: SendRequest,
    { guard, proxy }: SenderOptions,
    connections: Connections,
    resolve: (result: SendResult) => void,
  ) {
    this.#request = request
    this.#guard = guard
    this.#isProxied = proxy !== null
    this.#connections = connections
    this.#resolve = resolve
    this.#taker = { phase: 'connect', endsAt: this.#startedAt + request.timeoutMs, lateError: null, cancel: null }
  }

  start(): void {
    this.#url = URL.parse(this.#request.url)
    const refusal = this.#url === null ? 'The address is not a URL.' : literalRefusal(this.#guard, this.#url)
    if (refusal !== null) return this.#fail(new SendError('dns', 'refused_address', refusal))
    this.#timer = setTimeout(() => this.#expire(), this.#request.timeoutMs)
    this.#connect()
  }

  #connect(): void {
    this.#connections.take(this.#url!, this.#taker, this.#isRepeated).then(
      (connection) => this.#dispatch(connection),
      (error: unknown) => this.#fail(error),
    )
  }

  #dispatch(connection: Connection): void {
    if (this.#isOver) return connection.end() // arrived right at the deadline
    this.#connection = connection
    this.#taker.phase = 'send'
    this.#dispatchedAt = performance.now()
    connection.expectAnswer()
    const { method, headers, body } = this.#request
    const { pathname, search } = this.#url!
    const all = ['accept-encoding', 'identity']
    for (const name in headers) {
      const lower = name.toLowerCase()
      if (lower === 'host') return this.#fail(new SendError('send', 'bad_request', 'The header Host cannot be set.'))
      if (lower !== 'accept-encoding') all.push(name, headers[name]!)
    }
    connection.client.dispatch({ method, path: pathname + search, headers: all, body }, this)
  }

  onRequestStart(): void {}

  onRequestSent(): void {
    this.#taker.phase = 'headers'
  }

  onResponseStarted(): void {
    this.#hasAnswered = true
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number, _: object, statusText = ''): void {
    if (this.#isOver) return
    if (status < 200) {
      if (++this.#interim > MAX_INTERIM)
        this.#fail(new SendError('headers', 'bad_response', 'The server sent no final response.'))
      return
    }
    this.#received.begin({ status, statusText, headers: rawHeaders as Buffer[] })
    this.#taker.phase = 'body'
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#isOver || this.#received.add(chunk)) return
    this.#finish(null, null)
    this.#connection?.end()
  }

  onResponseEnd(): void {
    if (!this.#isOver) this.#connection?.finish()
    this.#finish(null, null)
  }

  onResponseError(_: unknown, last: Error): void {
    const error = this.#connection?.firstError ?? last
    const isSoon = performance.now() - this.#dispatchedAt < REPEAT_WITHIN_MS
    const wasClosedBefore = this.#connection?.isReused === true && !this.#hasAnswered && isSoon && isLoss(error)
    if (this.#isOver || !wasClosedBefore || this.#isRepeated) return this.#fail(error)
    // A receiver may close a kept-alive connection while the request is on its way, which is no failure. If that takes
    // longer, the receiver had the request, and what it did with it is unknown.
    this.#isRepeated = true
    this.#connection?.end()
    this.#connection = null
    this.#taker.phase = 'connect'
    this.#connect()
  }

  #expire(): void {
    const { phase, lateError } = this.#taker
    if (lateError !== null) return this.#fail(lateError)
    const isUnsent = phase === 'headers' && this.#connection !== null && this.#connection.socket.writableLength > 0
    this.#fail(new SendError(isUnsent ? 'send' : phase, 'timeout', TIMEOUTS[isUnsent ? 'send' : phase]))
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    const { phase, code, message } = toSendError(error, this.#taker.phase, this.#isProxied)
    this.#finish(phase, { code, message })
    this.#taker.cancel?.()
    this.#connection?.end()
  }

  #finish(phase: Phase | null, error: SendResult['error']): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    const received = this.#received
    this.#resolve({
      phase,
      error,
      status: received.status,
      retryAfter: received.retryAfter,
      ...received.text(),
      remoteAddress: this.#connection?.remoteAddress ?? null,
      durationMs: Math.round(performance.now() - this.#startedAt),
      isRepeated: this.#isRepeated,
    })
  }
}
