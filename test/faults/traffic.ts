// Users come, follow a link and are confirmed; others are only reported. What was sent and what was acknowledged is kept,
// to be compared with what is found in the end. One offer has room for a few reports, another one for a few clicks.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/db/open.ts'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { IS_COUNTED } from '../../src/features/clicks/clicks.ts'
import { checkLedger } from '../../src/features/ledger/check.ts'
import { type Installation, until } from '../installation.ts'
import { none } from './none.ts'

const CLIENTS = 6
const OFFERS = 5
/** So many conversions one offer may have, and clicks another one. */
const CAP = 5
const PATIENCE_MS = 120_000
/** Clicks of bots do not count. */
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

export type MadeApp = { app_id: number; live: IssuedCredentials }

const headersOf = ({ live }: MadeApp) => ({ 'x-api-key': live.api_key, 'x-api-secret': live.api_secret })

export class Traffic {
  readonly apps: readonly MadeApp[]
  /** Users for whom something was sent, and what was acknowledged for them. */
  readonly attempted = new Set<string>()
  readonly clicked = new Map<string, string>()
  readonly converted = new Map<string, string>()
  /** Those whose confirmation was acknowledged, be it before their click was written. */
  readonly confirmed = new Set<string>()
  /** What was not answered as it should. */
  readonly failures: unknown[] = []
  readonly #token: string
  readonly #firstOffer: number
  /** Reports that came when their offer was full. */
  #refused = 0
  /** Of the offer that clicks have filled. */
  #fullLink: string | null = null
  #rounds = 0

  private constructor(apps: readonly MadeApp[], token: string, firstOffer: number) {
    this.apps = apps
    this.#token = token
    this.#firstOffer = firstOffer
  }

  get #fewReports(): number {
    return this.#firstOffer + OFFERS
  }

  get #fewClicks(): number {
    return this.#firstOffer + OFFERS + 1
  }

  /** With apps, an advertiser and a few offers of its own. */
  static async prepare(program: Installation, count = 1): Promise<Traffic> {
    await program.json('publisher', 'create', '--name', 'P')
    const apps: MadeApp[] = []
    for (let i = 0; i < count; i++)
      apps.push(await program.json('app', 'create', '--publisher', 'P', '--name', `A${i}`, '--rate-limit', '1000000'))
    const { token } = await program.json<{ token: string }>('advertiser', 'create', '--name', 'Acme')
    const file = join(program.folder, 'offers.json')
    const offer = { advertiser: 'Acme', name: 'An offer', category: 'app', payout: 1, revenue: 1.5 }
    const caps = new Map([
      [0, { total_click_cap: 1_000_000 }], // so that the way of capped offers is taken, too
      [OFFERS, { total_conversion_cap: CAP }],
      [OFFERS + 1, { total_click_cap: CAP }],
    ])
    const rows = Array.from({ length: OFFERS + 2 }, (_, i) => ({
      ...offer,
      external_id: `o${i}`,
      destination_url: 'https://ads.example.com/?c={click_id}',
      ...caps.get(i),
    }))
    writeFileSync(file, JSON.stringify(rows))
    await program.json('offer', 'import', file)
    const [first] = await program.json<{ offer_id: number }[]>('offer', 'list')
    return new Traffic(apps, token, first?.offer_id ?? 0)
  }

  /** Postbacks of each app go to a receiver of its own, and its conversions are approved at once. */
  async notify(program: Installation, receivers: readonly { url: string }[], timeoutS: number): Promise<void> {
    for (const [i, { app_id }] of this.apps.entries()) {
      await program.json('app', 'trust', String(app_id), '--all', '--yes')
      await program.json('app', 'set-postback', String(app_id), '--method', 'POST', '--url', `${receivers[i]?.url}/`, '--timeout', `${timeoutS}s`) // prettier-ignore
    }
  }

  /** To these servers in turn, until stopped. */
  start(...urls: string[]): { stop: () => Promise<void> } {
    const round = this.#rounds++
    const over = new AbortController()
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let i = 0; !over.signal.aborted; i++)
        await this.#sendOne(urls[i % urls.length] ?? '', `${round}-${client}-${i}`, client + i)
    })
    return {
      stop: async () => {
        over.abort()
        await Promise.all(clients)
      },
    }
  }

  /** Resolves when these servers have learned of the apps and offers, which takes a second at most. */
  async isKnownTo(...urls: string[]): Promise<void> {
    const app = this.apps.at(-1) as MadeApp
    const path = `/v1/offers/${this.#fewClicks}?userId=u`
    for (const url of urls)
      await until(async () => (await fetch(`${url}${path}`, { headers: headersOf(app), signal: patience() })).ok)
  }

  /** While all is well: clicks at these servers in turn until the offer is full. From then on it stays full. */
  async fillClicks(...urls: string[]): Promise<void> {
    await this.isKnownTo(...urls)
    const [app] = this.apps as [MadeApp]
    const links: string[] = []
    for (let i = 0; i <= CAP; i++) {
      const [url = '', userId] = [urls[i % urls.length], `full-${i}`]
      this.attempted.add(userId)
      links.push(await this.#findLink(`${url}/v1/offers/${this.#fewClicks}?userId=${userId}`, app, this.#fewClicks))
    }
    const led: (string | undefined)[] = []
    for (const link of links) led.push(await follow(link))
    assert.deepEqual(led.map((clickId) => clickId !== undefined), links.map((_, i) => i < CAP), 'a click cap is kept by all nodes') // prettier-ignore
    for (const [i, clickId] of led.entries()) if (clickId !== undefined) this.clicked.set(`full-${i}`, clickId)
    this.#fullLink = links.at(-1) ?? null
  }

  /** Long enough for a few of each, then a while more: what comes next comes at a random moment. */
  async someAnswers(): Promise<void> {
    const [clicks, conversions] = [this.clicked.size, this.converted.size]
    await until(() => this.clicked.size > clicks + CLIENTS && this.converted.size > conversions + CLIENTS, PATIENCE_MS)
    await sleep(Math.random() * 400)
  }

  /** Users get on while something is away. */
  async someClicks(): Promise<void> {
    const before = this.clicked.size
    await until(() => this.clicked.size > before + CLIENTS, PATIENCE_MS)
  }

  async #sendOne(url: string, userId: string, i: number): Promise<void> {
    const offerId = this.#firstOffer + (i % OFFERS)
    const app = this.apps[i % this.apps.length] as MadeApp
    this.attempted.add(userId)
    try {
      if (i % 12 === 4) await this.report(url, app, userId, this.#fewReports)
      else if (i % 12 === 9 && this.#fullLink !== null) await this.#followFull(url, this.#fullLink)
      else if (i % 3 === 2) await this.report(url, app, userId, offerId)
      else await this.#click(url, app, userId, offerId, i % 2 === 0)
    } catch (error) {
      this.failures.push(error)
      await sleep(5) // the server is gone, or the database: so it was not acknowledged
    }
  }

  async report(url: string, app: MadeApp, userId: string, offerId = this.#firstOffer): Promise<void> {
    this.attempted.add(userId)
    const answer = await fetch(`${url}/v1/conversions`, {
      method: 'POST',
      headers: { ...headersOf(app), 'content-type': 'application/json' },
      body: JSON.stringify({ userId, offerId }),
      signal: patience(),
    })
    const { data } = (await answer.json()) as { data?: { conversion: { conversion_id: string; status: string } } }
    if (!answer.ok || data === undefined) return void this.failures.push(`report: ${answer.status}`)
    if (data.conversion.status === 'rejected' && offerId === this.#fewReports) this.#refused++
    else this.converted.set(userId, data.conversion.conversion_id)
  }

  async #click(url: string, app: MadeApp, userId: string, offerId: number, isListed: boolean): Promise<void> {
    const path = isListed ? '/v1/offers' : `/v1/offers/${offerId}`
    const clickId = await follow(await this.#findLink(`${url}${path}?userId=${userId}`, app, offerId))
    if (clickId === undefined) return void this.failures.push('a click that was not led on')
    this.clicked.set(userId, clickId)
    const callback = `${url}/postback?click_id=${clickId}&txn_id=${userId}&token=${this.#token}`
    const confirmed = await fetch(callback, { signal: patience() })
    const { conversion_id } = (await confirmed.json()) as { conversion_id: string | null }
    // 202: its click is not written yet; it is kept, and tried again.
    if (confirmed.status !== 200 && confirmed.status !== 202)
      return void this.failures.push(`confirmation: ${confirmed.status}`)
    this.confirmed.add(userId)
    if (conversion_id !== null) this.converted.set(userId, conversion_id)
  }

  /** From a list, or of an offer alone. */
  async #findLink(url: string, app: MadeApp, offerId: number): Promise<string> {
    const answer = await fetch(url, { headers: headersOf(app), signal: patience() })
    const { data } = (await answer.json()) as { data?: { offer?: Listed; offers?: Listed[] } }
    const found = (data?.offers ?? [data?.offer]).find((one) => one?.offer_id === offerId)
    if (found === undefined) throw new Error(`No link of offer ${offerId} in the answer: ${answer.status} at ${url}`)
    return found.link
  }

  async #followFull(url: string, link: string): Promise<void> {
    const { pathname } = new URL(link)
    if ((await follow(`${url}${pathname}`)) !== undefined) this.failures.push('led on to an offer that was full')
  }

  /** Everything acknowledged is found, once, with its ledger and its history; nothing is found that was not sent. */
  async compare(database: Database): Promise<void> {
    const { db } = database
    const clicks = await db.selectFrom('clicks').select(['click_id', 'user_id', 'offer_id']).execute()
    const conversions = await db.selectFrom('conversions').select(['conversion_id', 'user_id', 'status']).execute()
    const clickIds = new Set(clicks.map((row) => row.click_id))
    const byUser = new Map(conversions.map((row) => [row.user_id, row.conversion_id]))
    const lost = [...this.clicked].filter(([, clickId]) => !clickIds.has(clickId))
    none(lost, 'led on, but the click is not found')
    const forgotten = [...this.converted].filter(([userId, id]) => byUser.get(userId) !== id)
    none(forgotten, 'acknowledged, but not found')
    const unconfirmed = [...this.confirmed].filter((userId) => !byUser.has(userId))
    const { rows: open } = await sql`SELECT FROM open_calls`.execute(db) // they wait for clicks that were in the spool
    none(unconfirmed.slice(open.length), 'confirmed, but not converted')
    const strange = [...clicks, ...conversions].filter((row) => !this.attempted.has(row.user_id))
    none(strange, 'found, but never sent')
    assert.equal(byUser.size, conversions.length, 'one conversion a user')
    const { events } = await db
      .selectFrom('conversion_events')
      .select((is) => is.fn.countAll<number>().as('events'))
      .executeTakeFirstOrThrow()
    assert.ok(events >= conversions.length)
    assert.deepEqual(await checkLedger(database), [])
    const usage = await db
      .selectFrom('offer_usage')
      .select('clicks')
      .where('offer_id', '=', this.#firstOffer)
      .where('day', '=', 0)
      .executeTakeFirstOrThrow()
    const counted = await db
      .selectFrom('clicks')
      .select((is) => is.fn.countAll<number>().as('clicks'))
      .where('offer_id', '=', this.#firstOffer)
      .where(IS_COUNTED)
      .executeTakeFirstOrThrow()
    assert.ok(usage.clicks > 0, 'clicks on the capped offer are counted')
    assert.equal(usage.clicks, counted.clicks, 'every click on the capped offer was counted once')
    const taken = await db
      .selectFrom('conversions')
      .select((is) => is.fn.countAll<number>().as('conversions'))
      .where('offer_id', '=', this.#fewReports)
      .where('status', 'in', ['pending', 'approved'])
      .executeTakeFirstOrThrow()
    assert.ok(taken.conversions <= CAP, `${taken.conversions} conversions of an offer that may have ${CAP}`)
    if (this.#refused > 0) assert.equal(taken.conversions, CAP, 'reports were refused only when the offer was full')
    const full = clicks.filter((row) => row.offer_id === this.#fewClicks)
    assert.equal(full.length, this.#fullLink === null ? 0 : CAP, 'an offer that is full stays full')
  }
}

type Listed = { offer_id: number; link: string }

/** Where it leads: the click, unless the user is not led on. */
async function follow(link: string): Promise<string | undefined> {
  const headers = { 'user-agent': USER_AGENT }
  const answer = await fetch(link, { headers, redirect: 'manual', signal: patience() })
  await answer.arrayBuffer()
  return /c=([0-9a-f-]{36})$/.exec(answer.headers.get('location') ?? '')?.[1]
}

const patience = () => AbortSignal.timeout(10_000)
