// A publisher's server under the fault tests: mostly it answers as it should; sometimes late, too late, badly, half or
// not at all. It remembers what came, and what it accepted.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '../certificates.ts'
import { verifyMessage } from '../../src/features/postbacks/signing.ts'

type Notification = { webhookId: string; conversionId: string; status: string; userId: string }

/**
 * One request: when it came, and when a complete 2xx response was sent to a client that was still there. Counted, not
 * timed.
 */
export type Arrival = Notification & { came: number; accepted: number | null; wasDropped: boolean; verdict: string }

/** What a GET must carry, as the end of its template. */
export const QUERY = '?id={event_id}&c={conversion_id}&s={status}&u={user_id}'

export class MoodyReceiver {
  readonly arrivals: Arrival[] = []
  /** The ids of those that were accepted. */
  readonly notified = new Set<string>()
  /** Messages whose id is not that of their headers. */
  readonly strange: unknown[] = []
  readonly #timeoutMs: number
  readonly #host: string
  readonly #name: string
  readonly #secretOf: (method: 'POST' | 'GET') => string
  readonly #server: ReturnType<typeof createServer> | SecureServer
  #clock = 0

  /** `timeoutMs`: after which the sender no longer waits for a response. */
  constructor(
    timeoutMs: number,
    secretOf: (method: 'POST' | 'GET') => string,
    { host = '127.0.0.1', name = host, certificate }: { host?: string; name?: string; certificate?: Certificate } = {},
  ) {
    this.#timeoutMs = timeoutMs
    this.#host = host
    this.#name = name
    this.#secretOf = secretOf
    const take = (request: IncomingMessage, response: ServerResponse) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part)).on('error', () => {})
      request.on('end', () => this.#receive(request, response, Buffer.concat(parts)))
    }
    this.#server = certificate === undefined ? createServer(take) : createSecureServer(certificate, take)
  }

  /** From now on it shows another certificate, to connections that are there as well. */
  show(certificate: Certificate): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(certificate)
    this.#server.closeAllConnections()
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, this.#host, done))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  get url(): string {
    const scheme = 'setSecureContext' in this.#server ? 'https' : 'http'
    return `${scheme}://${this.#name}:${(this.#server.address() as AddressInfo).port}`
  }

  #receive(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const isPost = request.method === 'POST'
    const url = `${this.url}${request.url ?? ''}`
    const secret = this.#secretOf(isPost ? 'POST' : 'GET')
    const verdict = verifyMessage([secret], request.headers, isPost ? body : url, Date.now() / 1000)
    const event = isPost ? readBody(body) : readQuery(url)
    const webhookId = String(request.headers['webhook-id'])
    const arrival: Arrival = { ...event, webhookId, came: this.#clock++, accepted: null, wasDropped: false, verdict }
    if (event.webhookId !== webhookId) this.strange.push(event)
    this.arrivals.push(arrival)
    const accept = () => {
      if (request.socket.destroyed) return
      arrival.accepted = this.#clock++
      this.notified.add(webhookId)
      response.end('OK')
    }
    const chance = Math.random()
    if (chance < 0.03) response.writeHead(500).end()
    else if (chance < 0.05) {
      arrival.wasDropped = true
      drop(request.socket)
    } else if (chance < 0.06)
      response.writeHead(200, { 'content-length': '100' }).write('OK', () => drop(request.socket))
    else if (chance < 0.07) setTimeout(accept, this.#timeoutMs * 1.5)
    else if (chance < 0.12) setTimeout(accept, Math.random() * 300)
    else accept()
  }
}

function readBody(body: Buffer): Notification {
  const { id, data } = JSON.parse(body.toString()) as { id: string; data: Record<string, string> }
  const { conversion_id = '', status = '', user_id = '' } = data
  return { webhookId: id, conversionId: conversion_id, status, userId: user_id }
}

function readQuery(url: string): Notification {
  const { id = '', c = '', s = '', u = '' } = Object.fromEntries(new URL(url).searchParams)
  return { webhookId: id, conversionId: c, status: s, userId: u }
}

/** In the middle of it; one that is encrypted cannot be reset. */
const drop = (socket: Socket) => (socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy())
