// The ID of a request says, where it matters later, where the request came in: the clicks of links keep it.
import { randomBytes } from 'node:crypto'

export const WALL_REQUESTS = 'wall_'

/** Cheap and unique: a random start for the process, then a count. */
export function createRequestIds(): (request?: { url?: string | undefined }) => string {
  const start = randomBytes(9).toString('base64url').replaceAll(/[-_]/g, '0')
  let count = 0
  return (request) =>
    `${request?.url?.startsWith('/wall') === true ? WALL_REQUESTS : 'req_'}${start}${(count++).toString(36)}`
}
