// The ID of a request says, where it matters later, where the request came in: the clicks of links keep it. A click and a
// call of an advertiser have the ID of their row in it, so that each is found from the other without a column for it.
import { randomBytes } from 'node:crypto'
import { isUuid, uuid7 } from '../lib/uuid7.ts'

export const WALL_REQUESTS = 'wall_'
const CLICK_REQUESTS = 'click_'
const CALL_REQUESTS = 'call_'

/** Cheap and unique: a random start for the process, then a count. */
export function createRequestIds(): (request?: { url?: string | undefined }) => string {
  const start = randomBytes(9).toString('base64url').replaceAll(/[-_]/g, '0')
  let count = 0
  const next = (prefix: string) => `${prefix}${start}${(count++).toString(36)}`
  return (request) => {
    const url = request?.url ?? ''
    const letter = url[1] // most requests are none of these
    if (letter === 'w' && url.startsWith('/wall')) return next(WALL_REQUESTS)
    if (letter === 'c' && url.startsWith('/c/')) return clickRequest(uuid7(Date.now()))
    if (letter === 'p' && url.startsWith('/postback')) return callRequest(uuid7(Date.now()))
    return next('req_')
  }
}

/** The request that followed a link, by its click_id. */
export const clickRequest = (clickId: string) => `${CLICK_REQUESTS}${clickId}`
/** The call of an advertiser, by its inbound_id. */
export const callRequest = (inboundId: string) => `${CALL_REQUESTS}${inboundId}`

/** The click_id that such a request has. */
export const clickOfRequest = (requestId: string) => idAfter(CLICK_REQUESTS, requestId)
/** The inbound_id that such a request has. */
export const callOfRequest = (requestId: string) => idAfter(CALL_REQUESTS, requestId)

function idAfter(prefix: string, requestId: string): string | null {
  const id = requestId.startsWith(prefix) ? requestId.slice(prefix.length) : ''
  return isUuid(id) ? id : null
}
