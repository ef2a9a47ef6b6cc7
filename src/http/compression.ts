import type { IncomingHttpHeaders } from 'node:http'

/** By which coding a body is compressed, as its sender says; null: by none. Nothing here unpacks a body. */
export const compressionOf = (headers: IncomingHttpHeaders): string | null =>
  /\b(gzip|deflate|br|zstd|compress)\b/i.exec(headers['content-encoding'] ?? '')?.[1]?.toLowerCase() ?? null

export const UNCOMPRESSED = 'Send it uncompressed, without Content-Encoding.'

/** Whether an answer may be packed: gzip is named, and not with `q=0`. */
export const acceptsGzip = ({ 'accept-encoding': accepted = '' }: IncomingHttpHeaders): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted)
