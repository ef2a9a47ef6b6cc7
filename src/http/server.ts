// The HTTP server without features: how requests are read, and how everything that goes wrong is answered.
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onRequestHookHandler,
  type onSendHookHandler,
} from 'fastify'
import { AppError, OperatorError, messageOf } from '../errors.ts'
import { compressionOf, UNCOMPRESSED } from './compression.ts'
import { isHttps, rawBadRequest, sendError, STAY_HTTPS, STRICT_POLICY } from './envelope.ts'
import { readForwarded } from './forwarded.ts'
import { acceptJson, INVALID_JSON } from './json-body.ts'
import type { Credential, Gate } from './gate.ts'
import { createRequestIds } from './request-ids.ts'
import { parseRanges } from '../lib/ip-ranges.ts'
import { compileValidator, validateTogether, pointOutNames } from './validation.ts'

const MAX_BODY_BYTES = 64 * 1024
const MAX_PARAMETER = 8_192 // of a path: the longest token of a link has 5,300 characters
const RETRY_AFTER_SECONDS = 5
const UNREAD_MS = 1_000 // a connection without a request for so long has none on its way

export type ServerOptions = {
  log: FastifyBaseLogger
  /** What the rate headers of an error show, where the request came too short to be counted. */
  gate: Pick<Gate<Credential>, 'showAllowance' | 'allowanceOf'>
  requireHttps: boolean
  trustProxy: string[]
  tls: { certFile: string; keyFile: string } | null
  /** Called with the request and status of every response in the envelope. */
  noteResponse?: FastifyRequest['noteResponse']
  /** Answers what is not a valid URL itself where that is wanted, and says whether it did. */
  answerBadAddress?: (request: FastifyRequest, reply: FastifyReply) => boolean
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { log, gate, requireHttps, trustProxy, tls, answerBadAddress = () => false } = options
  const nextId = createRequestIds()
  const proxies = parseRanges(trustProxy.join('\n')).ranges
  const server = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 && ((address: string) => proxies.has(address)), // Fastify would parse each anew
    ...(tls ? { https: readTls(tls) } : {}),
    genReqId: nextId,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // what still comes in while closing is answered like anything else
    http: { requireHostHeader: false }, // Node would answer itself, and not in the envelope
    // Left as text: a route that takes parameters reads those it knows.
    routerOptions: {
      maxParamLength: MAX_PARAMETER,
      querystringParser: ((text: string) => text) as unknown as (text: string) => Record<string, unknown>,
    },
    frameworkErrors: (_error, request, reply) => {
      if (answerBadAddress(request, reply)) return
      gate.showAllowance(request)
      sendError(request, reply, 'INVALID_REQUEST', 'The request URL is not valid.')
    },
    clientErrorHandler(error, socket) {
      if (!socket.writable) return socket.destroy()
      socket.end(rawBadRequest(nextId(), error.code ?? '', gate.allowanceOf(socket.remoteAddress ?? '')))
    },
  }) as unknown as FastifyInstance
  server.setChildLoggerFactory((logger) => logger) // a logger of its own for every request would cost more than routing it
  server.decorateRequest('credential', null)
  server.decorateRequest('allowance', undefined)
  server.decorateRequest('named', null)
  server.decorateRequest('knownIp', null)
  server.decorateRequest('startedAt', 0)
  server.decorateRequest('error', null)
  server.decorateRequest('noteResponse', options.noteResponse ?? (() => {}))
  // Node would answer an unknown Expect header with 417; here it is ignored.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response))
  const sockets = new Set<Socket>()
  server.server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    void socket.remoteAddress // asked for while it is open, it is also known of a client that left before its answer
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Browsers and balancers open connections ahead: without a request, they would keep the server from closing. A request
  // that has just been sent may not be read yet.
  server.addHook('preClose', (done) => {
    const closeUnused = () => sockets.forEach((socket) => socket.bytesRead === 0 && socket.destroy())
    setTimeout(closeUnused, UNREAD_MS).unref()
    done()
  })
  server.setValidatorCompiler(compileValidator)
  server.addHook('onRoute', validateTogether)
  server.setSerializerCompiler(() => JSON.stringify)
  acceptJson(server)
  server.setErrorHandler((error: FastifyError | AppError, request, reply) => {
    gate.showAllowance(request)
    answerError(error, request, reply)
  })
  if (trustProxy.length > 0) server.addHook('onRequest', tidyForwarded)
  server.addHook('onRequest', refuseTwoHosts)
  if (requireHttps) server.addHook('onRequest', refusePlainHttp)
  server.addHook('onSend', secureHeaders)
  return server
}

/** A proxy may go by the one and we by the other (RFC 9112, 3.2). */
const refuseTwoHosts: onRequestHookHandler = ({ raw: { rawHeaders } }, _reply, done) => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  if (count < 2) done()
  else done(new AppError('INVALID_REQUEST', 'The request has more than one Host header.', { Host: 'Send one Host.' }))
}

const tidyForwarded: onRequestHookHandler = ({ headers }, _reply, done) => {
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded === 'string') headers['x-forwarded-for'] = readForwarded(forwarded)
  done()
}

/** Everything but health, which load balancers ask for from within. */
const refusePlainHttp: onRequestHookHandler = (request, _reply, done) => {
  if (isHttps(request) || /^\/(healthz|readyz)($|\?)/.test(request.url)) done()
  else {
    const advice = 'If a proxy is in front, list it in TRUST_PROXY. Rotate credentials that were sent unencrypted.'
    done(new AppError('INVALID_REQUEST', `This server answers over HTTPS only. ${advice}`))
  }
}

/** For all that is not sent by envelope.ts, which brings its own. */
const secureHeaders: onSendHookHandler = (request, reply, payload, done) => {
  reply.header('X-Request-Id', request.id)
  reply.header('X-Content-Type-Options', 'nosniff')
  reply.header('Referrer-Policy', 'no-referrer')
  if (!reply.hasHeader('Content-Security-Policy')) reply.header('Content-Security-Policy', STRICT_POLICY)
  if (isHttps(request)) reply.header(...STAY_HTTPS)
  done(null, payload)
}

function readTls({ certFile, keyFile }: { certFile: string; keyFile: string }) {
  try {
    const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
    createSecureContext(pair) // so that a file that is no key is found here
    return pair
  } catch (error) {
    throw new OperatorError(`Cannot use the TLS files: ${messageOf(error)}. Check TLS_CERT and TLS_KEY.`)
  }
}

/** Only the six codes leave v1. What is not meant for the client is logged whole and answered with a fixed sentence. */
function answerError(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof AppError) {
    const more = error.code === 'RATE_LIMIT_EXCEEDED' ? ['Retry-After', secondsToReset(request)] : []
    const details = error.details && pointOutNames(error.details, request.url)
    return sendError(request, reply, error.code, error.message, details, more)
  }
  // Fastify's own complaints about a body: not JSON, of another type, too large.
  if (typeof error.statusCode === 'number' && error.statusCode < 500) {
    const problem = bodyProblem(error, request)
    return sendError(request, reply, 'INVALID_REQUEST', problem, { body: problem })
  }
  request.log.error(
    { err: error, method: request.method, route: request.routeOptions.url, request_id: request.id },
    'request failed',
  )
  sendError(
    request,
    reply,
    'SERVER_ERROR',
    'Something went wrong on our side. Try again shortly: repeating a request is safe.',
    null,
    ['Retry-After', String(RETRY_AFTER_SECONDS)],
  )
}

function secondsToReset(request: FastifyRequest): string {
  const resetAtMs = request.allowance?.resetAtMs ?? Date.now()
  return String(Math.max(1, Math.ceil((resetAtMs - Date.now()) / 1000)))
}

function bodyProblem({ code, message }: FastifyError, { routeOptions, headers }: FastifyRequest): string {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return `The body is larger than ${routeOptions.bodyLimit} bytes.`
  if (compressionOf(headers) !== null) return `The body is compressed. ${UNCOMPRESSED}`
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'Send the body as application/json.'
  if (code === INVALID_JSON) return message
  if (/EMPTY/.test(code)) return 'The body is empty. Send a JSON object.'
  return 'The body could not be read.'
}
