// Callers who ask for more than they may, at all nodes: counted together in Redis, and by each node alone while it is down.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Installation } from '../../installation.ts'
import type { MadeApp } from '../traffic.ts'

const LIMIT = 10
const WINDOW_S = 60
const PAUSE_MS = 100
const CHANCES = 5

let apps = 0

const createApp = (program: Installation) =>
  program.json<MadeApp>('app', 'create', '--publisher', 'P', '--name', `Limited ${apps++}`, '--rate-limit', String(LIMIT)) // prettier-ignore

async function ask(url: string, { live }: MadeApp): Promise<'accepted' | 'refused' | 'unknown'> {
  const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  const signal = AbortSignal.timeout(10_000)
  const answer = await fetch(`${url}/v1/offers?userId=greedy&limit=1`, { headers, signal })
  await answer.arrayBuffer()
  if (answer.status === 200) return 'accepted'
  return answer.status === 429 ? 'refused' : 'unknown' // by a node that has not read the app yet
}

/** While all is well, over all nodes. One that Redis answers too late counts alone for a second: then another app is asked for. */
export async function checkExact(program: Installation, urls: readonly string[]): Promise<void> {
  for (let chance = 0; chance < CHANCES; chance++) {
    const app = await createApp(program)
    const heard: string[] = []
    for (let i = 0; heard.length < 2 * LIMIT; i++) {
      const said = await ask(urls[i % urls.length] ?? '', app)
      if (said === 'unknown') await sleep(PAUSE_MS)
      else heard.push(said)
    }
    const accepted = heard.filter((said) => said === 'accepted').length
    assert.ok(accepted >= LIMIT, `only ${accepted} of the ${LIMIT} requests a minute were accepted`)
    if (accepted === LIMIT) return
  }
  assert.fail(`${CHANCES} times more than ${LIMIT} requests a minute were accepted`)
}

/** What may have made nodes forget what they had counted. */
export type Forgetting = { starts: number; flushes: number; clocks: number }

/** Asks all the time, whatever happens. */
export class Greedy {
  accepted = 0
  refused = 0
  readonly #urls: readonly string[]
  readonly #startedMs = performance.now()
  readonly #over = new AbortController()
  readonly #asking: Promise<void>

  private constructor(app: MadeApp, urls: readonly string[]) {
    this.#urls = urls
    this.#asking = this.#ask(app)
  }

  static async start(program: Installation, urls: readonly string[]): Promise<Greedy> {
    return new Greedy(await createApp(program), urls)
  }

  async #ask(app: MadeApp): Promise<void> {
    for (let i = 0; !this.#over.signal.aborted; i++) {
      const said = await ask(this.#urls[i % this.#urls.length] ?? '', app).catch(() => 'unknown')
      if (said === 'accepted') this.accepted++
      if (said === 'refused') this.refused++
      await sleep(PAUSE_MS)
    }
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#asking
  }

  /** Even alone, a process accepts no more than the limit in a window of its own. */
  compare({ starts, flushes, clocks }: Forgetting): void {
    const nodes = this.#urls.length
    const windows = Math.ceil((performance.now() - this.#startedMs) / 1_000 / WINDOW_S)
    const most = LIMIT * (starts + nodes * (windows + flushes) + 2 * clocks)
    assert.ok(this.refused > 0, 'no request was refused')
    assert.ok(this.accepted <= most, `${this.accepted} requests were accepted, of ${most} at most`)
  }
}
