import { createHash } from 'node:crypto'
import type { ServiceTerms, ShownTerms } from './schema.ts'

/** Stored with what was accepted, so it never changes. Migration 0205 computes the same. */
export const hashTerms = ({ url, text }: Pick<ServiceTerms, 'url' | 'text'>): string =>
  createHash('sha256')
    .update(url === null ? `text:${text}` : `url:${url}`)
    .digest('hex')

export const showTerms = (terms: ServiceTerms | null): ShownTerms | null =>
  terms === null ? null : { ...terms, hash: hashTerms(terms) }

/** Which terms were shown to who accepts them. A version alone does not say that: its text can change until then. */
export type SeenTerms = { version: string; hash: string }

export const areSeen = (terms: ServiceTerms, seen: SeenTerms | null) =>
  seen?.version === terms.version && seen.hash === hashTerms(terms)
