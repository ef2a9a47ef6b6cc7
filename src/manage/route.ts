// One operation of the management API: what it takes, who may use it, what it does. The schema that documents it checks
// it, and types it.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Replica } from '../db/replica.ts'
import type { Actor } from '../features/accounts/audit.ts'
import { sendJson, successJson } from '../http/envelope.ts'
import { MANAGE_ERROR_REPLIES, successReply } from '../http/openapi.ts'
import { type Access, describeAccess, type Operation, type Tag } from './access.ts'
import { CsvFile, NdjsonFile } from './csv.ts'
import type { Caller, ManagedApp } from './gate.ts'
import { describePath, describeQuery } from './parameters.ts'

const None = Type.Object({})

const FILE_REPLIES = new Map<TSchema, object>([
  [CsvFile, { description: 'Success.', content: { 'text/csv': { schema: CsvFile } } }],
  [NdjsonFile, { description: 'Success.', content: { 'application/x-ndjson': { schema: NdjsonFile } } }],
])

export type Route<P extends TObject, Q extends TObject, B extends TObject, R extends TSchema> = {
  id: string
  /** A few words, verb first. */
  summary: string
  /** What a caller should know beyond that, in a sentence or two. */
  about: string
  tag: Tag
  access: Access
  /** Creates people, tokens, secrets or ways in: the gate asks for a recently verified session. */
  sensitive?: boolean
  /** Changes nothing, despite its method. */
  changesNothing?: boolean
  /** Open to those who must set up a second factor first. */
  forSetUp?: boolean
  params?: P
  query?: Q
  body?: B
  reply: R
  bodyLimit?: number
  run: (call: Call<Static<P>, Static<Q>, Static<B>>) => Promise<Static<R>>
}

/** One use of an operation. */
export type Call<P, Q, B> = {
  params: P
  query: Q
  body: B
  /** The signed-in person. Throws where none is required. */
  caller: Caller
  /** The same for the audit log. */
  by: Actor
  /** The app that the path names. */
  app: ManagedApp
  /** The publisher that the path names, or whose app it names. */
  publisherId: number
  request: FastifyRequest
  reply: FastifyReply
  /** Goes out with the answer. */
  cookies: string[]
}

type Add = <
  P extends TObject = typeof None,
  Q extends TObject = typeof None,
  B extends TObject = typeof None,
  R extends TSchema = TSchema,
>(
  url: string,
  route: Route<P, Q, B, R>,
) => void

export type ManageRoutes = Record<'get' | 'post' | 'put' | 'patch' | 'delete', Add>

/** Unknown fields are refused, at any depth: they would be recorded in the audit log, or passed on. */
function closed<S>(schema: S): S {
  if (Array.isArray(schema)) return schema.map(closed) as S
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value as unknown)]))
  return ('properties' in copy ? { additionalProperties: false, ...copy } : copy) as S
}

/** `replica`: what operations that only read may read from. */
export function createRoutes(server: FastifyInstance, replica: Replica | null): ManageRoutes {
  const adder =
    (method: HTTPMethods): Add =>
    (url, route) => {
      const { id, summary, about, tag, params, query, body, reply: data, bodyLimit, run } = route
      const operation: Operation = {
        access: route.access,
        tag,
        isRead: method === 'GET' || route.changesNothing === true,
        isSensitive: route.sensitive === true,
        isForSetUp: route.forSetUp === true,
      }
      server.route({
        method,
        url,
        ...(bodyLimit === undefined ? {} : { bodyLimit }),
        config: { operation },
        schema: {
          operationId: id,
          summary,
          tags: [tag],
          ...describeAccess(operation, about),
          ...(params === undefined ? {} : { params: describePath(params) }),
          ...(query === undefined ? {} : { querystring: describeQuery(query) }),
          ...(body === undefined ? {} : { body: closed(body) }),
          response: {
            200: FILE_REPLIES.get(data) ?? successReply(data),
            ...MANAGE_ERROR_REPLIES,
          },
        },
        async handler(request, reply) {
          const { caller, managedApp, managedPublisherId } = request
          const cookies = [...(caller?.renewed ?? [])]
          const call = {
            params: request.params as never,
            query: request.query as never,
            body: request.body as never,
            caller: caller as Caller,
            by: {
              id: caller?.id ?? null,
              email: caller?.email ?? '',
              ip: request.ip,
              role: caller?.role ?? null,
              sessionId: caller?.session?.id ?? null,
              tokenId: caller?.token?.id ?? null,
              via: caller?.token ? `token ${caller.token.id}: ${caller.token.name}` : null,
              requestId: request.id,
            },
            app: managedApp as ManagedApp,
            publisherId: managedPublisherId as number,
            request,
            reply,
            cookies,
          }
          const answer = await (operation.isRead && replica !== null
            ? replica.read(
                () => run(call),
                () => reply.sent || reply.raw.headersSent,
              )
            : run(call))
          if (!operation.isRead) await replica?.caughtUp()
          if (reply.sent) return reply
          sendJson(
            request,
            reply,
            200,
            successJson(request, answer, 'Done'),
            ['Cache-Control', 'no-store', ...cookies.flatMap((cookie) => ['Set-Cookie', cookie])], // there may be secrets in it
          )
          return reply
        },
      })
    }
  return {
    get: adder('GET'),
    post: adder('POST'),
    put: adder('PUT'),
    patch: adder('PATCH'),
    delete: adder('DELETE'),
  }
}
