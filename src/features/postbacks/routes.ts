import type { FastifyInstance } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { isUuid } from '../../lib/uuid7.ts'
import type { AppCredential } from '../apps/credentials.ts'
import {
  findPostback,
  type PostbackFilter,
  presentAttempt,
  presentPostback,
  readAttempts,
  searchPostbacks,
} from './postbacks.ts'
import { replayPostback } from './replay-postback.ts'
import {
  NewTestSends,
  PostbackDetailReply,
  PostbackList,
  PostbackListQuery,
  PostbackParams,
  PostbackReply,
  TestSendsParams,
  TestSendsReply,
} from './schema.ts'
import { limitTestSends, readTestSends, SCENARIO_NAMES, startTestSends } from './test-sends.ts'

export type PostbackRoutesOptions = {
  gate: Gate<AppCredential>
  db: Db
  limiter: RateLimiter
  /** Notifies the workers that something is due. */
  wake: () => void
}

const TAGS = ['Postbacks']

export function postbackRoutes(server: FastifyInstance, { gate, db, limiter, wake }: PostbackRoutesOptions): void {
  server.get<{ Querystring: PostbackListQuery }>(
    '/postbacks',
    {
      schema: {
        operationId: 'listPostbacks',
        summary: 'List postbacks',
        description: 'Every postback of your app, with its delivery status.',
        tags: TAGS,
        querystring: PostbackListQuery,
        response: { 200: successReply(PostbackList), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const { state, conversionId, limit, cursor } = request.query
      const { appId, isTest } = gate.callerOf(request)
      const filter: PostbackFilter = { appId, isTest }
      if (state !== undefined) filter.state = state
      if (conversionId !== undefined) filter.conversionId = conversionId
      if (cursor !== undefined) filter.before = cursor
      const { rows, next } = await searchPostbacks(db, filter, limit)
      const data = { postbacks: rows.map(presentPostback), next_cursor: next }
      sendJson(request, reply, 200, successJson(request, data, 'Postbacks retrieved successfully'))
      return reply
    },
  )

  server.get<{ Params: { postback_id: string } }>(
    '/postbacks/:postback_id',
    {
      schema: {
        operationId: 'getPostback',
        summary: 'Get one postback with every attempt',
        description: 'When each attempt was made, how long it took, and what your server answered.',
        tags: TAGS,
        params: PostbackParams,
        response: { 200: successReply(PostbackDetailReply), ...errorReplies(400, 401, 404, 429, 500) },
      },
    },
    async (request, reply) => {
      const postback = await findPostback(db, request.params.postback_id, gate.callerOf(request))
      if (postback === null) throw noSuchPostback()
      const attempts = await readAttempts(db, postback.postback_id)
      const data = { postback: { ...presentPostback(postback), tries: attempts.map(presentAttempt) } }
      sendJson(request, reply, 200, successJson(request, data, 'Postback retrieved successfully'))
      return reply
    },
  )

  server.post<{ Params: { postback_id: string } }>(
    '/postbacks/:postback_id/replay',
    {
      schema: {
        operationId: 'replayPostback',
        summary: 'Resend a postback',
        description: 'Uses the same webhook-id, so that a receiver that already processed it can ignore it.',
        tags: TAGS,
        params: PostbackParams,
        response: { 200: successReply(PostbackReply), ...errorReplies(400, 401, 404, 429, 500) },
      },
    },
    async (request, reply) => {
      const { postback_id } = request.params
      const replayed = await replayPostback(db, null, postback_id, gate.callerOf(request))
      if (replayed === null) throw noSuchPostback()
      wake()
      const data = { postback: presentPostback(replayed.postback), warning: replayed.warning }
      sendJson(request, reply, 200, successJson(request, data, 'The postback will be resent'))
      return reply
    },
  )

  server.post<{ Body: NewTestSends | null }>(
    '/postback-tests',
    {
      schema: {
        operationId: 'testPostbacks',
        summary: 'Send test postbacks',
        description:
          'Sends sample postbacks of each kind, marked is_test, to your own URL. Get the result by its test_id.',
        tags: TAGS,
        body: NewTestSends,
        response: { 201: successReply(TestSendsReply), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const caller = gate.callerOf(request)
      await limitTestSends(limiter, caller.appId)
      const testId = await startTestSends(db, null, caller, request.body?.scenarios ?? SCENARIO_NAMES, new Date())
      wake()
      const data = { test: await readTestSends(db, testId, caller) }
      sendJson(request, reply, 201, successJson(request, data, 'Test postbacks are on their way'))
      return reply
    },
  )

  server.get<{ Params: { test_id: string } }>(
    '/postback-tests/:test_id',
    {
      schema: {
        operationId: 'getPostbackTest',
        summary: 'Get the result of test postbacks',
        description: 'How your server responded to each sample postback, and whether that is correct.',
        tags: TAGS,
        params: TestSendsParams,
        response: { 200: successReply(TestSendsReply), ...errorReplies(400, 401, 404, 429, 500) },
      },
    },
    async (request, reply) => {
      const { test_id } = request.params
      const test = isUuid(test_id) ? await readTestSends(db, test_id, gate.callerOf(request)) : null
      if (test === null)
        throw new AppError('RESOURCE_NOT_FOUND', 'There is no such test.', {
          test_id: 'No test of this app has this ID.',
        })
      sendJson(request, reply, 200, successJson(request, { test }, 'Test retrieved successfully'))
      return reply
    },
  )
}

const noSuchPostback = () =>
  new AppError('RESOURCE_NOT_FOUND', 'There is no such postback.', {
    postback_id: 'No postback of this app has this ID.',
  })
