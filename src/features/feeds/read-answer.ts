// What an upstream answered: its offers, or what is wrong, as a sentence for the operator.
import { readRetryAfter } from '../postbacks/schedule.ts'
import type { CredentialMask } from './credential-mask.ts'
import { type FetchedPage, FetchProblem } from './fetch-page.ts'
import type { Mapping } from './mapping/mapping.ts'
import { eachOf, readAll, scalarText } from './mapping/paths.ts'
import { holds, readText } from './mapping/texts.ts'

export function readAnswer({ status, headers, text }: FetchedPage, { success }: Pick<Partial<Mapping>, 'success'>, mask: CredentialMask): unknown {
  if (status !== 200) throw new FetchProblem(describeStatus(status), retryAfterOf(headers['retry-after']))
  const answer = parseJson(text, mask)
  if (success === undefined || holds(success, answer)) return answer
  const instead = mask.text(scalarText(readAll(success.path, answer)[0])).slice(0, 100)
  throw new FetchProblem(`The upstream answered "${instead}" at "${success.path}": ${describe(answer, mask)}`)
} // prettier-ignore

/** The offers of a page. What is no list is not taken for an empty one: errors come with HTTP 200 as well. */
export function readOffers(answer: unknown, { offers, id }: Pick<Mapping, 'offers' | 'id'>, mask: CredentialMask): unknown[] {
  const [list] = readAll(offers, answer)
  const place = offers === '' ? 'The response' : `"${offers}" of the response`
  const problem = (what: string) => new FetchProblem(`${place} ${what}: ${describe(answer, mask)}`)
  if (list === undefined) throw problem('is missing')
  if (typeof list !== 'object') throw problem('is not a list')
  const items = eachOf(list)
  const isOffer = (item: unknown) => typeof item === 'object' && item !== null
  if (!Array.isArray(list) && !items.every(isOffer)) throw problem('is not a list of offers')
  if (items.length > 0 && items.every((item) => readText(id, item) === '')) throw problem('has no offers, or they have no ID where the mapping looks for it') // prettier-ignore
  return items
} // prettier-ignore

/** IDs with more digits than a number can hold stay as they are written. */
function parseJson(text: string, mask: CredentialMask): unknown {
  const hasLongNumbers = /[[:,]\s*-?\d{16,}/.test(text)
  try {
    if (!hasLongNumbers) return JSON.parse(text)
    const keepLong = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
      typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? (source ?? value) : value
    return JSON.parse(text, keepLong as Parameters<typeof JSON.parse>[1])
  } catch {
    const start = mask.text(text.trim().slice(0, 10_000)).slice(0, 80).replaceAll(/\s+/g, ' ')
    throw new FetchProblem(text.trim() === '' ? 'The response is empty.' : `The response is not JSON, or was cut off. It begins with: ${start} …`) // prettier-ignore
  }
}

/** What an upstream says about itself, wherever it says it. */
function describe(answer: unknown, mask: CredentialMask): string {
  const paths = ['error.message', 'error', 'Error', 'message', 'errors[].message', 'errors[]', 'response.errorMessage', 'response.errors[].publicMessage', 'data.message'] // prettier-ignore
  const text = paths.map((path) => scalarText(readAll(path, answer)[0])).find((one) => one !== '')
  return text === undefined ? 'there are no details.' : mask.text(text).slice(0, 300)
}

function describeStatus(status: number): string {
  if (status === 401 || status === 403) return `The upstream refused the credentials (HTTP ${status}). Check the key.`
  if (status === 404) return 'The upstream does not know this URL (HTTP 404). Check the URL and the account IDs in it.'
  if (status === 429)
    return 'The upstream’s rate limit was reached (HTTP 429). Fetch the feed less often if this happens again.'
  if (status === 304)
    return 'The upstream answered that nothing has changed (HTTP 304) to a request that was not conditional. Ask the network.'
  if (status >= 300 && status < 400) return `The upstream redirects (HTTP ${status}), and redirects are not followed. Check the URL: it may have moved.` // prettier-ignore
  if (status >= 500) return `The upstream has a server error (HTTP ${status}). The feed will be retried later.`
  return `The upstream answered HTTP ${status}, not 200. Check the URL and the credentials.`
}

const MAX_RETRY_AFTER_S = 86_400

function retryAfterOf(header: string | undefined): number | null {
  const ms = readRetryAfter(header ?? null, new Date())
  return ms === null ? null : Math.min(Math.ceil(ms / 1_000), MAX_RETRY_AFTER_S)
}
