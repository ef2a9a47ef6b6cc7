/** Whether the copy that a client has, by its If-None-Match, is what it would be sent. `etag` is a weak one: W/"…". */
export function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const strong = etag.slice(2) // a weak comparison takes W/"x" and "x" as the same
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === strong)
}
