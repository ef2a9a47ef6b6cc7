// Walls that are open: a stream for each user, which is opened again when it ends, as browsers do. The page then asks for
// what it may have missed.
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { signUser } from '../../../src/features/wall/signature.ts'
import type { MadeApp } from '../traffic.ts'

const PAUSE_MS = 1_000
const SILENT_MS = 40_000 // a living one says something every 25 s
const LIFE_S = 80_000

export class Streams {
  /** Users who know that they have earned something. */
  readonly heard = new Set<string>()
  readonly users: readonly string[]
  readonly #over = new AbortController()
  readonly #following: Promise<void>[]
  opened = 0

  constructor({ live }: MadeApp, urls: readonly string[], count: number) {
    this.users = Array.from({ length: count }, (_, i) => `stream-${i}`)
    this.#following = this.users.map((userId, i) => this.#follow(live, urls[i % urls.length] ?? '', userId))
  }

  async #follow({ api_key: apiKey, signing_secret }: MadeApp['live'], url: string, userId: string): Promise<void> {
    const expiresAtS = Math.floor(Date.now() / 1000) + LIFE_S
    const sig = signUser(signing_secret, { apiKey, userId, expiresAtS })
    const query = new URLSearchParams({ apiKey, userId, exp: String(expiresAtS), sig })
    while (!this.#over.signal.aborted) {
      await this.#listen(url, query.toString(), userId)
      await sleep(PAUSE_MS)
    }
  }

  /** Until it ends. */
  #listen(url: string, query: string, userId: string): Promise<void> {
    return new Promise((done) => {
      const request = get(
        `${url}/wall/v1/live?${query}`,
        { agent: false, signal: this.#over.signal, timeout: SILENT_MS },
        (response) => {
          if (response.statusCode === 200) void this.#askAfterOpening(`${url}/wall/v1/activity?${query}`, userId)
          response.setEncoding('utf8').on('data', (text: string) => text.includes('activity') && this.heard.add(userId))
          response.on('error', () => {}).on('close', done)
        },
      )
      request.on('timeout', () => request.destroy())
      request.on('error', () => done())
    })
  }

  async #askAfterOpening(url: string, userId: string): Promise<void> {
    this.opened++
    const answer = await fetch(url).catch(() => null)
    const { data } = ((await answer?.json().catch(() => null)) ?? {}) as { data?: { items: unknown[] } }
    if ((data?.items.length ?? 0) > 0) this.heard.add(userId)
  }

  async close(): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#following)
  }
}
