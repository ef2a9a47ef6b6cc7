// The credentials of all apps in memory, by API key.
import { hash } from 'node:crypto'
import type { Since } from '../../db/changes.ts'
import type { Db } from '../../db/open.ts'
import type { Credential } from '../../http/gate.ts'
import type { Closure } from '../../http/key-errors.ts'
import { readChangedApps } from './apps.ts'
import { readBannedEverywhere } from './bans.ts'
import type { AppKind } from './reward-settings.ts'

const SPARE = 1_000 // values that may be kept without being used

/** One key of an app, with what serving its requests takes. */
export type AppCredential = Credential & {
  appId: number
  isTest: boolean
  /** Its own money, and its share of what offers pay. */
  currency: Shared<{ name: string; rateMicros: number; sharePpm: number }>
  /** Null when the app shows everything. The same object for the same rules. */
  rules: Shared<Rules> | null
  /** The banned users; null when there are none. */
  banned: ReadonlySet<string> | null
  /** tracking: for servers only, without a wall. */
  kind: AppKind
  /** Whether rewards are added to balances of its users. */
  keepsBalance: boolean
}

/** What an app does not show: by its publisher's choice, and by the operator's. */
type Rules = {
  blockedCategories: string[]
  blockedKeywords: string[]
  paymentOffers: boolean
  /** Only these offers, or all but these; null: all. */
  listed: { only: boolean; offerIds: number[] } | null
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

  #read(app: Awaited<ReturnType<typeof readChangedApps>>[number]): AppCredential {
    const rules = {
      blockedCategories: app.blocked_categories,
      blockedKeywords: app.blocked_keywords,
      paymentOffers: app.payment_offers,
      listed: listedOf(app.only_listed_offers, app.listed_offers ?? []),
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
      currency: this.#share({ name: app.currency, rateMicros: app.rate_micros, sharePpm: app.share_ppm }),
      rules: isOpen(rules) ? null : this.#share(rules),
      banned: app.banned_users === null ? null : new Set(app.banned_users),
      kind: app.kind as AppKind,
      keepsBalance: app.keeps_balance,
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
    if (this.#shared.size <= 2 * this.#byKey.size + SPARE) return
    const used = new Set<object | null>([...this.#byKey.values()].flatMap(({ rules, currency }) => [rules, currency]))
    for (const [fingerprint, shared] of this.#shared) if (!used.has(shared)) this.#shared.delete(fingerprint)
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
