// Asks an upstream for one page after the other. Where a token has to be exchanged first, it is renewed before it expires,
// and once where the upstream no longer accepts it.
import type { SocketOpener } from '../postbacks/open-socket.ts'
import type { CredentialMask } from './credential-mask.ts'
import type { FeedRequest } from './feed-request.ts'
import { type FetchedPage, fetchPage, FetchProblem, type Limits } from './fetch-page.ts'
import { readAll, scalarText } from './mapping/paths.ts'
import type { NextPage } from './paging.ts'
import { type Credentials, fillTemplate, type PreparedRequest, prepareRequest } from './prepare-request.ts'
import { readAnswer } from './read-answer.ts'

/** Of the time that a token lives, in which it is used. */
const USED_FOR = 0.9
const UNAUTHORIZED = 401

type Options = { open: SocketOpener; limits: Limits; now: () => number; mask: CredentialMask }
type Token = { value: string; renewAt: number; wasAccepted: boolean }

export class UpstreamSession {
  readonly #request: FeedRequest
  readonly #credentials: Credentials
  readonly #options: Options
  #token: Token | null = null
  #url: URL | null = null

  constructor(request: FeedRequest, credentials: Credentials, options: Options) {
    this.#request = request
    this.#credentials = credentials
    this.#options = options
  }

  /** `headers` are sent besides. */
  async ask(page: NextPage, headers: Record<string, string> = {}): Promise<FetchedPage> {
    const answer = await this.#send(page, headers)
    if (answer.status !== UNAUTHORIZED || this.#token?.wasAccepted !== true) return this.#accept(answer)
    this.#token = null
    return this.#accept(await this.#send(page, headers))
  }

  #accept(answer: FetchedPage): FetchedPage {
    if (this.#token !== null) this.#token.wasAccepted ||= answer.status !== UNAUTHORIZED
    return answer
  }

  async #send(page: NextPage, headers: Record<string, string>): Promise<FetchedPage> {
    const { open, limits, mask } = this.#options
    const token = await this.#currentToken()
    const parameters = 'link' in page ? {} : page.parameters
    const prepared = prepareRequest(this.#request, this.#credentials, { parameters, token, nowS: this.#nowS(), mask })
    Object.assign(prepared.headers, headers)
    if ('link' in page) prepared.url = follow(prepared, this.#url ?? prepared.url, page.link)
    const answer = await fetchPage(open, prepared, limits)
    this.#url = prepared.url
    return answer
  }

  #nowS(): number {
    return Math.floor(this.#options.now() / 1_000)
  }

  async #currentToken(): Promise<string | null> {
    const { auth } = this.#request
    if (auth?.kind !== 'exchange') return null
    const { open, limits, now, mask } = this.#options
    if (this.#token !== null && now() < this.#token.renewAt) return this.#token.value
    const renewAt = now() + auth.lives_s * 1_000 * USED_FOR
    const request = fillTemplate(auth.request, { ...this.#credentials, timestamp: String(this.#nowS()) })
    const answer = readAnswer(await fetchPage(open, request, limits), {}, mask)
    const value = scalarText(readAll(auth.token, answer)[0])
    if (value === '') throw new FetchProblem(`The upstream gave no token at "${auth.token}".`)
    mask.add(value)
    this.#token = { value, renewAt, wasAccepted: false }
    return value
  }
}

/** On the same host only: the credentials go along. */
function follow({ url }: PreparedRequest, from: URL, link: string): URL {
  const next = URL.parse(link, from.href)
  if (next === null || next.origin !== url.origin)
    throw new FetchProblem(`The next page is on another host (${next?.host ?? 'no URL'}), which is not followed.`)
  return next
}
