// A mapping beside a live answer: what comes of the first offers, before anything is saved.
import { showFields, FIELDS } from '../offers/fields.ts'
import type { SocketOpener } from '../postbacks/open-socket.ts'
import { CredentialMask } from './credential-mask.ts'
import type { FeedRequest } from './feed-request.ts'
import type { FeedSettings } from './feed-settings.ts'
import { fetchFirstPage } from './fetch-feed.ts'
import { mapOffer } from './mapping/map-offer.ts'
import type { Mapping } from './mapping/mapping.ts'
import { eachOf, readAll } from './mapping/paths.ts'
import type { Credentials } from './prepare-request.ts'
import type { Rates } from './price.ts'
import { readMapped } from './stage.ts'

const TRY_LIMITS = { timeoutMs: 20_000, maxBytes: 50_000_000 }
const MOST_ITEMS = 10
const MOST_TEXT = 1_000
const MOST_DEPTH = 12

/** The first page, with the first of its offers and shortened texts; without the credentials, which upstreams may echo. */
export async function fetchSample(
  open: SocketOpener,
  request: FeedRequest,
  credentials: Credentials,
): Promise<unknown> {
  const mask = new CredentialMask(credentials)
  const answer = await fetchFirstPage({ request, credentials }, { open, limits: TRY_LIMITS, now: Date.now, mask })
  return mask.deep(shorten(answer, mask))
}

/** Lists, objects that are used as lists, and texts. */
function shorten(value: unknown, mask: CredentialMask, depth = 0): unknown {
  if (typeof value === 'string') return value.length > MOST_TEXT ? `${mask.text(value).slice(0, MOST_TEXT)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (depth > MOST_DEPTH) return null
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((one) => shorten(one, mask, depth + 1))
  const entries = Object.entries(value)
  const isList = entries.length > 50 && entries.every(([, one]) => typeof one === 'object')
  return Object.fromEntries((isList ? entries.slice(0, MOST_ITEMS) : entries.slice(0, 500)).map(([name, one]) => [name, shorten(one, mask, depth + 1)])) // prettier-ignore
}

export type Tried = { external_id: string; name: string; problem: string | null; offer: Record<string, unknown> | null }

export function tryMapping(mapping: Mapping, answer: unknown, settings: FeedSettings, rates: Rates): Tried[] {
  const items = eachOf(readAll(mapping.offers, answer)[0]).slice(0, MOST_ITEMS)
  return items.flatMap((item) => mapOffer(mapping, item)).map((mapped) => {
    const read = readMapped(mapped, { advertiser: 'the advertiser', settings, rates })
    const known = { external_id: mapped.id, name: mapped.name }
    return 'problem' in read ? { ...known, problem: read.problem, offer: null } : { ...known, problem: null, offer: showFields(FIELDS, read.parsed) } // prettier-ignore
  }) // prettier-ignore
}
