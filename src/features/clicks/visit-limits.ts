// Limits how often links may be followed: by one user from one IP address, as often as a person might; from one IP
// address in all, as often as the users of a large NAT might. Counted by each process alone, in bounded memory: it
// keeps a flood from filling the table of clicks, and need not be exact.
//
// Private addresses are the operator's own network, or a proxy that TRUST_PROXY does not name and behind which all
// users are: they are not limited.
import { createMemoryLimiter } from '../../http/rate-limit.ts'
import { hashText } from '../../lib/hash-text.ts'
import { networkOf } from '../../lib/ip-address.ts'
import { parseRanges } from '../../lib/ip-ranges.ts'
import type { LinkContext } from '../offers/links.ts'

const A_MINUTE_BY_USER = 60
const A_MINUTE_BY_NETWORK = 6_000

const { ranges: OWN } = parseRanges(
  '127.0.0.0/8\n10.0.0.0/8\n172.16.0.0/12\n192.168.0.0/16\n169.254.0.0/16\n::1\nfc00::/7\nfe80::/10',
)

export type VisitLimits = {
  /** Counts a visit; null, or in how many seconds to come again. */
  countVisit(ip: string): number | null
  /** Counts a visit by the user of the link. */
  countUser(ip: string, context: LinkContext): number | null
}

export function createVisitLimits(now: () => number = Date.now): VisitLimits {
  const limiter = createMemoryLimiter(now)
  const count = (key: string, limit: number): number | null => {
    const { exceeded, resetAtMs } = limiter.take(key, limit)
    return exceeded ? Math.max(1, Math.ceil((resetAtMs - now()) / 1000)) : null
  }
  return {
    countVisit: (ip) => (OWN.has(ip) ? null : count(networkOf(ip), A_MINUTE_BY_NETWORK)),
    // Hashed, because ids of users can be long, and a hundred thousand are kept.
    countUser: (ip, { appId, userId }) =>
      OWN.has(ip) ? null : count(`${networkOf(ip)} ${hashText(userId, appId)}`, A_MINUTE_BY_USER),
  }
}
