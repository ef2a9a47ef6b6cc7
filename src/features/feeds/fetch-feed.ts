// Fetches all offers of an upstream, page by page: complete, or not at all.
import { createHash } from 'node:crypto'
import type { SocketOpener } from '../postbacks/open-socket.ts'
import { readRetryAfter } from '../postbacks/schedule.ts'
import type { FeedRequest } from './feed-request.ts'
import { type FetchedPage, fetchPage, FetchProblem, type Limits } from './fetch-page.ts'
import { eachOf, readAll, scalarText } from './mapping/paths.ts'
import { holds, readText } from './mapping/texts.ts'
import type { Mapping } from './mapping/mapping.ts'
import {
  type Credentials,
  fillTemplate,
  maskCredentials,
  type PreparedRequest,
  prepareRequest,
} from './prepare-request.ts'

export const MAX_PAGES = 2_000
const MAX_MINUTES = 60
/** Of a longer ID, a hash is remembered: those of all pages are held. */
const LONG_ID = 100
const LIMITS: Limits = { timeoutMs: 60_000, maxBytes: 100_000_000 }

export type FeedSource = { request: FeedRequest; mapping: Pick<Mapping, 'offers' | 'success' | 'id'>; credentials: Credentials } // prettier-ignore
export type FetchOptions = {
  open: SocketOpener
  limits?: Limits
  /** Of the last run: an upstream that knows them answers that nothing has changed. */
  validators?: Validators
  pause: (ms: number) => Promise<void>
  now: () => number
  /** Takes the offers of each page as it comes, out of their list, so that not all are held at once. What comes twice is given once. */
  take: (items: unknown[]) => Promise<void>
}
/** `rates`: the mark of those that it was applied with. */
export type Validators = { etag?: string; lastModified?: string; rates?: string }
export type FetchedFeed =
  | { kind: 'unchanged' }
  | { kind: 'complete'; offers: number; twice: number; pages: number; bytes: number; validators: Validators }

/** Throws a FetchProblem that says what is wrong, without credentials. */
export async function fetchFeed(source: FeedSource, options: FetchOptions): Promise<FetchedFeed> {
  try {
    return await fetchAll(source, options)
  } catch (error) {
    throw masked(error, source.credentials)
  }
}

/** The answer of the first page, as it is. */
export async function fetchFirstPage({ request, credentials }: Omit<FeedSource, 'mapping'>, { open, limits = LIMITS, now }: Omit<FetchOptions, 'take'>): Promise<unknown> {
  const nowS = Math.floor(now() / 1_000)
  try {
    const token = await exchange(request, credentials, { open, limits, nowS })
    return readAnswer(await fetchPage(open, prepareRequest(request, credentials, { page: pageQuery(request, 0, 0), token, nowS }), limits), {}) // prettier-ignore
  } catch (error) {
    throw masked(error, credentials)
  }
} // prettier-ignore

/** What is wrong is shown to people. */
const masked = (error: unknown, credentials: Credentials) =>
  error instanceof FetchProblem
    ? new FetchProblem(maskCredentials(error.message, credentials), error.retryAfterS)
    : error

async function fetchAll({ request, mapping, credentials }: FeedSource, options: FetchOptions): Promise<FetchedFeed> {
  const { open, limits = LIMITS, validators = {}, pause, now, take } = options
  const nowS = () => Math.floor(now() / 1_000)
  const endsAt = now() + MAX_MINUTES * 60_000
  const token = await exchange(request, credentials, { open, limits, nowS: nowS() })
  const prepare = (page: Record<string, string>) => prepareRequest(request, credentials, { page, token, nowS: nowS() })
  const seen = new Set<string>()
  const counted = { offers: 0, twice: 0, pages: 0, bytes: 0 }
  let given: Validators = {}
  let next: PreparedRequest | null = prepare(pageQuery(request, 0, 0))
  for (; next !== null;) {
    if (counted.pages >= MAX_PAGES) throw new FetchProblem(`The feed has more than ${MAX_PAGES.toLocaleString('en')} pages. Ask for larger pages.`) // prettier-ignore
    if (now() > endsAt) throw new FetchProblem(`The upstream sent ${counted.pages} pages within ${MAX_MINUTES} minutes, and has more. Ask for larger pages.`) // prettier-ignore
    if (counted.pages > 0) await pause(request.pause_ms ?? 0)
    if (counted.pages === 0) setValidators(next, validators)
    const page = await fetchPage(open, next, limits)
    if (page.status === 304 && counted.pages === 0 && isKnown(validators)) return { kind: 'unchanged' }
    const answer = readAnswer(page, mapping)
    page.text = '' // tens of megabytes, and read
    counted.pages++
    counted.bytes += page.bytes
    if (counted.pages === 1) given = validatorsOf(page)
    const items = eachOf(readAll(mapping.offers, answer)[0])
    const fresh = items.filter((item) => {
      const id = readText(mapping.id, item)
      const key = id.length > LONG_ID ? createHash('sha256').update(id).digest('base64') : id
      const isTwice = id !== '' && seen.has(key)
      seen.add(key)
      return !isTwice
    })
    counted.offers += fresh.length
    counted.twice += items.length - fresh.length
    const progress = { ...counted, items: items.length, added: fresh.length }
    items.length = 0 // what follows looks at the rest of the answer only
    await take(fresh)
    next = nextPage(request, next, answer, progress, prepare)
  }
  // Validators of one page say nothing about the others.
  return { kind: 'complete', ...counted, validators: counted.pages === 1 ? given : {} }
}

async function exchange(
  { auth }: FeedRequest,
  credentials: Credentials,
  { open, limits, nowS }: { open: SocketOpener; limits: Limits; nowS: number },
): Promise<string | null> {
  if (auth?.kind !== 'exchange') return null
  const request = fillTemplate(auth.request, { ...credentials, timestamp: String(nowS) })
  const page = await fetchPage(open, request, limits)
  const token = scalarText(readAll(auth.token, readAnswer(page, {}))[0])
  if (token === '') throw new FetchProblem(`The upstream gave no token at "${auth.token}".`)
  return token
}

function readAnswer({ status, headers, text }: FetchedPage, { success }: Pick<Partial<Mapping>, 'success'>): unknown {
  if (status !== 200) throw new FetchProblem(describeStatus(status), retryAfterOf(headers['retry-after']))
  const answer = parseJson(text)
  if (success !== undefined && !holds(success, answer))
    throw new FetchProblem(`The upstream answered "${scalarText(readAll(success.path, answer)[0]).slice(0, 100)}" at "${success.path}": ${said(answer)}`) // prettier-ignore
  return answer
}

/** IDs with more digits than a number can hold stay as they are written. */
function parseJson(text: string): unknown {
  const hasLongNumbers = /[[:,]\s*-?\d{16,}/.test(text)
  try {
    if (!hasLongNumbers) return JSON.parse(text)
    const keepLong = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
      typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? (source ?? value) : value
    return JSON.parse(text, keepLong as Parameters<typeof JSON.parse>[1])
  } catch {
    const start = text.trim().slice(0, 80).replaceAll(/\s+/g, ' ')
    throw new FetchProblem(text.trim() === '' ? 'The answer is empty.' : `The answer is not JSON, or was cut off. It begins with: ${start} …`) // prettier-ignore
  }
}

/** What an upstream says about itself, wherever it says it. */
function said(answer: unknown): string {
  const paths = ['error.message', 'error', 'message', 'errors[].message', 'errors[]', 'response.errorMessage', 'response.errors[].publicMessage', 'data.message'] // prettier-ignore
  const text = paths.map((path) => scalarText(readAll(path, answer)[0])).find((one) => one !== '')
  return text === undefined ? 'it says nothing more.' : text.slice(0, 300)
}

function describeStatus(status: number): string {
  if (status === 401 || status === 403) return `The upstream refused the credentials (HTTP ${status}). Check the key.`
  if (status === 404) return 'The upstream knows no such address (HTTP 404). Check the URL and the account IDs in it.'
  if (status === 429)
    return 'The upstream was asked too often (HTTP 429). Fetch the feed less often, if this happens again.'
  if (status === 304)
    return 'The upstream says that nothing has changed (HTTP 304), but was not asked that. Ask the network.'
  if (status >= 300 && status < 400) return `The upstream redirects (HTTP ${status}), which is not followed. Check the URL: it may have moved.` // prettier-ignore
  if (status >= 500) return `The upstream has a problem of its own (HTTP ${status}). It is asked again later.`
  return `The upstream answered HTTP ${status}, not 200. Check the URL and the credentials.`
}

const MAX_RETRY_AFTER_S = 86_400

function retryAfterOf(header: string | undefined): number | null {
  const ms = readRetryAfter(header ?? null, new Date())
  return ms === null ? null : Math.min(Math.ceil(ms / 1_000), MAX_RETRY_AFTER_S)
}

const isKnown = ({ etag, lastModified }: Validators) => etag !== undefined || lastModified !== undefined

const setValidators = ({ headers }: PreparedRequest, { etag, lastModified }: Validators) => {
  if (etag !== undefined) headers['if-none-match'] = etag
  else if (lastModified !== undefined) headers['if-modified-since'] = lastModified
}

const validatorsOf = ({ headers }: FetchedPage): Validators => ({
  ...(headers['etag'] === undefined ? {} : { etag: headers['etag'] }),
  ...(headers['last-modified'] === undefined ? {} : { lastModified: headers['last-modified'] }),
})

function pageQuery({ paging }: FeedRequest, pages: number, items: number): Record<string, string> {
  if (paging.kind === 'page')
    return { [paging.parameter]: String(paging.first + pages), ...(paging.size === undefined ? {} : { [paging.size.parameter]: String(paging.size.value) }) } // prettier-ignore
  if (paging.kind === 'offset')
    return { [paging.parameter]: String(items), [paging.size.parameter]: String(paging.size.value) }
  return {}
}

/** `items` and `added`: of the page that came last. */
type Progress = { offers: number; twice: number; pages: number; items: number; added: number }

/** Null: it was the last one. Throws where the upstream says that there is more than came. */
function nextPage(
  request: FeedRequest,
  current: PreparedRequest,
  answer: unknown,
  progress: Progress,
  prepare: (page: Record<string, string>) => PreparedRequest,
): PreparedRequest | null {
  const { paging } = request
  const came = progress.offers + progress.twice
  if (paging.kind === 'one') return null
  if (paging.kind === 'next') {
    const link = scalarText(readAll(paging.path, answer)[0])
    if (link === '' || progress.items === 0) return null
    if (progress.added === 0) throw sameAsBefore(progress)
    return follow(current, link)
  }
  const numberAt = (path: string | undefined) => (path === undefined ? null : toCount(readAll(path, answer)[0]))
  const total = numberAt(paging.total)
  const pages = paging.kind === 'page' ? numberAt(paging.pages) : null
  if (total !== null && came >= total) return null
  if (pages !== null && progress.pages >= pages) return null
  const isShort = paging.size !== undefined && progress.items < paging.size.value
  if (progress.items === 0 || (isShort && total === null && pages === null)) {
    if (total !== null) throw new FetchProblem(`The upstream says that it has ${total} offers, and ${came} came.`)
    if (pages !== null) throw new FetchProblem(`The upstream says that it has ${pages} pages, and page ${progress.pages} is empty.`) // prettier-ignore
    return null
  }
  if (progress.added === 0) throw sameAsBefore(progress)
  return prepare(pageQuery(request, progress.pages, came))
}

const sameAsBefore = ({ pages }: Progress) => new FetchProblem(`Page ${pages} has the same offers as one before.`)

/** On the same host only: the credentials go along. */
function follow({ url, ...rest }: PreparedRequest, link: string): PreparedRequest {
  const next = URL.parse(link, url.href)
  if (next === null || next.origin !== url.origin)
    throw new FetchProblem(`The next page is on another host (${next?.host ?? 'no URL'}), which is not followed.`)
  return { ...rest, url: next }
}

function toCount(value: unknown): number | null {
  const number = Number(scalarText(value).trim() || Number.NaN)
  return Number.isSafeInteger(number) && number >= 0 ? number : null
}
