import { createHash } from 'node:crypto'
import type { ServiceTerms } from './schema.ts'

/** Stored with what was accepted, so it never changes. Migration 0205 computes the same. */
export const hashTerms = ({ url, text }: Pick<ServiceTerms, 'url' | 'text'>): string =>
  createHash('sha256')
    .update(url === null ? `text:${text}` : `url:${url}`)
    .digest('hex')
