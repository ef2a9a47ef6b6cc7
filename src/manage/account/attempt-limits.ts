// Guessing is slow: from one IP address, at one account, and in another person's open session.
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { addressOf } from '../../http/gate.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import type { Caller } from '../gate.ts'

const BY_ADDRESS = 10 // a minute
const AT_ACCOUNT = 100 // many more: otherwise anyone could keep a person from signing in
const BY_PERSON = 10

/** The kinds of attempts. Each is counted separately, so that one cannot be used to block another. */
type What = 'sign-in' | 'sign-up' | 'reset' | 'invitation'

export type AttemptLimits = {
  count(request: FastifyRequest, what: What, account?: string): Promise<void>
  /** Of a password or a code, by a person who is signed in already. */
  countOf(caller: Caller): Promise<void>
}

export function createAttemptLimits(limiter: RateLimiter): AttemptLimits {
  async function take(key: string, limit: number): Promise<void> {
    const { exceeded } = await limiter.take(key, limit)
    if (exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many attempts. Wait a minute and try again.')
  }
  return {
    async count(request, what, account) {
      await take(`${what} ${addressOf(request)}`, BY_ADDRESS)
      if (account !== undefined) await take(`${what} at ${account.trim().toLowerCase()}`, AT_ACCOUNT)
    },
    countOf: (caller) => take(`password of ${caller.id}`, BY_PERSON),
  }
}
