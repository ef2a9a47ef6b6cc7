// Everything that can go wrong with one HTTP request, as a phase, a code and a sentence for the publisher.

/** How far a try came: looking up the name, connecting, the TLS handshake, sending, waiting for the head, the body. */
export type Phase = 'dns' | 'connect' | 'tls' | 'send' | 'headers' | 'body'

export class SendFault extends Error {
  override readonly name = 'SendFault'
  readonly phase: Phase
  readonly code: string

  constructor(phase: Phase, code: string, message: string) {
    super(message)
    this.phase = phase
    this.code = code
  }
}

const LOST = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']

/** The connection was lost, and not for anything that came over it. */
export function isLoss(error: Error): boolean {
  return LOST.includes(codeOf(error)) && !error.message.startsWith('bad ')
}

/** What an error of undici or of a socket means in this phase. */
export function faultOf(error: unknown, phase: Phase): SendFault {
  if (error instanceof SendFault) return error
  if (!(error instanceof Error)) return new SendFault(phase, 'failed', 'The request failed.')
  const code = codeOf(error)
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED')
    return new SendFault(phase, 'closed', 'The sender was stopped before the request was done.')
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return new SendFault('send', 'bad_request', `The request cannot be sent as it is: ${error.message}.`)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new SendFault(phase, 'too_large', 'The headers of the answer are too large.')
  if (error.name === 'HTTPParserError' || (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')))
    return new SendFault(phase, 'bad_response', 'The answer is not valid HTTP.')
  if (phase === 'body')
    return new SendFault(phase, 'reset', 'The receiver closed the connection before the answer was complete.')
  if (isLoss(error)) return new SendFault(phase, 'reset', 'The receiver closed the connection without an answer.')
  return new SendFault(phase, 'failed', `The request failed (${code || error.name}).`)
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
