// Bytes on a socket that are not quite HTTP, or are more than one request: broken, split, pipelined, smuggled, left half.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { encode, type FuzzRequest } from './request.ts'

export type Talk = {
  what: string
  pieces: Buffer[]
  /** How the client leaves: half-closed, cut, or as the server wants. */
  end: 'half-close' | 'cut' | 'wait'
}

const BROKEN = [
  'GET / HTTP/9.9\r\n\r\n', 'GET /\r\n\r\n', 'GET  / HTTP/1.1\r\n\r\n', '\r\n\r\nGET / HTTP/1.1\r\n\r\n', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', '\0\0\0\0', '\x16\x03\x01\x02\x00\x01\x00',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 'GET * HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\nHost: a\n\n', 'GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n', 'GET / HTTP/1.1\r\n: empty\r\n\r\n', 'GET / HTTP/1.1\r\nA B: c\r\n\r\n', 'GET / HTTP/1.1\r\nA\0: c\r\n\r\n',
  'GET /\x80\xff HTTP/1.1\r\nHost: a\r\n\r\n', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 'POST /postback HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
  'POST /postback HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n', 'POST /postback HTTP/1.1\r\nContent-Length: 5\r\n\r\nab', 'POST /postback HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'POST /postback HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n', 'POST /postback HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 'GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n', 'GET //// HTTP/1.1\r\nHost: a\r\n\r\n', 'GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`, `GET / HTTP/1.1\r\n${'A: b\r\n'.repeat(3_000)}\r\n`,
] // prettier-ignore

/** A server behind a proxy must not see a second request where the proxy sees one. */
const SMUGGLING = [
  'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', 'Transfer-Encoding: xchunked\r\n', 'Transfer-Encoding : chunked\r\n', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
  'Transfer-Encoding:\tchunked\r\n', 'Content-Length: 0\r\nContent-Length: 5\r\n', 'Content-Length: +4\r\n', 'Content-Length: 4, 4\r\n', 'X: y\nTransfer-Encoding: chunked\r\n',
] // prettier-ignore

/** `some` are requests to be broken up or put together. */
export function talk(random: Random, some: () => FuzzRequest): Talk {
  const end = random.pick(['half-close', 'cut', 'wait', 'wait'] as const)
  const request = some()
  const { what } = request
  const bytes = encode(request)
  const makers: (() => Omit<Talk, 'end'>)[] = [
    () => ({ what: 'broken', pieces: [Buffer.from(random.pick(BROKEN), 'latin1')] }),
    () => ({ what: 'random bytes', pieces: [random.bytes(random.int(1, 600))] }),
    () => {
      const hidden = encode(some())
      const head = `POST ${random.pick(['/postback', '/api/v1/conversions', '/manage/v1/session'])} HTTP/1.1\r\nHost: a\r\n${random.pick(SMUGGLING)}\r\n0\r\n\r\n` // prettier-ignore
      return { what: 'smuggling', pieces: [Buffer.concat([Buffer.from(head, 'latin1'), hidden])] }
    },
    () => ({ what: `pipeline from ${what}`, pieces: [Buffer.concat([bytes, ...Array.from({ length: random.int(1, 8) }, () => encode(some()))])] }), // prettier-ignore
    () => ({ what: `split ${what}`, pieces: split(random, bytes) }),
    () => ({ what: `half ${what}`, pieces: [bytes.subarray(0, random.int(1, bytes.length))] }),
    () => ({ what: `chunked ${what}`, pieces: chunked(random, request) }),
    () => {
      const flipped = Buffer.from(bytes)
      for (let i = random.int(1, 8); i > 0; i--) flipped[random.int(0, flipped.length - 1)] = random.int(0, 255)
      return { what: `flipped ${what}`, pieces: [flipped] }
    },
  ]
  return { ...random.pick(makers)(), end }
}

function split(random: Random, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const length = pieces.length > 20 ? bytes.length : random.int(1, Math.ceil(bytes.length / 4))
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

function chunked(random: Random, request: FuzzRequest): Buffer[] {
  const body = request.body ?? Buffer.alloc(0)
  const head = encode({ ...request, body: null, headers: [...request.headers, ['Transfer-Encoding', 'chunked']] })
  const parts = body.length === 0 ? [] : split(random, body)
  const chunks = parts.map((part) => Buffer.concat([Buffer.from(`${part.length.toString(16)}${random.chance(0.1) ? ';x=y' : ''}\r\n`), part, Buffer.from('\r\n')])) // prettier-ignore
  return [head, ...chunks, Buffer.from(random.chance(0.8) ? '0\r\n\r\n' : '0\r\nX-Trailer: 1\r\n\r\n')]
}

const SILENCE_MS = 150

/** All that the server says until it closes the connection or falls silent. */
export async function speak(port: number, { pieces, end }: Talk): Promise<Buffer> {
  const heard: Buffer[] = []
  let lastMs = performance.now()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('data', (chunk: Buffer) => {
    heard.push(chunk)
    lastMs = performance.now()
  })
  socket.on('error', () => {})
  for (const piece of pieces) {
    socket.write(piece)
    if (pieces.length > 1) await sleep(1)
  }
  if (end === 'cut') await sleep(5)
  else {
    if (end === 'half-close') socket.end()
    while (!socket.closed && !socket.readableEnded && performance.now() - lastMs < SILENCE_MS) await sleep(10)
  }
  socket.destroy()
  return Buffer.concat(heard)
}
