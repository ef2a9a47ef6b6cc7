// A request of a feed, with its credentials filled in.
import { createHash } from 'node:crypto'
import type { CredentialMask } from './credential-mask.ts'
import type { Auth, FeedRequest, RequestTemplate } from './feed-request.ts'

export type PreparedRequest = { method: 'GET' | 'POST'; url: URL; headers: Record<string, string>; body: string | null }

/** By name. */
export type Credentials = Readonly<Record<string, string>>

/** `parameters`: of the page. `token`: what an exchange gave. `mask` learns what else lets in. */
export type Filling = { parameters?: Record<string, number>; token?: string | null; nowS: number; mask: CredentialMask }

export function prepareRequest(
  { auth, paging, ...template }: Omit<FeedRequest, 'pause_ms'>,
  credentials: Credentials,
  { parameters = {}, token = null, nowS, mask }: Filling,
): PreparedRequest {
  const values = { ...credentials, timestamp: String(nowS) }
  const texts = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
  const isInBody = 'in' in paging && paging.in === 'body'
  const prepared = fillTemplate(isInBody ? withBody(template, parameters, texts) : template, values)
  if (!isInBody) for (const [name, value] of Object.entries(texts)) prepared.url.searchParams.set(name, value)
  applyAuth(prepared, { auth, values, token, mask })
  return prepared
}

const withBody = (template: RequestTemplate, parameters: Record<string, number>, texts: Record<string, string>): RequestTemplate =>
  template.form === undefined
    ? { ...template, json: { ...template.json, ...parameters } }
    : { ...template, form: { ...template.form, ...texts } } // prettier-ignore

/** A credential can be anything, so it is encoded for where it stands: in a path it stays within its part. */
export function fillTemplate(template: RequestTemplate, values: Credentials): PreparedRequest {
  const { method, query = {}, headers = {}, json, form } = template
  const url = new URL(fill(template.url, values, encodeURIComponent))
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, fill(value, values))
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, values)]))
  if (json !== undefined)
    return { method, url, headers: { ...sent, 'content-type': 'application/json' }, body: JSON.stringify(fillDeep(json, values)) } // prettier-ignore
  if (form === undefined) return { method, url, headers: sent, body: null }
  const body = new URLSearchParams(
    Object.entries(form).map(([name, value]): [string, string] => [name, fill(value, values)]),
  ).toString()
  return { method, url, headers: { ...sent, 'content-type': 'application/x-www-form-urlencoded' }, body }
}

const fill = (text: string, values: Credentials, encode = (value: string) => value) =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => (Object.hasOwn(values, name) ? encode(values[name] as string) : all)) // prettier-ignore

function fillDeep(value: unknown, values: Credentials): unknown {
  if (typeof value === 'string') return fill(value, values)
  if (Array.isArray(value)) return value.map((one) => fillDeep(one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillDeep(one, values)]))
}

type Applied = { auth: Auth | undefined; values: Credentials; token: string | null; mask: CredentialMask }

function applyAuth({ url, headers }: PreparedRequest, { auth, values, token, mask }: Applied): void {
  if (auth === undefined) return
  if (auth.kind === 'basic') {
    const pair = `${fill(auth.user, values)}:${fill(auth.password, values)}`
    mask.add(pair)
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else if (auth.kind === 'bearer') headers['authorization'] = `Bearer ${fill(auth.token, values)}`
  else if (auth.kind === 'exchange') headers['authorization'] = `Bearer ${token ?? ''}`
  else {
    const signature = createHash(auth.hash)
      .update(auth.of.map((part) => fill(part, values)).join(''))
      .digest('hex')
    mask.add(signature)
    url.searchParams.set(auth.parameter, signature)
  }
}
