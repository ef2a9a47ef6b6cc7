import type { Visitor } from '../clicks/visitor.ts'
import type { Platform } from '../offers/choices.ts'

/** A request for offers as this visitor: the country and platform are the visitor's where the request names no others. */
export function asVisitor<Q extends { country?: string; platform?: Platform }>(query: Q, visitor: Visitor): Q {
  const country = query.country ?? visitor.country
  const platform = query.platform ?? visitor.platform
  return { ...query, ...(country === null ? {} : { country }), ...(platform === null ? {} : { platform }) }
}
