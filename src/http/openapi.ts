// The OpenAPI description, made from the schemas of the routes.
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type ErrorCode, ERRORS, MANAGE_ERRORS } from '../errors.ts'

const Meta = Type.Object({
  timestamp: Type.Integer({ description: 'Unix seconds.' }),
  request_id: Type.String({ description: 'Also in X-Request-Id. Include it when you ask for help.' }),
})

export const successReply = (data: TSchema) =>
  Type.Object({ success: Type.Boolean(), data, message: Type.String(), meta: Meta }, { description: 'Success.' })

type Codes = Partial<Record<ErrorCode, number>>

/** The error envelope for each of these statuses, with those of `codes` that travel with it. */
const repliesOf =
  (codes: Codes) =>
  (...statuses: number[]): Record<number, TSchema> =>
    Object.fromEntries(
      statuses.map((status) => {
        const possible = (Object.keys(codes) as ErrorCode[]).filter((code) => codes[code] === status)
        const error = Type.Object({
          code: Type.Unsafe<ErrorCode>({ type: 'string', enum: possible }),
          message: Type.String(),
          details: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
            description: 'What is wrong, by parameter.',
          }),
        })
        return [
          status,
          Type.Object({ success: Type.Boolean(), error, meta: Meta }, { description: possible.join(' or ') }),
        ]
      }),
    )

export const errorReplies = repliesOf(ERRORS)

const { INVALID_API_KEY: _key, INVALID_API_SECRET: _secret, ...MANAGE_CODES } = MANAGE_ERRORS
export const manageErrorReplies = repliesOf(MANAGE_CODES)

/** Must come before the routes that it is to describe. */
export async function describeApi(server: FastifyInstance, publicUrl: string): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Offerdeck API',
        version: 'v1',
        description:
          'Offers for your users, over one API. Send the API key and secret of your app with every request, from your servers only: ' +
          'as headers, or as the query parameters `apiKey` and `apiSecret`. Every path also works without the leading `/api`.',
      },
      servers: [{ url: publicUrl }],
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
  server.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('Cache-Control', 'no-cache').send(server.swagger()),
  )
}
