// One postback as an HTTP request: the filled template or the event as JSON, signed.
import type { SendRequest } from './sender.ts'
import type { PostbackSettings } from './settings.ts'
import { signMessage, signUrl } from './signing.ts'
import { fillTemplate, type MacroValues } from './template.ts'

/** The contents of an event: the body of a POST, and the values of the macros. */
export type EventContent = {
  body: { id: string; type: string; created_at: string; sequence: number; data: object }
  macros: MacroValues
}

const MASK = '********'
const MAX_URL_LENGTH = 16_384
const MAX_BODY_LENGTH = 65_536
const MAX_LOGGED_LENGTH = 16_384
const SECRET_NAME = /secret|token|password|passwd|api_?key|auth/i

export function buildRequest(
  { body, macros }: EventContent,
  settings: PostbackSettings,
  secrets: readonly string[],
  now: Date,
): SendRequest {
  // A URL has room for one signature: the older secret's, while there are two. A receiver with the newer one takes over
  // after that.
  const url = fillTemplate(settings.url, macros, (unsigned) => signUrl(secrets.at(-1) ?? '', unsigned))
  const text = settings.method === 'POST' ? JSON.stringify(body) : null
  const timestampS = Math.floor(now.getTime() / 1000)
  const headers: Record<string, string> = { 'user-agent': 'Offerdeck' }
  for (const name in settings.headers) headers[name.toLowerCase()] = settings.headers[name] as string
  if (text !== null) headers['content-type'] = 'application/json'
  headers['webhook-id'] = body.id
  headers['webhook-timestamp'] = String(timestampS)
  headers['webhook-signature'] = signMessage(secrets, body.id, timestampS, text ?? url)
  return { method: settings.method, url, headers, body: text, timeoutMs: settings.timeoutMs }
}

/** Why this is not sent, as a sentence, or null: a template can hold a long value many times over. */
export function tooLong({ url, body }: SendRequest): string | null {
  if (url.length > MAX_URL_LENGTH)
    return `The URL has ${url.length} characters once its macros are filled in; ${MAX_URL_LENGTH} can be sent. Use fewer macros, or POST.`
  if ((body?.length ?? 0) > MAX_BODY_LENGTH)
    return `The body has ${body?.length} characters; ${MAX_BODY_LENGTH} can be sent.`
  return null
}

/**
 * The request for the log: as sent, without the values of custom headers and of parameters that look like secrets, and
 * truncated.
 */
export function describeRequest({ method, url, headers, body }: SendRequest, settings: PostbackSettings): string {
  const custom = Object.keys(settings.headers).map((name) => name.toLowerCase())
  let text = `${method} ${maskUrl(url)}`
  for (const name in headers) text += `\n${name}: ${custom.includes(name.toLowerCase()) ? MASK : headers[name]}`
  if (body !== null) text += `\n\n${body}`
  return text.length <= MAX_LOGGED_LENGTH
    ? text
    : `${text.slice(0, MAX_LOGGED_LENGTH)}\n… and ${text.length - MAX_LOGGED_LENGTH} characters more`
}

function maskUrl(url: string): string {
  if (!url.includes('=')) return url
  return url.replace(/([?&])([^=&#]*)=([^&#]*)/g, (whole, mark: string, name: string) =>
    SECRET_NAME.test(name) ? `${mark}${name}=${MASK}` : whole,
  )
}

/** The two ways a response can count as delivered. */
export function isReceived(settings: PostbackSettings, status: number | null, bodyStart: string): boolean {
  if (status === null || status < 200 || status > 299) return false
  return settings.success === '2xx' || /^\s*(1|OK|DUP)/i.test(bodyStart)
}
