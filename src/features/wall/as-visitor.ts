import type { Visitor } from '../clicks/visitor.ts'
import type { Platform } from '../offers/choices.ts'

/**
 * A request for offers as this visitor: the country and platform are the visitor's where the request names no others. A
 * country that is not the visitor's is noted for the fraud rules.
 */
export function asVisitor<Q extends { country?: string; platform?: Platform }>(
  query: Q,
  visitor: Visitor,
): Q & { claimsCountry: boolean } {
  const country = query.country ?? visitor.country
  const platform = query.platform ?? visitor.platform
  const claimsCountry = visitor.country !== null && country?.toUpperCase() !== visitor.country
  return {
    ...query,
    claimsCountry,
    ...(country === null ? {} : { country }),
    ...(platform === null ? {} : { platform }),
  }
}
