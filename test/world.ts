// A network of its own for a test file: a fresh database, the whole app on it, and the verbs a test needs.
import { rmSync } from 'node:fs'
import { after, before } from 'node:test'
import type { FastifyBaseLogger, InjectOptions } from 'fastify'
import type { Static } from 'typebox'
import { type App, buildApp } from '../src/app.ts'
import { createLog } from '../src/cli/log.ts'
import { type Config, loadConfig } from '../src/config.ts'
import type { Database } from '../src/db/open.ts'
import type { DemoSite } from '../src/demo/site.ts'
import { createAdvertiser } from '../src/features/accounts/advertisers.ts'
import { newHashes } from '../src/features/accounts/password-hash.ts'
import { createPublisher } from '../src/features/accounts/publishers.ts'
import { createApp, type NewApp } from '../src/features/apps/apps.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { describeProblems, readImportRecord } from '../src/features/offers/import-record.ts'
import type { Conversion, EventList } from '../src/features/conversions/schema.ts'
import type { Offer } from '../src/features/offers/schema.ts'
import type { Postback, PostbackWithAttempts, TestSendsReply } from '../src/features/postbacks/schema.ts'
import { upsertOffers } from '../src/features/offers/upsert.ts'
import { connectionTo, openNewDatabase, PATIENCE_S } from './databases.ts'
import { createFolder } from './folders.ts'
import { TESTER } from './tester.ts'

// As cheap as a hash of a password can be: one is created or checked at every sign-up and sign-in.
newHashes.cost = { N: 2, r: 1, p: 1 }

export const SECRET_KEY = 'a secret key for tests, forty characters'
export const PUBLIC_URL = 'https://offers.test'
/** An app that no limit of its own gets in the way of. */
export const NEW_APP = {
  currency: 'Coins',
  rateMicros: 100_000_000,
  rateLimit: 1_000_000,
  expiresAt: null,
  blockedCategories: [],
  blockedKeywords: [],
  paymentOffers: true,
}

export type ShownConversion = Static<typeof Conversion>

export type Envelope = {
  success: boolean
  data: {
    offers: Offer[]
    total: number
    limit: number
    offset: number
    has_more: boolean
    offer: Offer
    conversion: ShownConversion
    conversions: ShownConversion[]
    events: Static<typeof EventList>['events']
    next_cursor: string | null
    postbacks: Static<typeof Postback>[]
    postback: Static<typeof PostbackWithAttempts>
    test: Static<typeof TestSendsReply>['test']
  }
  message: string
  error: { code: string; message: string; details: Record<string, string> | null }
  meta: { timestamp: number; request_id: string }
}

export type Reply = { status: number; headers: Record<string, string | undefined>; body: Envelope; text: string }

type Keys = Pick<IssuedCredentials, 'api_key' | 'api_secret'>
type Followed = { status: number; location: string; clickId: string; text: string; headers: Record<string, unknown> }

export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36'

export class World {
  readonly name: string
  config: Config
  database!: Database // once it is open
  app!: App
  readonly dataDir = createFolder('world')
  /** Every line logged so far. */
  readonly logged: string[] = []
  readonly #tokens = new Map<number, string>()
  #count = 0

  constructor(name: string) {
    this.name = name
    this.config = { ...loadConfig({ SECRET_KEY, PUBLIC_URL }), dataDir: this.dataDir }
  }

  get log(): FastifyBaseLogger {
    return createLog('debug', { write: (line) => this.logged.push(line) })
  }

  async openDatabase(): Promise<void> {
    this.database = await openNewDatabase(this.name, 10)
  }

  async open(): Promise<void> {
    if (this.database === undefined) await this.openDatabase()
    this.app = await this.start()
  }

  connection(database: string) {
    return connectionTo(database)
  }

  get databaseName(): string {
    return this.database.pool.options.database as string
  }

  /** Another process's worth of app, on the same database. */
  start(
    config: Partial<Config> = {},
    database: Database = this.database,
    demoSite: DemoSite | null = null,
  ): Promise<App> {
    return buildApp({ config: { ...this.config, ...config }, secretKey: SECRET_KEY, database, log: this.log, demoSite })
  }

  async close(): Promise<void> {
    await this.app.close()
    await this.database.close()
    rmSync(this.dataDir, { recursive: true, force: true })
    // The test file holds its world for as long as the process lives, which has hundreds of files to run.
    this.logged.length = 0
    Object.assign(this, { app: undefined, database: undefined })
  }

  /** A publisher with one app, of the given properties. */
  async createApp(
    more: Partial<NewApp> = {},
  ): Promise<{ appId: number; live: IssuedCredentials; test: IssuedCredentials }> {
    const { db } = this.database
    const { publisher_id } = await createPublisher(db, TESTER, `Publisher ${this.#count++}`)
    const { app_id, live, test } = await createApp(db, TESTER, SECRET_KEY, {
      publisherId: publisher_id,
      name: 'App',
      ...NEW_APP,
      ...more,
    })
    await this.app.refresh()
    return { appId: app_id, live, test }
  }

  /** Imports offers, each given by what it has that is special; returns their ids. */
  async createOffers(...records: Record<string, unknown>[]): Promise<number[]> {
    const { db } = this.database
    const advertiser = `Advertiser ${this.#count++}`
    const { advertiser_id, token } = await createAdvertiser(db, TESTER, SECRET_KEY, advertiser)
    const rows = records.map((record, line) => {
      const read = readImportRecord({ ...PLAIN_OFFER, advertiser, external_id: `offer-${line}`, ...record })
      if ('problems' in read) throw new Error(describeProblems(read.problems))
      return { line, offer: read.offer }
    })
    await upsertOffers(db, rows)
    await this.app.refresh()
    const made = await db
      .selectFrom('offers')
      .select('offer_id')
      .where('advertiser_id', '=', advertiser_id)
      .orderBy('offer_id')
      .execute()
    for (const { offer_id } of made) this.#tokens.set(offer_id, token)
    return made.map((row) => row.offer_id)
  }

  /** The token of the advertiser of an offer. */
  tokenOf(offerId: number): string {
    return this.#tokens.get(offerId) ?? ''
  }

  /** Lists as a user and follows the link of an offer; returns where it leads, with the id of the click. */
  async click(offerId: number, credentials: Keys, query = 'userId=u', headers: object = {}): Promise<Followed> {
    const { status, body } = await this.get(`/v1/offers/${offerId}?${query}`, credentials)
    if (status !== 200) throw new Error(`Offer ${offerId}: ${status} ${body.error.message}`)
    return this.follow(body.data.offer.link, headers)
  }

  async follow(link: string, headers: object = {}): Promise<Followed> {
    const answer = await this.app.server.inject({
      url: link.replace(this.config.publicUrl, ''),
      headers: { 'user-agent': BROWSER, ...headers },
    })
    const location = answer.headers.location ?? ''
    const clickId = URL.parse(location)?.searchParams.get('c') ?? ''
    return { status: answer.statusCode, location, clickId, text: answer.body, headers: answer.headers }
  }

  /** Confirms as the advertiser of the offer. */
  async confirm(offerId: number, clickId: string, more: Record<string, string> = {}) {
    const query = new URLSearchParams({ click_id: clickId, token: this.tokenOf(offerId), ...more })
    const answer = await this.app.server.inject(`/postback?${query.toString()}`)
    type Confirmed = { outcome: string; reason: string | null; conversion_id: string | null; message: string }
    const body = (answer.body.startsWith('{') ? JSON.parse(answer.body) : {}) as Confirmed
    return { status: answer.statusCode, text: answer.body, ...body }
  }

  /** Reports a conversion as the publisher. */
  report(credentials: Keys, payload: object, headers: object = {}): Promise<Reply> {
    return this.get('/v1/conversions', credentials, { method: 'POST', payload, headers: { ...headers } })
  }

  /** Sends a request through the door, with these credentials in the headers. */
  async get(
    path: string,
    credentials?: Pick<IssuedCredentials, 'api_key' | 'api_secret'>,
    more: InjectOptions = {},
  ): Promise<Reply> {
    const headers = credentials ? { 'x-api-key': credentials.api_key, 'x-api-secret': credentials.api_secret } : {}
    const answer = await this.app.server.inject({
      method: 'GET',
      url: path,
      ...more,
      headers: { ...headers, ...(more.headers as object) },
    })
    return {
      status: answer.statusCode,
      headers: answer.headers as Reply['headers'],
      body: (answer.body.startsWith('{') ? JSON.parse(answer.body) : null) as Envelope,
      text: answer.body,
    }
  }
}

const PLAIN_OFFER = {
  name: 'An offer',
  category: 'app',
  payout: '1',
  destination_url: 'https://ads.example.com/?c={click_id}',
}

/** The database of a world, as an operator would name it. */
export function databaseUrl(world: World): string {
  const { host = '', user = '', password } = world.connection('')
  const url = new URL(`postgres://${user}:${String(password)}@localhost/${world.databaseName}`)
  url.searchParams.set('host', host)
  url.searchParams.set('connect_timeout', String(PATIENCE_S))
  return url.href
}

/** A world that opens before the tests of the file, filled by `fill`, and closes after them. */
export function useWorld(name: string, fill: (world: World) => Promise<void> = async () => {}): World {
  const world = new World(name)
  before(async () => {
    await world.open()
    await fill(world)
  })
  after(() => world.close())
  return world
}
