// The credentials of all apps in memory, by API key.
import { hash } from 'node:crypto'
import type { Since } from '../../db/changes.ts'
import type { Db } from '../../db/open.ts'
import type { Credential } from '../../http/gate.ts'
import type { Closure } from '../../http/key-errors.ts'
import { multipliedRate } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'
import { readChangedApps } from './apps.ts'
import { readBannedEverywhere } from './bans.ts'
import type { AppKind } from './reward-settings.ts'

const SPARE = 1_000 // values that may be kept without being used

/** One key of an app, with what serving its requests takes. */
export type AppCredential = Credential & {
  appId: number
  isTest: boolean
  /** Its own money, and its share of what offers pay, without a sale: see `currencyAt`. */
  currency: Shared<Currency>
  /** The sale that is on, was, or will be. */
  sale: { startsAtMs: number; endsAtMs: number; currency: Shared<Currency> } | null
  /** Null when the app shows everything. The same object for the same rules. */
  rules: Shared<Rules> | null
  /** The banned users; null when there are none. */
  banned: ReadonlySet<string> | null
  /** tracking: for servers only, without a wall. */
  kind: AppKind
  /** Whether rewards are added to balances of its users. */
  keepsBalance: boolean
  /** Comes first on the wall for users who have no conversion yet; null: none does. */
  welcomeOfferId: number | null
  /** How many offers a user can complete in a day of UTC; null: any number. */
  dailyLimit: number | null
}

type Currency = {
  name: string
  rateMicros: number
  sharePpm: number
  rounding: string | null
  sale: { multiplierPpm: number; endsAt: string } | null
}

/** The currency as it is at a time: in a sale rewards are worth more. */
export const currencyAt = ({ currency, sale }: AppCredential, nowMs: number): Shared<Currency> =>
  sale !== null && nowMs >= sale.startsAtMs && nowMs < sale.endsAtMs ? sale.currency : currency

/** What an app does not show: by its publisher's choice, and by the operator's. */
type Rules = {
  blockedCategories: string[]
  blockedKeywords: string[]
  paymentOffers: boolean
  /** Only these offers, or all but these; null: all. */
  listed: { only: boolean; offerIds: number[] } | null
  /** Only offers with this reward, in ten thousandths; null: all. */
  minReward: { steps: number; rateMicros: number; sharePpm: number; rounding: string | null } | null
}

/** Equal rules have the same number, from 1 on, which caches use as a key, and the same fingerprint on every node. */
type Shared<T> = T & { id: number; fingerprint: string }

export class Credentials {
  #byKey = new Map<string, AppCredential>()
  #byApp = new Map<string, AppCredential>()
  readonly #shared = new Map<string, Shared<object>>()
  #count = 0

  /** By the app and mode that a link names. */
  ofApp(appId: number, isTest: boolean): AppCredential | undefined {
    return this.#byApp.get(`${appId}|${isTest}`)
  }

  readonly find = (apiKey: string): AppCredential | undefined => this.#byKey.get(apiKey)

  #bannedEverywhere: ReadonlySet<string> = new Set()

  /** Whether the operator keeps this user from offers, in this app or in all. */
  readonly isBanned = ({ banned }: AppCredential, userId: string): boolean =>
    (banned !== null && banned.has(userId)) || this.#bannedEverywhere.has(userId)

  /** Applies the apps changed since then. A ban counts as a change of its apps. */
  async refresh(db: Db, since: Since): Promise<void> {
    const bannedEverywhere = await readBannedEverywhere(db)
    const credentials = (await readChangedApps(db, since)).map((app) => this.#read(app))
    if (since.isEverything) {
      this.#byKey = new Map() // keys that are not there any more are let in no more
      this.#byApp = new Map()
    }
    this.#bannedEverywhere = bannedEverywhere
    for (const credential of credentials) {
      this.#byKey.set(credential.apiKey, credential)
      this.#byApp.set(`${credential.appId}|${credential.isTest}`, credential)
    }
    this.#forgetUnused()
  }

  #read(app: ChangedApp): AppCredential {
    const reward = { rateMicros: app.rate_micros, sharePpm: app.share_ppm, rounding: app.rounding }
    const currency = { name: app.currency, ...reward, sale: null }
    const rules = {
      blockedCategories: app.blocked_categories,
      blockedKeywords: app.blocked_keywords,
      paymentOffers: app.payment_offers,
      listed: listedOf(app.only_listed_offers, app.listed_offers),
      minReward: app.min_reward_steps === null ? null : { steps: app.min_reward_steps, ...reward },
    }
    const closure = closureOf(app)
    return {
      apiKey: app.api_key,
      appId: app.app_id,
      isTest: app.is_test,
      rateLimit: app.rate_limit,
      expiresAtMs: closure === null ? (app.expires_at?.getTime() ?? Infinity) : 0,
      closure,
      secrets: app.secrets.map(({ hash, expires_at }) => ({ hash, expiresAtMs: expires_at?.getTime() ?? Infinity })),
      currency: this.#share(currency),
      sale: this.#readSale(app, currency),
      rules: isOpen(rules) ? null : this.#share(rules),
      banned: app.banned_users === null ? null : new Set(app.banned_users),
      kind: app.kind as AppKind,
      keepsBalance: app.keeps_balance,
      welcomeOfferId: app.welcome_offer_id,
      dailyLimit: app.daily_limit,
    }
  }

  #readSale(app: ChangedApp, currency: Currency): AppCredential['sale'] {
    const { sale_multiplier_ppm: multiplierPpm, sale_starts_at: startsAt, sale_ends_at: endsAt } = app
    if (multiplierPpm === null || startsAt === null || endsAt === null) return null
    const rateMicros = multipliedRate(currency.rateMicros, multiplierPpm)
    const sale = { multiplierPpm, endsAt: rfc3339(endsAt) }
    return {
      startsAtMs: startsAt.getTime(),
      endsAtMs: endsAt.getTime(),
      currency: this.#share({ ...currency, rateMicros, sale }),
    }
  }

  #share<T extends object>(value: T): Shared<T> {
    const fingerprint = hash('sha256', JSON.stringify(value), 'base64')
    const shared = this.#shared.get(fingerprint) ?? { ...value, id: ++this.#count, fingerprint }
    this.#shared.set(fingerprint, shared)
    return shared as Shared<T>
  }

  /** Drops rules and currencies that no app uses, once there are many; their numbers are never reused. */
  #forgetUnused(): void {
    if (this.#shared.size <= 3 * this.#byKey.size + SPARE) return
    const used = new Set<object | null | undefined>(
      [...this.#byKey.values()].flatMap(({ rules, currency, sale }) => [rules, currency, sale?.currency]),
    )
    for (const [fingerprint, shared] of this.#shared) if (!used.has(shared)) this.#shared.delete(fingerprint)
  }
}

type ChangedApp = Awaited<ReturnType<typeof readChangedApps>>[number]

const listedOf = (only: boolean, offerIds: number[]): Rules['listed'] =>
  only || offerIds.length > 0 ? { only, offerIds } : null

/** A publisher that waits to be let in may test. */
function closureOf(app: { revoked_at: Date | null; status: string; is_test: boolean }): Closure | null {
  if (app.revoked_at !== null) return 'revoked'
  if (app.status === 'suspended') return 'suspended'
  return app.status === 'pending' && !app.is_test ? 'pending' : null
}

function isOpen({ blockedCategories, blockedKeywords, paymentOffers, listed, minReward }: Rules): boolean {
  const isPlain = blockedCategories.length === 0 && blockedKeywords.length === 0 && paymentOffers
  return isPlain && listed === null && minReward === null
}
