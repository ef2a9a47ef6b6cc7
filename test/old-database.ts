// A database as an earlier version left it, for tests of what becomes of it.
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { listMigrations, migrate } from '../src/db/migrate.ts'
import { openPool } from '../src/db/open.ts'
import { createSecretHash, createApiKey, createApiSecret, createSigningSecret } from '../src/features/apps/secrets.ts'
import { signingSecretsKey } from '../src/features/apps/signing-secrets.ts'
import { seal } from '../src/lib/keys.ts'
import { databaseUrl } from './worker-world.ts'
import { createDatabase } from './databases.ts'
import { SECRET_KEY } from './world.ts'

export type Row = Record<string, unknown>
export type OldApp = { app_id: number; apiKey: string; apiSecret: string; signingSecret: string }

export class OldDatabase {
  readonly name: string
  /** The migrations that it does not have. */
  readonly missing: string[]
  readonly #pool: pg.Pool

  private constructor(name: string, missing: string[]) {
    this.name = name
    this.missing = missing
    this.#pool = openPool({ connectionString: databaseUrl(name, 'test') }, 2).pool
  }

  /** Has the migrations up to the one with this number, noted as the program does. */
  static async open(last: string): Promise<OldDatabase> {
    const name = `old_${randomBytes(4).toString('hex')}`
    await createDatabase(name)
    const all = listMigrations()
    const count = all.findIndex((one) => one.name.startsWith(`${last}_`)) + 1
    const old = new OldDatabase(
      name,
      all.slice(count).map((one) => one.name),
    )
    await migrate({ pool: old.#pool }, all.slice(0, count))
    return old
  }

  async query(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, values)).rows
  }

  /** Returns the row as it is then. */
  async insert(table: string, row: Row): Promise<Row> {
    const names = Object.keys(row)
    const places = names.map((_, i) => `$${i + 1}`)
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')}) RETURNING *`
    return (await this.query(text, Object.values(row)))[0] ?? {}
  }

  /** With live credentials. */
  async insertApp(row: Row): Promise<OldApp> {
    const { app_id } = await this.insert('apps', {
      currency: 'Coins',
      rate_micros: 100_000_000,
      rate_limit: 100,
      ...row,
    })
    const [apiKey, apiSecret, signingSecret] = [createApiKey('live'), createApiSecret('live'), createSigningSecret()]
    const signing_secret_sealed = seal(signingSecretsKey(SECRET_KEY), signingSecret, apiKey)
    await this.insert('credentials', { api_key: apiKey, app_id, is_test: false, signing_secret_sealed })
    await this.insert('api_secrets', { api_key: apiKey, hash: createSecretHash(SECRET_KEY)(apiSecret) })
    return { app_id: Number(app_id), apiKey, apiSecret, signingSecret }
  }

  /** A publisher with an app that gets postbacks and one that gets none; an advertiser's offer. */
  async fill(insertWithPostbacks: (publisherId: number) => Promise<OldApp>) {
    const publisherId = Number((await this.insert('publishers', { name: 'Publisher' }))['publisher_id'])
    const withPostbacks = await insertWithPostbacks(publisherId)
    const withoutPostbacks = await this.insertApp({
      publisher_id: publisherId,
      name: 'Without postbacks',
      rate_limit: 7,
    })
    const { advertiser_id } = await this.insert('advertisers', { name: 'Advertiser' })
    const worth = { payout_micros: 1_500_000, revenue_micros: 2_000_000 }
    const { offer_id } = await this.insert('offers', {
      advertiser_id,
      external_id: 'x-1',
      name: 'An offer',
      description: 'To do',
      category: 'app',
      ...worth,
      countries: [],
      platforms: ['web'],
      destination_url: 'https://ads.example.com/?c={click_id}',
      difficulty: 'easy',
      time_estimate: '5 min',
      requirements: 'None',
      payment_required: false,
      conversion_type: 'cpa',
      status: 'active',
    })
    const goal = { offer_id, place: 1, name: 'Done', description: '', ...worth, is_optional: false }
    const { goal_id } = await this.insert('goals', goal)
    const context = { app_id: withPostbacks.app_id, is_test: false, user_id: 'u', aff_sub: 'mail', seen_at: new Date() }
    await this.insert('user_contexts', context)
    const ids = { advertiserId: Number(advertiser_id), offerId: Number(offer_id), goalId: Number(goal_id) }
    return { publisherId, withPostbacks, withoutPostbacks, ...ids }
  }

  /** Every row of every table that has any, but for the stamp of its latest change. */
  async readAll(): Promise<Map<string, Row[]>> {
    const tables = await this.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    const all = new Map<string, Row[]>()
    for (const { name } of tables) {
      const rows = await this.query(`SELECT to_jsonb(t) - 'changed_xid' AS row FROM ${String(name)} t ORDER BY t::text`)
      if (rows.length > 0) all.set(String(name), rows.map(({ row }) => row as Row)) // prettier-ignore
    }
    return all
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}
