// Users come, follow a link and are confirmed; others are only reported. What was sent and what was acknowledged is kept,
// to be compared with what is found in the end.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/db/open.ts'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { checkLedger } from '../../src/features/ledger/check.ts'
import { type Installation, until } from '../installation.ts'
import { none } from './none.ts'

const CLIENTS = 6
const OFFERS = 5
const PATIENCE_MS = 120_000

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
  #rounds = 0

  private constructor(apps: readonly MadeApp[], token: string, firstOffer: number) {
    this.apps = apps
    this.#token = token
    this.#firstOffer = firstOffer
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
    const rows = Array.from({ length: OFFERS }, (_, i) => ({
      ...offer,
      external_id: `o${i}`,
      destination_url: 'https://ads.example.com/?c={click_id}',
      ...(i === 0 ? { total_click_cap: 1_000_000 } : {}), // so that the way of capped offers is taken, too
    }))
    writeFileSync(file, JSON.stringify(rows))
    await program.json('offer', 'import', file)
    const [first] = await program.json<{ offer_id: number }[]>('offer', 'list')
    return new Traffic(apps, token, first?.offer_id ?? 0)
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
      if (i % 3 === 2) await this.report(url, app, userId, offerId)
      else await this.#click(url, app, userId, offerId)
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
    const { data } = (await answer.json()) as { data?: { conversion: { conversion_id: string } } }
    if (!answer.ok || data === undefined) return void this.failures.push(`report: ${answer.status}`)
    this.converted.set(userId, data.conversion.conversion_id)
  }

  async #click(url: string, app: MadeApp, userId: string, offerId: number): Promise<void> {
    const headers = headersOf(app)
    const listed = await fetch(`${url}/v1/offers/${offerId}?userId=${userId}`, { headers, signal: patience() })
    const { data } = (await listed.json()) as { data?: { offer: { link: string } } }
    if (data === undefined) return void this.failures.push(`offer: ${listed.status}`)
    const followed = await fetch(data.offer.link, { redirect: 'manual', signal: patience() })
    await followed.arrayBuffer()
    const clickId = /c=([0-9a-f-]{36})$/.exec(followed.headers.get('location') ?? '')?.[1]
    if (followed.status !== 302 || clickId === undefined) return void this.failures.push(`click: ${followed.status}`)
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

  /** Everything acknowledged is found, once, with its ledger and its history; nothing is found that was not sent. */
  async compare(database: Database): Promise<void> {
    const { db } = database
    const clicks = await db.selectFrom('clicks').select(['click_id', 'user_id']).execute()
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
      .where('signals', 'is', null)
      .executeTakeFirstOrThrow()
    assert.equal(usage.clicks, counted.clicks, 'every click on the capped offer was counted once')
  }
}

const patience = () => AbortSignal.timeout(10_000)
