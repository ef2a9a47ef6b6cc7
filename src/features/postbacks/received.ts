// A receiver's response, as much of it as is stored.
import { StringDecoder } from 'node:string_decoder'

const MAX_HEAD_BYTES = 8_192
const MAX_BODY_BYTES = 65_536
const MAX_START_BYTES = 64
const MAX_RETRY_AFTER = 100

export type Head = { status: number; statusText: string; headers: readonly (Buffer | string)[] }

/** A response while it arrives. */
export class Received {
  #head: Head | null = null
  #kept: Buffer[] = []
  #keptBytes = 0
  #bodyBytes = 0

  get status(): number | null {
    return this.#head?.status ?? null
  }

  begin(head: Head): void {
    this.#head = head
  }

  /** False when the body is longer than what is read. */
  add(chunk: Buffer): boolean {
    if (this.#keptBytes < MAX_HEAD_BYTES) {
      this.#kept.push(chunk)
      this.#keptBytes += chunk.length
    }
    this.#bodyBytes += chunk.length
    return this.#bodyBytes <= MAX_BODY_BYTES
  }

  get retryAfter(): string | null {
    const headers = this.#head?.headers ?? []
    for (let i = 0; i + 1 < headers.length; i += 2)
      if (headers[i]!.length === 11 && headers[i]!.toString().toLowerCase() === 'retry-after')
        return headers[i + 1]!.toString().slice(0, MAX_RETRY_AFTER)
    return null
  }

  /** Status line, headers, an empty line and the beginning of the body. */
  text(): { responseHead: string; bodyStart: string } {
    if (this.#head === null) return { responseHead: '', bodyStart: '' }
    const { status, statusText, headers } = this.#head
    let head = `HTTP/1.1 ${status} ${statusText}\r\n`
    for (let i = 0; i + 1 < headers.length; i += 2)
      head += `${headers[i]!.toString()}: ${headers[i + 1]!.toString()}\r\n`
    const body = this.#kept.length === 1 ? this.#kept[0]! : Buffer.concat(this.#kept)
    return {
      responseHead: cut(`${head}\r\n${decode(body, MAX_HEAD_BYTES)}`, MAX_HEAD_BYTES),
      bodyStart: decode(body, MAX_START_BYTES),
    }
  }
}

/** Text that a database accepts. Bytes that are not UTF-8 become U+FFFD. */
function decode(bytes: Buffer, maxBytes: number): string {
  const text = bytes.length <= maxBytes ? bytes.toString() : new StringDecoder().write(bytes.subarray(0, maxBytes))
  return text.replaceAll('\0', '')
}

function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes ? text : new StringDecoder().write(bytes.subarray(0, maxBytes))
}
