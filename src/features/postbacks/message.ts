// One postback as an HTTP request: the filled template or the event as JSON, signed.
import { isExpected, listAnswers, translate } from './dialect.ts'
import { signByRecipe } from './recipe.ts'
import type { SendRequest } from './sender.ts'
import type { PostbackSettings } from './settings.ts'
import { signMessage, signUrl } from './signing.ts'
import { EXAMPLE_VALUES, fillQuery, fillTemplate, type MacroValues } from './template.ts'

/** The contents of an event: the body of a POST, and the values of the macros. */
export type EventContent = {
  body: { id: string; type: string; created_at: string; sequence: number; data: object }
  macros: MacroValues
  clickId?: string | null
}

const MASK = '********'
const MAX_URL_LENGTH = 16_384
const MAX_BODY_LENGTH = 65_536
const MAX_LOGGED_LENGTH = 16_384
export const FORM = 'application/x-www-form-urlencoded'
const SECRET_NAME = /secret|token|password|passwd|api_?key|auth/i

export function buildRequest(
  { body, macros }: EventContent,
  settings: PostbackSettings,
  secrets: readonly string[],
  now: Date,
): SendRequest {
  const { signature: recipe } = settings.dialect
  const values = translate(macros, settings.dialect)
  const signature =
    recipe && signByRecipe(recipe, settings.receiverSecret ?? '', values, fillQuery(settings.url, values))
  // A URL has room for one signature: the older secret's, while there are two. A receiver with the newer one takes over
  // after that.
  const sign = (unsigned: string) => signature ?? signUrl(secrets.at(-1) ?? '', unsigned)
  const filled = fillTemplate(settings.url, values, sign, recipe !== null)
  const isForm = settings.dialect.post_body === 'form'
  const [url = '', form = ''] = isForm && settings.method === 'POST' ? cutQuery(filled) : [filled]
  const text = settings.method === 'GET' ? null : isForm ? form : JSON.stringify(body)
  const timestampS = Math.floor(now.getTime() / 1000)
  const headers: Record<string, string> = { 'user-agent': 'Offerdeck' }
  if (macros.request_id) headers['x-request-id'] = String(macros.request_id)
  for (const name in settings.headers) headers[name.toLowerCase()] = settings.headers[name] as string
  if (signature !== null && recipe?.header != null) headers[recipe.header.toLowerCase()] = signature
  if (text !== null) headers['content-type'] = isForm ? FORM : 'application/json'
  headers['webhook-id'] = body.id
  headers['webhook-timestamp'] = String(timestampS)
  headers['webhook-signature'] = signMessage(secrets, body.id, timestampS, text ?? url)
  return { method: settings.method, url, headers, body: text, timeoutMs: settings.timeoutMs }
}

function cutQuery(url: string): [string, string] {
  const at = url.indexOf('?')
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

/** Never real ones: a person who sees an example could send it. */
export const EXAMPLE_SECRETS = {
  signing: `whsec_${Buffer.from('the example of a signing secret!').toString('base64')}`,
  receiver: 'example-secret',
}

/** The URL filled with examples. */
export function exampleUrl(settings: PostbackSettings): string {
  const now = new Date(Number(EXAMPLE_VALUES.timestamp) * 1_000)
  const body = { id: '', type: '', created_at: '', sequence: 1, data: {} }
  const shown = { ...settings, receiverSecret: EXAMPLE_SECRETS.receiver }
  return buildRequest({ body, macros: EXAMPLE_VALUES }, shown, [EXAMPLE_SECRETS.signing], now).url
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
  if (body !== null) text += `\n\n${headers['content-type'] === FORM ? maskUrl(`?${body}`).slice(1) : body}`
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
  return settings.success === '2xx' || isExpected(settings.dialect, bodyStart)
}

/** Why a response does not count as delivered. */
export function describeRefusal({ dialect }: PostbackSettings, status: number | null, bodyStart: string): string {
  if (status !== null && status >= 300 && status < 400)
    return `The server answered with a redirect (${status}), and redirects are not followed.`
  if (status === null || status < 200 || status > 299) return `The server answered ${status}, not 2xx.`
  const [line = ''] = bodyStart.trim().split(/\r?\n/)
  const given = line === '' ? 'The answer is empty:' : `The answer "${line}" is not expected:`
  return `${given} it must begin with ${listAnswers(dialect)}.`
}
