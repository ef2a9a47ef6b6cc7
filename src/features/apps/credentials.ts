// The credentials of all apps in memory, by API key.
import { hash } from 'node:crypto'
import type { Since } from '../../db/changes.ts'
import type { Db } from '../../db/open.ts'
import type { Credential } from '../../http/gate.ts'
import type { Closure } from '../../http/key-faults.ts'
import { readChangedApps } from './apps.ts'
import { readBannedEverywhere } from './bans.ts'

/** One key of an app, with what serving its requests takes. */
export type AppCredential = Credential & {
  appId: number
  isTest: boolean
  /** Its own money, and its share of what offers pay. */
  currency: { id: number; name: string; rateMicros: number; sharePpm: number }
  /** Null when the app shows everything. */
  rules: ({ id: number } & Rules) | null
  /** Who is shown nothing; null when nobody is banned. */
  banned: ReadonlySet<string> | null
}

/** What an app does not show: by its publisher's choice, and by the operator's. */
type Rules = {
  blockedCategories: string[]
  blockedKeywords: string[]
  paymentOffers: boolean
  /** Only these offers, or all but these; null: all. */
  listed: { only: boolean; offerIds: number[] } | null
}

export class Credentials {
  readonly #byKey = new Map<string, AppCredential>()
  readonly #numbers = new Map<string, number>()

  readonly #byApp = new Map<string, AppCredential>()

  /** By the app and mode that a link names. */
  ofApp(appId: number, isTest: boolean): AppCredential | undefined {
    return this.#byApp.get(`${appId}|${isTest}`)
  }

  readonly find = (apiKey: string): AppCredential | undefined => this.#byKey.get(apiKey)

  #bannedEverywhere: ReadonlySet<string> = new Set()

  /** Whether the operator keeps this user from offers, in this app or in all. */
  readonly isBanned = ({ banned }: AppCredential, userId: string): boolean =>
    (banned !== null && banned.has(userId)) || this.#bannedEverywhere.has(userId)

  /** Takes in the apps changed since then. A ban is a change of the apps that it concerns. */
  async refresh(db: Db, since: Since): Promise<void> {
    this.#bannedEverywhere = await readBannedEverywhere(db)
    for (const app of await readChangedApps(db, since)) {
      const rules = {
        blockedCategories: app.blocked_categories,
        blockedKeywords: app.blocked_keywords,
        paymentOffers: app.payment_offers,
        listed: listedOf(app.only_listed_offers, app.listed_offers ?? []),
      }
      const currency = { name: app.currency, rateMicros: app.rate_micros, sharePpm: app.share_ppm }
      const closure = closureOf(app)
      const credential: AppCredential = {
        apiKey: app.api_key,
        appId: app.app_id,
        isTest: app.is_test,
        rateLimit: app.rate_limit,
        expiresAtMs: closure === null ? (app.expires_at?.getTime() ?? Infinity) : 0,
        closure,
        secrets: app.secrets.map(({ hash, expires_at }) => ({ hash, expiresAtMs: expires_at?.getTime() ?? Infinity })),
        currency: { id: this.#numberOf(currency), ...currency },
        rules: isOpen(rules) ? null : { id: this.#numberOf(rules), ...rules },
        banned: app.banned_users === null ? null : new Set(app.banned_users),
      }
      this.#byKey.set(app.api_key, credential)
      this.#byApp.set(`${app.app_id}|${app.is_test}`, credential)
    }
  }

  /** The same number for what is the same, from 1 on: caches tell currencies and rules apart by it. */
  #numberOf(value: object): number {
    const key = hash('sha256', JSON.stringify(value), 'base64') // rules can be long, and none is forgotten
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1
    this.#numbers.set(key, number)
    return number
  }
}

const listedOf = (only: boolean, offerIds: number[]): Rules['listed'] =>
  only || offerIds.length > 0 ? { only, offerIds } : null

/** A publisher that waits to be let in may test. */
function closureOf(app: { revoked_at: Date | null; status: string; is_test: boolean }): Closure | null {
  if (app.revoked_at !== null) return 'revoked'
  if (app.status === 'suspended') return 'suspended'
  return app.status === 'pending' && !app.is_test ? 'pending' : null
}

function isOpen({ blockedCategories, blockedKeywords, paymentOffers, listed }: Rules): boolean {
  return blockedCategories.length === 0 && blockedKeywords.length === 0 && paymentOffers && listed === null
}
