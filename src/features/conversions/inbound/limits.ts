// How much is stored of what cannot be processed. Anyone can call, so unknown callers leave little: a few short lines a
// minute for each IP address, and for all of them together. An advertiser's own calls are stored in full, because they
// can be processed once the mapping is fixed; beyond the limit they get 429, so that no acknowledged call is lost.
import type { Allowance, RateLimiter } from '../../../http/rate-limit.ts'
import type { InboundCall } from './inbound-call.ts'

const REFUSALS_A_MINUTE = 100
const KEPT_OF_ADDRESS_A_MINUTE = 20
const KEPT_OF_STRANGERS_A_MINUTE = 60
/** Characters of an unknown caller's query, and of its body. */
export const KEPT_OF_STRANGER = 512
/** Per advertiser: 600 calls of usual length. */
const KEPT_KILOBYTES_A_MINUTE = 600

export type CallLimits = {
  /** Counts a call with an invalid token against its IP address. */
  countRefusal: (address: string) => Allowance | Promise<Allowance>
  /** Whether the log stores one more call with an invalid token from this IP address. */
  mayKeepStrangers: (address: string) => Promise<boolean>
  /**
   * Whether the log stores one more call of this advertiser that cannot be processed, for this reason; it then counts
   * as stored.
   */
  mayKeep: (call: InboundCall, reason?: string) => Promise<boolean>
  /** Whether it stores none now, as far as this process knows. */
  isOverBudget: (call: InboundCall) => boolean
}

const INVALID = 'invalid'
const keptKey = ({ advertiserId }: InboundCall, reason: string) => `postback-kept:${advertiserId}:${reason}`

export function createCallLimits(limiter: RateLimiter): CallLimits {
  const takes = async (key: string, limit: number, cost = 1) => !(await limiter.take(key, limit, cost)).exceeded
  return {
    countRefusal: (address) => limiter.take(`postback:${address}`, REFUSALS_A_MINUTE),
    mayKeepStrangers: async (address) =>
      (await takes(`postback-kept:${address}`, KEPT_OF_ADDRESS_A_MINUTE)) &&
      (await takes('postback-kept', KEPT_OF_STRANGERS_A_MINUTE)),
    mayKeep(call, reason = INVALID) {
      const kilobytes = Math.max(1, Math.ceil((call.query.length + call.body.length) / 1_024))
      return takes(keptKey(call, reason), KEPT_KILOBYTES_A_MINUTE, kilobytes)
    },
    isOverBudget: (call) => limiter.peek(keptKey(call, INVALID), KEPT_KILOBYTES_A_MINUTE).remaining === 0,
  }
}
