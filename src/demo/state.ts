// What the demo's publisher and advertisers remember, as companies of their own would: in files of the data folder, never
// in the network's database.
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A postback that the demo site received: what it was credited with, or lost. */
export type Credit = {
  id: string
  user: string
  coins: number
  status: string
  offer: string
  conversion: string
  at: string
}

/** The coins of the demo site's users. A postback is on the disk before it is acknowledged, and counts once by its ID. */
export class Coins {
  readonly #file: string
  readonly #credits = new Map<string, Credit>()

  constructor(dataDir: string) {
    this.#file = join(dataDir, 'demo-site-credits.jsonl')
    const lines = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n') : []
    for (const line of lines) if (line.endsWith('}')) this.#remember(JSON.parse(line) as Credit)
  }

  /** False when it was received before. */
  add(credit: Credit): boolean {
    if (this.#credits.has(credit.id)) return false
    appendFileSync(this.#file, `${JSON.stringify(credit)}\n`, { flush: true })
    this.#remember(credit)
    return true
  }

  /** Newest first. */
  of(user: string): Credit[] {
    return [...this.#credits.values()].filter((one) => one.user === user).toReversed()
  }

  #remember(credit: Credit): void {
    this.#credits.set(credit.id, credit)
  }
}

/** The tokens with which the demo's advertisers confirm, by advertiser. */
export class AdvertiserTokens {
  readonly #file: string
  readonly #tokens: Record<string, string>
  readonly #issue: (advertiserId: number) => Promise<string>

  constructor(dataDir: string, issue: (advertiserId: number) => Promise<string>) {
    this.#file = join(dataDir, 'demo-advertiser-tokens.json')
    this.#tokens = existsSync(this.#file)
      ? (JSON.parse(readFileSync(this.#file, 'utf8')) as Record<string, string>)
      : {}
    this.#issue = issue
  }

  /** Issued when it is first needed. */
  async of(advertiserId: number): Promise<string> {
    const known = this.#tokens[advertiserId]
    if (known !== undefined) return known
    const token = await this.#issue(advertiserId)
    this.#tokens[advertiserId] = token
    this.#save()
    return token
  }

  /** For one that does not work any more. */
  forget(advertiserId: number): void {
    delete this.#tokens[advertiserId]
    this.#save()
  }

  #save(): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#tokens), { mode: 0o600 })
    renameSync(`${this.#file}.new`, this.#file)
  }
}
