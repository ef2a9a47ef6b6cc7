// A client that sends any bytes and reads what comes back as HTTP, without tidying up either.
import { connect, type Socket } from 'node:net'

export type Answer = { status: number; headers: Map<string, string>; body: Buffer; ms: number }

const HEAD_END = '\r\n\r\n'

/** One connection, for one request at a time; it is opened again when the server has closed it. */
export class Connection {
  readonly #port: number
  #socket: Socket | null = null
  #heard = Buffer.alloc(0)
  #onHeard: () => void = () => {}

  constructor(port: number) {
    this.#port = port
  }

  /** Null when the server closed the connection without an answer, 'late' when it said nothing for that long. */
  async send(bytes: Buffer, method: string, patienceMs: number): Promise<Answer | null | 'late'> {
    const startedMs = performance.now()
    const socket = (this.#socket ??= await this.#open())
    socket.write(bytes)
    const answer = await this.#read(method, startedMs + patienceMs)
    if (answer === null || answer === 'late' || answer.headers.get('connection')?.toLowerCase() === 'close')
      this.close()
    if (answer !== null && answer !== 'late') answer.ms = performance.now() - startedMs
    return answer
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
    this.#heard = Buffer.alloc(0)
  }

  #open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#port, '127.0.0.1', () => resolve(socket))
      socket.setNoDelay(true)
      socket.on('data', (chunk: Buffer) => {
        if (this.#socket !== socket) return
        this.#heard = Buffer.concat([this.#heard, chunk])
        this.#onHeard()
      })
      socket.on('error', reject) // after it is open: nothing, it closes next
      socket.on('close', () => {
        if (this.#socket === socket) this.#socket = null
        this.#onHeard()
      })
    })
  }

  async #read(method: string, deadlineMs: number): Promise<Answer | null | 'late'> {
    for (;;) {
      const answer = takeAnswer(this.#heard, method, this.#socket === null)
      if (answer !== null) {
        this.#heard = this.#heard.subarray(answer.length)
        if (answer.isStream) this.close() // it would go on for ever
        return answer
      }
      if (this.#socket === null) {
        this.#heard = Buffer.alloc(0)
        return null
      }
      const left = deadlineMs - performance.now()
      if (left <= 0) return 'late'
      await this.#heardMore(left)
    }
  }

  #heardMore(patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs)
      this.#onHeard = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

type Taken = Answer & { length: number; isStream: boolean }

/** The first answer in these bytes once it is whole; null before. Interim answers (100, 103) are passed over. */
export function takeAnswer(bytes: Buffer, method: string, isClosed: boolean): Taken | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return null
  const bodyStart = headEnd + HEAD_END.length
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0)
  if (status >= 100 && status < 200) {
    const next = takeAnswer(bytes.subarray(bodyStart), method, isClosed)
    return next && { ...next, length: next.length + bodyStart }
  }
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])) // prettier-ignore
  const taken = (body: Buffer, length: number, isStream = false): Taken => ({ status, headers, body, ms: 0, length: bodyStart + length, isStream }) // prettier-ignore
  if (method === 'HEAD' || status === 204 || status === 304) return taken(Buffer.alloc(0), 0)
  const rest = bytes.subarray(bodyStart)
  if (headers.get('content-type')?.startsWith('text/event-stream') === true) return taken(rest, rest.length, true)
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunked = takeChunks(rest)
    return chunked && taken(chunked.body, chunked.length)
  }
  const length = headers.get('content-length')
  if (length === undefined) return isClosed ? taken(rest, rest.length) : null
  return rest.length < Number(length) ? null : taken(rest.subarray(0, Number(length)), Number(length))
}

function takeChunks(bytes: Buffer): { body: Buffer; length: number } | null {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (bytes.length < end) return null
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = end
    if (size === 0) return { body: Buffer.concat(parts), length: at }
  }
}
