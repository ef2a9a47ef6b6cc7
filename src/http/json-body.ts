// Reads JSON bodies as Fastify does, and says where one stops being JSON.
import type { FastifyError, FastifyInstance } from 'fastify'
import { UNCOMPRESSED } from './compression.ts'

export const INVALID_JSON = 'INVALID_JSON'

export function acceptJson(server: FastifyInstance): void {
  const parse = server.getDefaultJsonParser('error', 'error')
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    void parse(request, body, (error, value) => {
      if (error === null || (error as FastifyError).code?.includes('EMPTY')) return done(error, value)
      done(Object.assign(new Error(describeProblem(body)), { code: INVALID_JSON, statusCode: 400 }))
    })
  })
}

const GZIP = '\x1f'

function describeProblem(text: string): string {
  if (text.startsWith(GZIP)) return `The body is compressed. ${UNCOMPRESSED}`
  if (/^\s*</.test(text)) return 'The body is XML or HTML. Send a JSON object.'
  try {
    JSON.parse(text)
  } catch (error) {
    // V8 names a position, or the token that it did not expect, or neither where the text ends.
    const [, token, position] = /Unexpected token '(.+?)',| position (\d+)/su.exec((error as Error).message) ?? []
    if (token !== undefined) return `The body is not valid JSON: “${token}” cannot be there.`
    if (position === undefined || Number(position) >= text.length)
      return 'The body is not valid JSON: it ends too early.'
    const before = text.slice(0, Number(position))
    const place = `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`
    const isTrailing = /,\s*$/.test(before) && /^[}\]]/.test(text.slice(Number(position)))
    return `The body is not valid JSON: ${isTrailing ? `remove the comma before ${place}` : `see ${place}`}.`
  }
  return 'The body must not have properties named __proto__ or constructor.'
}
