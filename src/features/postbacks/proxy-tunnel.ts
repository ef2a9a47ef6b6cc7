// A tunnel through the operator's HTTP proxy. Plain HTTP uses one, too: otherwise the proxy would resolve the name
// itself, and might find another address than the guard did.
import { connect, isIP, type Socket } from 'node:net'
import { OperatorError } from '../../errors.ts'
import { awaitSocket } from './await-socket.ts'
import type { ConnectTo } from './opening.ts'
import { SendError } from './send-error.ts'

const MAX_HEAD_BYTES = 16_384
const GATEWAY_ERRORS = [502, 503, 504] // about the server behind the proxy
const HEAD_END = '\r\n\r\n'

/** The proxy as http://user:password@host:port. Its own address is the operator's choice and is not guarded. */
export function createTunnels(proxy: string): ConnectTo {
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxy)
  if (protocol !== 'http:') throw new OperatorError('The proxy for postbacks must be an http:// address.')
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  const login = `${decode(username)}:${decode(password)}`
  const authorization = login === ':' ? '' : `proxy-authorization: Basic ${Buffer.from(login).toString('base64')}\r\n`

  return async (address, port, signal, opening) => {
    opening.lateError = unreachable()
    const socket = connect({ host, port: Number(proxyPort) || 80, noDelay: true })
    await awaitSocket(socket, 'connect', signal, unreachable, () => true)
    opening.lateError = unconnected()
    const target = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization}\r\n`)
    const toError = () => (signal.aborted ? unconnected() : brokenOff())
    const head = await awaitSocket(socket, 'readable', signal, toError, headReader(socket))
    opening.lateError = null
    if (/^HTTP\/1\.[01] 2\d\d\b/.test(head)) return socket
    socket.destroy()
    throw refusedWith(head)
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new OperatorError('The user or password of POSTBACK_PROXY has a % that is not followed by two hex digits. Write %25 for %.') // prettier-ignore
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
      if (read.length > MAX_HEAD_BYTES) throw brokenOff()
    }
    return null
  }
}

const unreachable = () =>
  new SendError('connect', 'proxy_failed', 'The proxy of this network cannot be reached. Contact the operator.')

const brokenOff = () =>
  new SendError('connect', 'proxy_failed', 'The proxy of this network gave no valid response. Contact the operator.')

/** Which of the two it is cannot be known from here. */
const unconnected = () =>
  new SendError(
    'connect',
    'timeout',
    'The proxy of this network did not connect to the server in time. If the server can be reached from elsewhere, contact the operator.',
  )

function refusedWith(head: string): SendError {
  const line = head.slice(0, head.indexOf('\r\n')).slice(0, 100)
  const answer = line.replaceAll(/[^\x20-\x7e]/g, '?')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? 0)
  if (GATEWAY_ERRORS.includes(status))
    return new SendError(
      'connect',
      'connect_failed',
      `The proxy of this network cannot reach the server ("${answer}").`,
    )
  const problem =
    status === 407 ? `does not accept this network's login` : `does not allow this connection, or is not a proxy`
  return new SendError(
    'connect',
    'proxy_failed',
    `The proxy of this network ${problem} ("${answer}"). Contact the operator.`,
  )
}
