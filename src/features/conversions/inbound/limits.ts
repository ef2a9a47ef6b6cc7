// How much is kept of what cannot be processed. Anybody can call, so strangers leave little: a few short lines a minute for
// each address, and for all of them together. An advertiser's own calls are kept whole, because they can be processed once
// the mapping is mended; what would be too much is answered with 429, so that nothing is lost that was acknowledged.
import type { Allowance, RateLimiter } from '../../../http/rate-limit.ts'
import type { InboundCall } from './calls.ts'

const REFUSALS_A_MINUTE = 100
const KEPT_OF_ADDRESS_A_MINUTE = 20
const KEPT_OF_STRANGERS_A_MINUTE = 60
const KEPT_TEXT = 512
/** Of one advertiser: 600 calls of usual length. */
const KEPT_KILOBYTES_A_MINUTE = 600

export type CallLimits = {
  /** Counts a call with a wrong token against its address. */
  countRefusal: (address: string) => Allowance | Promise<Allowance>
  /** A stranger's call as the log keeps it, or null when it has enough of them. */
  shorten: (call: InboundCall, address: string) => Promise<InboundCall | null>
  /** Whether the log keeps one more call of this advertiser that cannot be processed, for this reason. */
  mayKeep: (call: InboundCall, reason?: string) => Promise<boolean>
}

export function createCallLimits(limiter: RateLimiter): CallLimits {
  const takes = async (key: string, limit: number, cost = 1) => !(await limiter.take(key, limit, cost)).exceeded
  return {
    countRefusal: (address) => limiter.take(`postback:${address}`, REFUSALS_A_MINUTE),
    async shorten(call, address) {
      const isKept =
        (await takes(`postback-kept:${address}`, KEPT_OF_ADDRESS_A_MINUTE)) &&
        (await takes('postback-kept', KEPT_OF_STRANGERS_A_MINUTE))
      if (!isKept) return null
      const [query, body] = [call.query.slice(0, KEPT_TEXT), call.body.slice(0, KEPT_TEXT)]
      const isCut = call.isCut || query.length + body.length < call.query.length + call.body.length
      return { ...call, query: query.toWellFormed(), body: body.toWellFormed(), isCut }
    },
    mayKeep(call, reason = 'invalid') {
      const kilobytes = Math.max(1, Math.ceil((call.query.length + call.body.length) / 1_024))
      return takes(`postback-kept:${call.advertiserId}:${reason}`, KEPT_KILOBYTES_A_MINUTE, kilobytes)
    },
  }
}
