// Reads JSON bodies as Fastify does, and says where one stops being JSON.
import type { FastifyError, FastifyInstance } from 'fastify'
import { findJsonProblem } from '../lib/json-problem.ts'
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
  const problem = findJsonProblem(text)
  return problem === null ? 'The body must not have properties named __proto__ or constructor.' : `The body ${problem}.`
}
