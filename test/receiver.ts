// A receiver of HTTP requests that can misbehave on demand. It speaks raw TCP, so that it can break every rule.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { Worker } from 'node:worker_threads'

/** A request as it came: the head up to the empty line, the body, and on which connection (counted from 1). */
export type ReceivedRequest = { head: string; body: string; connection: number; socket: Socket }

/** What is done with a request that has come in whole. */
export type Behaviour = (socket: Socket, request: ReceivedRequest) => void

export type Receiver = {
  readonly port: number
  readonly requests: ReceivedRequest[]
  readonly sockets: ReadonlySet<Socket>
  /** How many connections there have been. */
  readonly connections: () => number
  behave: Behaviour
  /** Until no connection is left. */
  allClosed(): Promise<void>
  close(): Promise<void>
}

export async function startReceiver(
  behave: Behaviour,
  tls?: TlsOptions,
  host = '127.0.0.1',
  port = 0,
): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let count = 0
  const accept = (socket: Socket) => {
    const connection = ++count
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    readRequests(socket, (head, body) => {
      const request = { head, body, connection, socket }
      requests.push(request)
      receiver.behave(socket, request)
    })
  }
  const server: Server = tls
    ? createTlsServer({ ...tls, noDelay: true }, accept).on('tlsClientError', () => {})
    : createServer({ noDelay: true }, accept)
  server.listen(port, host)
  await once(server, 'listening')
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    requests,
    sockets,
    connections: () => count,
    behave,
    async allClosed() {
      for (const socket of sockets) await new Promise((resolve) => socket.on('close', resolve))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

function readRequests(socket: Socket, onRequest: (head: string, body: string) => void): void {
  let read = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    read += chunk
    for (let end; (end = read.indexOf('\r\n\r\n')) !== -1;) {
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(read)?.[1] ?? 0)
      const next = end + 4 + length
      if (read.length < next) return
      const [head, body] = [read.slice(0, end), read.slice(end + 4, next)]
      read = read.slice(next)
      onRequest(head, body)
    }
  })
}

/** A well-behaved answer, after which the connection stays open. */
export function answer(status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Behaviour {
  const all = { 'content-length': String(Buffer.byteLength(body)), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return (socket) => {
    socket.write(`HTTP/1.1 ${status} Because\r\n${lines.join('')}\r\n`)
    socket.write(body)
  }
}

export function sendRaw(text: string): Behaviour {
  return (socket) => socket.write(text)
}

export const hang: Behaviour = () => {}

/** Sends `first`, then a byte every few milliseconds, for ever. */
export function drip(first: string): Behaviour {
  return (socket) => {
    socket.write(first)
    const timer = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(timer))
  }
}

/** A body without an end, as fast as it is taken. `sent` counts the bytes that went out. */
export function endlessBody(head: string): { behaviour: Behaviour; sent: () => number } {
  const chunk = Buffer.alloc(65_536, 'x')
  const sockets: Socket[] = []
  const behaviour: Behaviour = (socket) => {
    sockets.push(socket)
    const pump = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pump)
    socket.write(head)
    pump()
  }
  return { behaviour, sent: () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0) }
}

/** A promise of more than comes, and then a reset. */
export const resetMidBody: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf', () => socket.resetAndDestroy())
}

/** A port where connections never succeed: the queue of a socket that accepts none is full. */
export async function startBlackHole(
  host = '127.0.0.1',
  givenPort = 0,
): Promise<{ port: number; close(): Promise<void> }> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const server = require('node:net').createServer()
     server.listen({ port: ${givenPort}, host: '${host}', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port)
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
     })`,
    { eval: true },
  )
  const [port] = (await once(worker, 'message')) as [number]
  const fillers = Array.from({ length: 8 }, () => connect(port, host).on('error', () => {}))
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')))
  return {
    port,
    async close() {
      for (const socket of fillers) socket.destroy()
      await worker.terminate()
    },
  }
}
