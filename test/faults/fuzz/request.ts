// One request of the fuzzer, and its bytes.
import type { Described } from './description.ts'

/** Which rules an answer must keep. */
export type Family = 'v1' | 'manage' | 'wall' | 'page' | 'raw'

export type Header = [name: string, value: string]

export type FuzzRequest = {
  /** Which operation, by whom, and what was done to it. */
  what: string
  /** The operation that it is for; null where the path or the method may lead to another one. */
  operation: Described | null
  method: string
  target: string
  headers: Header[]
  body: Buffer | null
}

/** Every character of the head is one byte, so that a head can have any. */
export function encode({ method, target, headers, body }: FuzzRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = body === null ? '' : `Content-Length: ${body.length}\r\n`
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}${length}\r\n`, 'latin1')
  return body === null ? head : Buffer.concat([head, body])
}
