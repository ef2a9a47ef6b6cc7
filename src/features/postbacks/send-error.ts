// Everything that can go wrong with one HTTP request, as a phase, a code and a sentence for the publisher.

/** How far an attempt got: DNS, connecting, the TLS handshake, sending, waiting for the headers, the body. */
export type Phase = 'dns' | 'connect' | 'tls' | 'send' | 'headers' | 'body'

export class SendError extends Error {
  override readonly name = 'SendError'
  readonly phase: Phase
  readonly code: string

  constructor(phase: Phase, code: string, message: string) {
    super(message)
    this.phase = phase
    this.code = code
  }
}

const CONNECT_PROBLEMS: Record<string, string> = {
  ECONNREFUSED: 'The server accepts no connections on this port (connection refused).',
  ECONNRESET: 'The connection was reset.',
  EHOSTUNREACH: 'The address cannot be reached from here (no route).',
  ENETUNREACH: 'The address cannot be reached from here (no route).',
  ETIMEDOUT: 'No connection could be made in time.',
}

const NO_TLS = 'The server does not speak TLS on this port. Check the port, or use http://.'
const UNTRUSTED = 'The certificate was issued by an authority that is not trusted. Install one from a public authority.'
const NOTHING_SHARED =
  'The server refused the TLS handshake. Enable TLS 1.2 or 1.3 with common ciphers, and do not ask for a client certificate.'
const CLOSED = 'The server closed the connection during the TLS handshake. Check that it serves HTTPS on this port.'

const TLS_PROBLEMS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired. Renew it.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet. Install one that is.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed. Install one from a public authority.',
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate chain does not lead to a trusted authority. Install one from a public authority, with its intermediate certificates.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'The certificate is for another host name. Install one for the host of the postback URL.',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'The server speaks neither TLS 1.2 nor 1.3. Enable one of them.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'The server speaks neither TLS 1.2 nor 1.3. Enable one of them.',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': NOTHING_SHARED,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: NOTHING_SHARED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'The server has no site of this name. Check the host of the postback URL.',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    'The server does not offer HTTP/1.1 over TLS, perhaps HTTP/2 alone. Enable HTTP/1.1.',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'The server asks for a client certificate, which postbacks do not have. Ask for none at this URL, and check the signature instead.',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
}

export function connectError({ code = 'ETIMEDOUT' }: NodeJS.ErrnoException): SendError {
  return new SendError('connect', 'connect_failed', CONNECT_PROBLEMS[code] ?? `No connection could be made (${code}).`)
}

/** OpenSSL errors without a sentence of their own are quoted. */
export function tlsError(error: NodeJS.ErrnoException & { reason?: string }): SendError {
  const { code = 'ECONNRESET', reason = code === 'UNSPECIFIED' ? error.message : code } = error
  const problem = TLS_PROBLEMS[code] ?? `The TLS handshake failed (${reason}). Check the TLS settings of your server.`
  return new SendError('tls', 'tls_failed', problem)
}

const LOST = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']

/** The connection was lost, and not because of anything received over it. */
export function isLoss(error: Error): boolean {
  return LOST.includes(codeOf(error)) && !error.message.startsWith('bad ')
}

/** The failure is on this network's side, and says nothing about the receiver. */
export const isOwnError = (code: string): boolean => code === 'proxy_failed' || code === 'resolver_failed'

/**
 * What an error of undici or of a socket means in this phase. A connection through a proxy can be ended by either side.
 */
export function toSendError(error: unknown, phase: Phase, isProxied: boolean): SendError {
  if (error instanceof SendError) return error
  if (!(error instanceof Error)) return new SendError(phase, 'failed', 'The request failed.')
  const code = codeOf(error)
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED')
    return new SendError(phase, 'closed', 'The sender was stopped before the request was done.')
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return new SendError('send', 'bad_request', `The request cannot be sent as it is: ${error.message}.`)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new SendError(phase, 'too_large', 'The headers of the response are too large.')
  if (error.name === 'HTTPParserError' || (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')))
    return new SendError(phase, 'bad_response', 'The response is not valid HTTP.')
  if (code.startsWith('ERR_SSL_') && phase !== 'body') return tlsError(error) // an alert after the handshake
  const closer = isProxied ? 'The receiver, or the proxy of this network,' : 'The receiver'
  if (phase === 'body')
    return new SendError(phase, 'reset', `${closer} closed the connection before the response was complete.`)
  if (isLoss(error)) return new SendError(phase, 'reset', `${closer} closed the connection without a response.`)
  return new SendError(phase, 'failed', `The request failed (${code || error.name}).`)
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
