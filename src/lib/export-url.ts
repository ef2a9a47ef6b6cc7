import { fileURLToPath } from 'node:url'

/** A folder, or a bucket with a prefix that has no slashes around it. */
export type ExportUrl = { folder: string } | { bucket: string; prefix: string }

/** Null when it is neither. */
export function readExportUrl(text: string): ExportUrl | null {
  const url = URL.parse(text)
  if (url === null || /[?#@]/.test(text)) return null
  if (url.protocol === 'file:') return url.host === '' && url.pathname !== '/' ? { folder: fileURLToPath(url).replace(/\/+$/, '') } : null // prettier-ignore
  if (url.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]+[a-z0-9]$/.test(url.hostname)) return null
  return { bucket: url.hostname, prefix: decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, '') }
}
