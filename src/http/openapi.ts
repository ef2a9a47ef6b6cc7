// The OpenAPI description, made from the schemas of the routes.
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type Description, nameComponents } from './components.ts'
import { type ErrorCode, MANAGE_ERRORS } from '../errors.ts'
import { PreparedAnswer } from './prepared.ts'
import { shape } from './shape.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI description of all routes. */
    describe(): Description
  }
}

const Meta = shape('Meta', {
  timestamp: Type.Integer({ description: 'Unix seconds.' }),
  request_id: Type.String({ description: 'Also in X-Request-Id. Include it when you ask for help.' }),
})

const Details = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
  description: 'What is wrong, by parameter.',
})

/** A response in JSON. Its description is not repeated in its schema. */
export const jsonReply = (description: string, schema: TSchema) => ({
  description,
  content: { 'application/json': { schema } },
})

const Success = shape('Success', { success: Type.Literal(true), message: Type.String(), meta: Meta })

export const successReply = (data: TSchema) =>
  jsonReply('Success.', Type.Intersect([Success, Type.Unsafe({ required: ['data'], properties: { data } })]))

const errorReply = (name: string, description: string, codes: readonly ErrorCode[]) => {
  const code = Type.Unsafe<ErrorCode>({ type: 'string', enum: codes })
  const error = Type.Object({ code, message: Type.String(), details: Details })
  return jsonReply(description, shape(`${name}Error`, { success: Type.Literal(false), error, meta: Meta }))
}

const ERROR_REPLIES = {
  400: errorReply('InvalidRequest', 'A parameter is missing or invalid: `details` says which.', ['INVALID_REQUEST']),
  401: errorReply('InvalidCredentials', 'The API key or secret is missing, wrong or expired.', [
    'INVALID_API_KEY',
    'INVALID_API_SECRET',
  ]),
  404: errorReply('NotFound', 'Not found, or not part of your app.', ['RESOURCE_NOT_FOUND']),
  429: errorReply('RateLimit', 'Too many requests. Retry after `Retry-After` seconds.', ['RATE_LIMIT_EXCEEDED']),
  500: errorReply('Server', 'Something went wrong on our side. Repeating the request is safe.', ['SERVER_ERROR']),
}

/** What the public API answers with each of these statuses. */
export const errorReplies = (...statuses: (keyof typeof ERROR_REPLIES)[]) =>
  Object.fromEntries(statuses.map((status) => [status, ERROR_REPLIES[status]]))

const MANAGE_CODES = (Object.keys(MANAGE_ERRORS) as ErrorCode[]).filter((code) => !code.startsWith('INVALID_API_'))
const STATUSES = MANAGE_CODES.map((code) => `\`${code}\` (${MANAGE_ERRORS[code]})`).join(', ')

/** Every operation of the management API fails in the same ways. */
export const MANAGE_ERROR_REPLIES = {
  '4xx': errorReply('Manage', `With its status: ${STATUSES}. Status 500 has the same form.`, MANAGE_CODES),
}

const TAGS = {
  Offers: 'The offers a user can complete, with a tracked link for each.',
  Conversions: 'Completions: report them, list them, follow their events.',
  Postbacks: 'What your server was sent about conversions: delivery log, resends, test postbacks.',
  Users: 'Balances of users, for apps that let Offerdeck keep them.',
  Statistics: 'Clicks, conversions and payout, by day, offer, country or sub-ID.',
  Links: 'Tracked links that users follow.',
  Wall: 'The offerwall’s own API, for browsers: it takes the public API key alone.',
  Lockers: 'Content and link lockers: their pages, and the proofs that your server redeems.',
  Advertisers: 'Callbacks of advertisers, server to server.',
  Health: 'For load balancers and monitoring.',
}

/** Must come before the routes that it describes. `moreTags` are those of the routes that are not known here. */
export async function describeApi(
  server: FastifyInstance,
  publicUrl: string,
  moreTags: Record<string, string>,
): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Offerdeck API',
        version: 'v1',
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
        description:
          'Offers for your users, over one API. Send the API key and secret of your app with every request, from your servers only: ' +
          'as headers, or as the query parameters `apiKey` and `apiSecret`. Every path also works without the leading `/api`. All times are RFC 3339 in UTC.',
      },
      servers: [{ url: publicUrl }],
      tags: Object.entries({ ...TAGS, ...moreTags }).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Public: pk_live_… or pk_test_….' },
          apiSecret: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Secret',
            description: 'Private: sk_live_… or sk_test_…. For servers only.',
          },
          apiKeyInQuery: { type: 'apiKey', in: 'query', name: 'apiKey' },
          apiSecretInQuery: { type: 'apiKey', in: 'query', name: 'apiSecret' },
          bearer: { type: 'http', scheme: 'bearer', description: 'A token of the management API: mt_….' },
          session: { type: 'apiKey', in: 'cookie', name: 'offerdeck.session_token', description: 'Set by signing in.' },
        },
      },
      security: [
        { apiKey: [], apiSecret: [] },
        { apiKeyInQuery: [], apiSecretInQuery: [] },
      ],
    },
  })
  let description: Description | null = null
  server.decorate('describe', () => (description ??= nameComponents(server.swagger() as unknown as Description)))
  const answer = new PreparedAnswer('application/json; charset=utf-8', 'no-cache', () =>
    JSON.stringify(server.describe()),
  )
  server.get('/openapi.json', { schema: { hide: true } }, async (request, reply) => answer.send(request, reply))
}

/** An answer for people. */
export const pageReply = (description: string) => ({
  description,
  content: { 'text/html': { schema: { type: 'string' } } },
})
