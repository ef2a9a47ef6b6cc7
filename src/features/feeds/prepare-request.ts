// A request of a feed, with its credentials filled in, and how to speak of it without them.
import { createHash } from 'node:crypto'
import type { Auth, FeedRequest, RequestTemplate } from './feed-request.ts'

export type PreparedRequest = { method: 'GET' | 'POST'; url: URL; headers: Record<string, string>; body: string | null }

/** By name. */
export type Credentials = Readonly<Record<string, string>>

/** Adds query parameters of the page. `token` is what an exchange gave. */
export function prepareRequest(
  { auth, ...template }: Pick<FeedRequest, keyof RequestTemplate | 'auth'>,
  credentials: Credentials,
  { page = {}, token = null, nowS }: { page?: Record<string, string>; token?: string | null; nowS: number },
): PreparedRequest {
  const values = { ...credentials, timestamp: String(nowS) }
  const prepared = fillTemplate(template, values)
  for (const [name, value] of Object.entries(page)) prepared.url.searchParams.set(name, value)
  applyAuth(prepared, auth, values, token)
  return prepared
}

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

function applyAuth(
  { url, headers }: PreparedRequest,
  auth: Auth | undefined,
  values: Credentials,
  token: string | null,
) {
  if (auth === undefined) return
  if (auth.kind === 'basic') {
    const pair = `${fill(auth.user, values)}:${fill(auth.password, values)}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else if (auth.kind === 'bearer') headers['authorization'] = `Bearer ${fill(auth.token, values)}`
  else if (auth.kind === 'exchange') headers['authorization'] = `Bearer ${token ?? ''}`
  else {
    const signed = auth.of.map((part) => fill(part, values)).join('')
    url.searchParams.set(auth.parameter, createHash(auth.hash).update(signed).digest('hex'))
  }
}

const SHORTEST_MASKED = 4

/** Without the credentials, however they are written: for logs, messages and the dashboard. */
export function maskCredentials(text: string, credentials: Credentials): string {
  const secrets = Object.values(credentials).filter((value) => value.length >= SHORTEST_MASKED)
  const spellings = secrets.flatMap((value) => [value, encodeURIComponent(value), new URLSearchParams({ v: value }).toString().slice(2), Buffer.from(value).toString('base64')]) // prettier-ignore
  const longestFirst = [...new Set(spellings)].toSorted((a, b) => b.length - a.length)
  return longestFirst.reduce((masked, spelling) => masked.replaceAll(spelling, '•••'), text)
}
