// Opens a connection to one of the addresses that the guard gave for a host, and to no other: the name is not looked up
// again, and what the socket says it is connected to is checked once more.
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import type { AddressGuard } from './address-guard.ts'
import { awaitSocket } from './await-socket.ts'
import { createTunnels } from './proxy-tunnel.ts'
import { connectFault, type Phase, SendFault, tlsFault } from './send-fault.ts'

const MAX_ADDRESSES = 4
const MAX_WAIT_MS = 4_000 // for an address, where there is another one to try
const FINAL = ['refused_address', 'proxy_failed'] // no other address would do

/** What opening a connection knows of the sending that waits for it, and how far it is. */
export type Opening = {
  phase: Phase
  readonly endsAt: number
  /** What it means if the deadline comes now; null: what the phase says. */
  lateFault: SendFault | null
}

export type ConnectTo = (address: string, port: number, signal: AbortSignal, opening: Opening) => Promise<Socket>

export type OpenSocket = { socket: Socket; remoteAddress: string }

export type SocketOpener = (url: URL, opening: Opening, signal: AbortSignal) => Promise<OpenSocket>

export type OpenerOptions = {
  guard: AddressGuard
  /** As http://user:password@host:port. */
  proxy: string | null
  /** One more certificate to trust. */
  ca?: string
}

export function createSocketOpener({ guard, proxy, ca }: OpenerOptions): SocketOpener {
  // Made once: to read all the trusted certificates takes longer than a handshake.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca: [...getCACertificates(), ca] })
  const connectTo = proxy === null ? directly(guard) : createTunnels(proxy)

  return async (url, opening, signal) => {
    opening.phase = 'dns'
    const addresses = await guard.resolve(url.hostname, signal)
    opening.phase = 'connect'
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const opened = await firstThatConnects(addresses, opening.endsAt, signal, (address, attempt) =>
      connectTo(address, port, attempt, opening),
    )
    if (url.protocol === 'http:') return opened
    opening.phase = 'tls'
    return { ...opened, socket: await secure(opened.socket, url.hostname, secureContext, signal) }
  }
}

async function firstThatConnects(
  addresses: readonly string[],
  endsAt: number,
  signal: AbortSignal,
  connectTo: (address: string, signal: AbortSignal) => Promise<Socket>,
): Promise<OpenSocket> {
  let problem: unknown
  for (let i = 0, left = Math.min(addresses.length, MAX_ADDRESSES); left > 0; i++, left--) {
    const remoteAddress = addresses[i]!
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    const timer = left > 1 ? setTimeout(stop, Math.min((endsAt - performance.now()) / left, MAX_WAIT_MS)) : undefined
    try {
      return { socket: await connectTo(remoteAddress, attempt.signal), remoteAddress }
    } catch (error) {
      problem = error
      if (signal.aborted || FINAL.includes((error as SendFault).code)) break
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }
  throw problem
}

function directly(guard: AddressGuard): ConnectTo {
  return async (address, port, signal) => {
    const socket = connect({ host: address, port, noDelay: true })
    await awaitSocket(socket, 'connect', signal, connectFault, () => true)
    const reason = guard.refusal(socket.remoteAddress ?? '')
    if (reason === null) return socket
    socket.destroy()
    throw new SendFault('connect', 'refused_address', reason)
  }
}

async function secure(socket: Socket, hostname: string, context: SecureContext, signal: AbortSignal): Promise<Socket> {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
  const secured = connectTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }), // a literal must not be sent as a name
    secureContext: context,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  })
  await awaitSocket(secured, 'secureConnect', signal, tlsFault, () => true)
  return secured
}
