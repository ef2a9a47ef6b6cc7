// A tunnel through the operator's HTTP proxy. Plain HTTP goes through one, too: otherwise the proxy would look up the
// name itself, and might find another address than the guard did.
import { connect, isIP, type Socket } from 'node:net'
import { OperatorError } from '../../errors.ts'
import { awaitSocket } from './await-socket.ts'
import { SendFault } from './send-fault.ts'

const MAX_HEAD_BYTES = 16_384
const HEAD_END = '\r\n\r\n'

/** The proxy as http://user:password@host:port. Its own address is the operator's choice and is not guarded. */
export function createTunnels(proxy: string): (address: string, port: number, signal: AbortSignal) => Promise<Socket> {
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxy)
  if (protocol !== 'http:') throw new OperatorError('The proxy for postbacks must be an http:// address.')
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = login === ':' ? '' : `proxy-authorization: Basic ${Buffer.from(login).toString('base64')}\r\n`

  return async (address, port, signal) => {
    const socket = connect({ host, port: Number(proxyPort) || 80, noDelay: true })
    await awaitSocket(socket, 'connect', signal, proxyFault, () => true)
    const target = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization}\r\n`)
    const head = await awaitSocket(socket, 'readable', signal, proxyFault, headReader(socket))
    if (/^HTTP\/1\.[01] 2\d\d\b/.test(head)) return socket
    socket.destroy()
    const answer = head.slice(0, head.indexOf('\r\n')).slice(0, 100)
    throw new SendFault('connect', 'proxy_failed', `The proxy of this network refused the connection ("${answer}").`)
  }
}

function headReader(socket: Socket): () => string | null {
  let read = Buffer.alloc(0)
  return () => {
    for (let chunk: Buffer | null; (chunk = socket.read() as Buffer | null) !== null;) {
      read = Buffer.concat([read, chunk])
      const end = read.indexOf(HEAD_END)
      if (end !== -1) {
        const rest = read.subarray(end + HEAD_END.length)
        if (rest.length > 0) socket.unshift(rest)
        return read.toString('latin1', 0, end + HEAD_END.length)
      }
      if (read.length > MAX_HEAD_BYTES) throw proxyFault()
    }
    return null
  }
}

function proxyFault(): SendFault {
  return new SendFault('connect', 'proxy_failed', 'The proxy of this network could not be used.')
}
