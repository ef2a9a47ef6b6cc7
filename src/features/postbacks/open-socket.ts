// Opens a connection to one of the addresses that the guard resolved for a host, and to no other: the name is not
// looked up again, and the socket's remote address is checked once more.
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import type { AddressGuard } from './address-guard.ts'
import { awaitSocket } from './await-socket.ts'
import type { ConnectTo, Opening } from './opening.ts'
import { createTunnels } from './proxy-tunnel.ts'
import { connectError, SendError, tlsError } from './send-error.ts'

const MAX_ADDRESSES = 4
const MAX_WAIT_MS = 4_000 // per address, where there is another one
const FINAL = ['refused_address', 'proxy_failed'] // no other address would do

export type OpenSocket = { socket: Socket; remoteAddress: string }

export type SocketOpener = (url: URL, opening: Opening, signal: AbortSignal) => Promise<OpenSocket>

export type OpenerOptions = {
  guard: AddressGuard
  /** As http://user:password@host:port. */
  proxy: string | null
  /** An additional certificate to trust. */
  ca?: string
}

export function createSocketOpener({ guard, proxy, ca }: OpenerOptions): SocketOpener {
  // Created once: reading all trusted certificates takes longer than a handshake.
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
      if (signal.aborted || FINAL.includes((error as SendError).code)) break
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
    await awaitSocket(socket, 'connect', signal, connectError, () => true)
    const reason = guard.refusal(socket.remoteAddress ?? '')
    if (reason === null) return socket
    socket.destroy()
    throw new SendError('connect', 'refused_address', reason)
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
  await awaitSocket(secured, 'secureConnect', signal, tlsError, () => true)
  return secured
}
