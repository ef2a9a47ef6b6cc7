// Fetches all offers of an upstream, page by page: complete, or not at all.
import { createHash } from 'node:crypto'
import type { SocketOpener } from '../postbacks/open-socket.ts'
import { CredentialMask } from './credential-mask.ts'
import type { FeedRequest } from './feed-request.ts'
import { type FetchedPage, FetchProblem, type Limits, NOTHING_FETCHED } from './fetch-page.ts'
import type { Mapping } from './mapping/mapping.ts'
import { readText } from './mapping/texts.ts'
import { type NextPage, Pager } from './paging.ts'
import type { Credentials } from './prepare-request.ts'
import { readAnswer, readOffers } from './read-answer.ts'
import { UpstreamSession } from './upstream-session.ts'

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
  /** Learns what else lets in, such as an exchanged token. */
  mask?: CredentialMask
  /** Takes the offers of each page as it comes, out of their list, so that not all are held at once. What comes twice is given once. */
  take: (items: unknown[]) => Promise<void>
}
/** `rates`: the mark of those that it was applied with. */
export type Validators = { etag?: string; lastModified?: string; rates?: string }
/** `missing`: of those that the upstream reports, because others came twice. */
export type FetchedFeed =
  | { kind: 'unchanged' }
  | { kind: 'complete'; offers: number; twice: number; missing: number; pages: number; bytes: number; validators: Validators } // prettier-ignore

/** Throws a FetchProblem that says what is wrong, without credentials, and what was fetched until then. */
export async function fetchFeed(source: FeedSource, options: FetchOptions): Promise<FetchedFeed> {
  const counted = { ...NOTHING_FETCHED, twice: 0 }
  const mask = options.mask ?? new CredentialMask(source.credentials)
  try {
    return await fetchAll(source, { ...options, mask }, counted)
  } catch (error) {
    throw masked(error, mask, counted)
  }
}

/** The answer of the first page, as it is. */
export async function fetchFirstPage(
  { request, credentials }: Omit<FeedSource, 'mapping'>,
  { open, limits = LIMITS, now, mask }: Pick<FetchOptions, 'open' | 'limits' | 'now'> & { mask: CredentialMask },
): Promise<unknown> {
  const session = new UpstreamSession(request, credentials, { open, limits, now, mask })
  try {
    return readAnswer(await session.ask(new Pager(request).first()), {}, mask)
  } catch (error) {
    throw masked(error, mask)
  }
}

/** What is wrong is shown to people. */
const masked = (error: unknown, mask: CredentialMask, { offers, pages, bytes } = NOTHING_FETCHED) =>
  error instanceof FetchProblem
    ? new FetchProblem(mask.text(error.message), error.retryAfterS, { offers, pages, bytes })
    : error

type Counted = Omit<FetchedFeed & { kind: 'complete' }, 'kind' | 'validators' | 'missing'>

async function fetchAll(
  { request, mapping, credentials }: FeedSource,
  { open, limits = LIMITS, validators = {}, pause, now, take, mask }: FetchOptions & { mask: CredentialMask },
  counted: Counted,
): Promise<FetchedFeed> {
  const endsAt = now() + MAX_MINUTES * 60_000
  const session = new UpstreamSession(request, credentials, { open, limits, now, mask })
  const pager = new Pager(request)
  const seen = new Set<string>()
  let given: Validators = {}
  for (let next: NextPage | null = pager.first(); next !== null;) {
    const isFirst = counted.pages === 0
    if (counted.pages >= MAX_PAGES) throw new FetchProblem(`The feed has more than ${MAX_PAGES.toLocaleString('en')} pages. Request larger pages.`) // prettier-ignore
    if (now() > endsAt) throw new FetchProblem(`The upstream sent ${counted.pages} pages within ${MAX_MINUTES} minutes, and has more. Request larger pages.`) // prettier-ignore
    if (!isFirst) await pause(request.pause_ms ?? 0)
    const page = await session.ask(next, isFirst ? conditionsOf(validators) : {})
    if (page.status === 304 && isFirst && isKnown(validators)) return { kind: 'unchanged' }
    counted.bytes += page.bytes
    if (page.status === 200) counted.pages++
    const answer = readAnswer(page, mapping, mask)
    page.text = '' // tens of megabytes, and read
    if (isFirst) given = validatorsOf(page)
    const items = readOffers(answer, mapping, mask)
    const fresh = takeFresh(items, mapping, seen)
    counted.offers += fresh.length
    counted.twice += items.length - fresh.length
    const came = { items: items.length, added: fresh.length }
    items.length = 0 // what follows looks at the rest of the answer only
    await take(fresh)
    next = pager.after(answer, came)
  }
  // Validators of one page say nothing about the others.
  return { kind: 'complete', ...counted, missing: pager.missing, validators: counted.pages === 1 ? given : {} }
}

/** Those that no page had before. */
const takeFresh = (items: unknown[], mapping: Pick<Mapping, 'id'>, seen: Set<string>) =>
  items.filter((item) => {
    const id = readText(mapping.id, item)
    const key = id.length > LONG_ID ? createHash('sha256').update(id).digest('base64') : id
    const isTwice = id !== '' && seen.has(key)
    seen.add(key)
    return !isTwice
  })

const isKnown = ({ etag, lastModified }: Validators) => etag !== undefined || lastModified !== undefined

function conditionsOf({ etag, lastModified }: Validators): Record<string, string> {
  if (etag !== undefined) return { 'if-none-match': etag }
  return lastModified === undefined ? {} : { 'if-modified-since': lastModified }
}

const validatorsOf = ({ headers }: FetchedPage): Validators => ({
  ...(headers['etag'] === undefined ? {} : { etag: headers['etag'] }),
  ...(headers['last-modified'] === undefined ? {} : { lastModified: headers['last-modified'] }),
})
