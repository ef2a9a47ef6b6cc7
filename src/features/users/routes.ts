import type { FastifyInstance } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError, badRequest } from '../../errors.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import { cutPage } from '../../http/paging.ts'
import { parseSteps, stepsToUnits } from '../../lib/money.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { debitUser, type DebitOutcome, listEntries, presentEntry, readBalance } from './balances.ts'
import { DebitHeaders, DebitReply, NewDebit, User, UserParams, UserQuery } from './schema.ts'

export type UserRoutesOptions = {
  gate: Gate<AppCredential>
  db: Db
  isBanned: (credential: AppCredential, userId: string) => boolean
}

export function userRoutes(server: FastifyInstance, { gate, db, isBanned }: UserRoutesOptions): void {
  server.get<{ Params: UserParams; Querystring: UserQuery }>(
    '/users/:userId',
    {
      schema: {
        operationId: 'getUser',
        summary: 'Get the balance of a user',
        description:
          'For apps that let Offerdeck keep the balances of their users. A user without entries has a balance of 0.',
        tags: ['Users'],
        params: UserParams,
        querystring: UserQuery,
        response: { 200: successReply(User), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const { appId, isTest, currency, keepsBalance } = gate.callerOf(request)
      const { userId } = request.params
      const { limit, cursor } = request.query
      const user = { appId, isTest, userId }
      const found = await listEntries(db, user, cursor === undefined ? null : Number(cursor), limit + 1)
      const { page, nextCursor } = cutPage(found, limit, ({ entry_id }) => String(entry_id))
      const data = {
        user_id: userId,
        balance: stepsToUnits(await readBalance(db, user)),
        currency: currency.name,
        keeps_balance: keepsBalance,
        entries: page.map(presentEntry),
        next_cursor: nextCursor,
      }
      sendJson(request, reply, 200, successJson(request, data, 'User retrieved successfully'))
      return reply
    },
  )

  server.post<{ Params: UserParams; Body: NewDebit; Headers: { 'idempotency-key': string } }>(
    '/users/:userId/debits',
    {
      schema: {
        operationId: 'debitUser',
        summary: "Debit a user's balance",
        description:
          'Call this before you hand over what the user pays for. Debits never make a balance negative, however many come at ' +
          'once; one that exceeds the balance is refused with `INVALID_REQUEST`.',
        tags: ['Users'],
        params: UserParams,
        headers: DebitHeaders,
        body: NewDebit,
        response: {
          200: successReply(DebitReply),
          201: successReply(DebitReply),
          ...errorReplies(400, 401, 429, 500),
        },
      },
    },
    async (request, reply) => {
      const caller = gate.callerOf(request)
      const { appId, isTest, currency } = caller
      const { userId } = request.params
      const { amount, note = null } = request.body
      const amountSteps = parseSteps(amount)
      if (amountSteps === null || amountSteps === 0)
        throw badRequest({ amount: 'amount must be above 0 and below 1,000,000,000, with at most 4 decimals.' })
      const debit = { amountSteps, key: request.headers['idempotency-key'], note }
      const isClosed = !caller.keepsBalance || isBanned(caller, userId)
      const outcome = await debitUser(db, { appId, isTest, userId }, debit, { now: new Date(), isClosed })
      if (!('entry' in outcome)) throw refusal(outcome, amount, caller)
      const { kind, entry, balanceSteps } = outcome
      const isNew = kind === 'debited'
      const data = { entry: presentEntry(entry), balance: stepsToUnits(balanceSteps), currency: currency.name }
      const message = isNew ? 'Debit recorded successfully' : 'This debit is already recorded'
      sendJson(request, reply, isNew ? 201 : 200, successJson(request, data, message))
      return reply
    },
  )
}

function refusal(
  outcome: Exclude<DebitOutcome, { entry: unknown }>,
  amount: number,
  { keepsBalance, currency }: AppCredential,
): AppError {
  if (outcome.kind === 'closed')
    return keepsBalance
      ? new AppError('INVALID_REQUEST', 'This user is banned.', {
          userId: 'The balance of a banned user stays as it is until the ban is lifted.',
        })
      : new AppError('INVALID_REQUEST', 'This app keeps no balances. Enable them in its reward settings.')
  if (outcome.kind === 'key_reused')
    return new AppError('INVALID_REQUEST', 'This Idempotency-Key was used for another request.', {
      'Idempotency-Key': 'Idempotency-Key must be new for every new request.',
    })
  const balance = stepsToUnits(outcome.balanceSteps)
  return new AppError('INVALID_REQUEST', 'The balance of this user is too small.', {
    amount: `amount is ${amount} ${currency.name}, and the balance is ${balance} ${currency.name}.`,
  })
}
