// Delivers postbacks: claims what is due, sends it, says what came of it. Any number of these work side by side, on as
// many machines; each can be killed at any moment.
import { BatchWriter } from '../../db/batch-writer.ts'
import { isAway, isRowFault, retrying } from '../../db/faults.ts'
import type { Db } from '../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../db/partitions.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { readSigningSecrets, signingKeyOf } from '../apps/signing-secrets.ts'
import { settleLanes } from './lanes.ts'
import { buildRequest, describeRequest, type EventContent, isReceived } from './message.ts'
import { type Claimed, claimDue, type Finished, finishClaims, LEASE_MS, renewLeases, returnClaim } from './queue.ts'
import { nextTryAt } from './schedule.ts'
import type { Sender, SendRequest, SendResult } from './sender.ts'
import { type PostbackSettings, readAllSettings } from './settings.ts'

const SLOTS = 512
const CLAIM = 200
const STALE_CLAIM_MS = LEASE_MS / 4 // from then on leases are renewed
const WORTH_A_CLAIM = 64 // free slots: a claim costs much, a row in it little
const SETTINGS_MS = 1_000
const AWAY_MS = 500
const GIVE_UP_MS = 60_000
const RENEWED_AFTER_MS = 5_000

export type DelivererOptions = {
  db: Db
  secretKey: string
  sender: Sender
  /** What the events of these postbacks tell; those it does not know are missing. */
  describe: (db: Db, claims: readonly Claimed[]) => Promise<Map<string, EventContent>>
  warn: (message: string) => void
}

type AppSecrets = {
  settings: PostbackSettings | 'unreadable' | null
  secrets: Map<boolean, string[]>
  readAtMs: number
}

const NO_APP: AppSecrets = { settings: null, secrets: new Map(), readAtMs: 0 }

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #apps = new Map<number, AppSecrets>()
  readonly #finisher: BatchWriter<Finished, null>
  #inFlight = 0
  readonly #held = new Map<Claimed, number>()
  #failedClaim: string | null = null
  #isClosed = false
  #isAsked = false
  #mayBeMore = false
  #running: Promise<void> | null = null
  #onSlot: (() => void) | null = null
  readonly #drained: (() => void)[] = []

  constructor(options: DelivererOptions) {
    this.#options = options
    this.#finisher = new BatchWriter((results) => this.#finish(results), isRowFault, { lanes: 1, maxRows: 200 })
  }

  /** Claims and starts everything that is due and fits. Resolves when there was nothing more to claim. */
  run(): Promise<void> {
    this.#isAsked = true
    this.#running ??= this.#runWhileAsked().finally(() => (this.#running = null))
    return this.#running
  }

  /** What becomes due during a claim may be missed by it: whoever asks meanwhile makes it look again. */
  async #runWhileAsked(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false
      while (await this.#claim());
    }
  }

  /** Returns whether there is more than lanes have room for now: then what is finished makes room. */
  async #claim(): Promise<boolean> {
    if (SLOTS - this.#inFlight < WORTH_A_CLAIM) await new Promise<void>((free) => (this.#onSlot = free))
    if (this.#isClosed) return false
    const limit = Math.min(CLAIM, SLOTS - this.#inFlight)
    const { db, describe } = this.#options
    await this.#returnFailed()
    const claimId = uuid7(Date.now())
    this.#failedClaim = claimId // until it is known to have worked: the answer may be lost, too
    const claimedMs = Date.now()
    const claims = await claimDue(db, limit, SLOTS, new Date(claimedMs), claimId)
    this.#mayBeMore = claims.length > 0 || this.#inFlight > 0
    this.#inFlight += claims.length
    try {
      await this.#readApps(claims)
      const contents = await describe(
        db,
        claims.filter((claim) => claim.content === null),
      )
      // A lease that may end before the try does is given back: somebody else could be sending it by then.
      if (Date.now() - claimedMs > STALE_CLAIM_MS) throw new Error('The database took too long to answer.')
      this.#failedClaim = null
      for (const claim of claims)
        void this.#deliver(claim, (claim.content as EventContent | null) ?? contents.get(claim.postback_id))
    } catch (error) {
      this.#release(claims.length)
      throw error
    }
    return claims.length >= limit / 2
  }

  /** Nothing of it was sent; left alone, it would fill its lanes until its lease ends. */
  async #returnFailed(): Promise<void> {
    if (this.#failedClaim !== null) await returnClaim(this.#options.db, this.#failedClaim)
    this.#failedClaim = null
  }

  /** To be called every few seconds: what takes long is still ours. */
  async renewLeases(): Promise<void> {
    const sinceMs = Date.now() - RENEWED_AFTER_MS
    const slow = [...this.#held].filter(([, startedMs]) => startedMs < sinceMs).map(([claimed]) => claimed)
    await renewLeases(this.#options.db, slow, new Date())
  }

  async #deliver(claimed: Claimed, content: EventContent | undefined): Promise<void> {
    const startedAt = new Date()
    this.#held.set(claimed, startedAt.getTime())
    try {
      const finished = await this.#attempt(claimed, content, startedAt)
      await this.#finisher.add(finished)
    } catch (error) {
      this.#options.warn(
        `what came of postback ${claimed.postback_id} could not be written (${String(error)}); it will be sent again`,
      )
    } finally {
      this.#held.delete(claimed)
      this.#release(1)
      if (this.#mayBeMore && !this.#isClosed) void this.run().catch(() => {}) // the loop that calls it tells of failures
    }
  }

  async #attempt(claimed: Claimed, content: EventContent | undefined, startedAt: Date): Promise<Finished> {
    const base = {
      attemptId: uuid7(startedAt.getTime()),
      claimed,
      startedAt,
      durationMs: 0,
      phase: null,
      status: null,
      remoteAddress: null,
      request: '',
      response: '',
    }
    const { settings, secrets } = this.#apps.get(claimed.app_id) ?? NO_APP
    const later = claimed.scenario === null ? nextTryAt(claimed.tries, startedAt, Math.random()) : null
    const unsent = (error: string): Finished => ({ ...base, ok: false, nextAt: later, error })
    if (content === undefined) return unsent('The event of this postback was not found.')
    if (settings === null) return unsent('The app has no postback address any more.')
    if (settings === 'unreadable') return unsent('The headers of this app cannot be read: set its address again.')
    const signedWith = claimed.scenario === 'wrong_signature' ? [WRONG_SECRET] : (secrets.get(claimed.is_test) ?? [])
    if (signedWith.length === 0) return unsent('The signing secret of this app cannot be read: rotate it.')
    const request = tryBuild(content, settings, signedWith, startedAt)
    if (request === null) return unsent('The address is not a valid template: save it again.')
    const result = await this.#options.sender.send(request, claimed.app_id)
    const ok = result.phase === null && isReceived(settings, result.status, result.bodyStart)
    return {
      ...base,
      durationMs: result.durationMs,
      ok,
      nextAt: ok || claimed.scenario !== null ? null : nextAt(claimed, result),
      phase: result.phase,
      status: result.status,
      error: ok ? null : (result.error?.message ?? refusalOf(settings, result)),
      remoteAddress: result.remoteAddress,
      request: describeRequest(request, settings),
      response: result.responseHead,
    }
  }

  async #readApps(claims: readonly Claimed[]): Promise<void> {
    const now = Date.now()
    const stale = [...new Set(claims.map((claim) => claim.app_id))].filter(
      (appId) => now - (this.#apps.get(appId)?.readAtMs ?? 0) > SETTINGS_MS,
    )
    if (stale.length === 0) return
    const { db, secretKey } = this.#options
    const settings = await readAllSettings(db, secretKey, stale)
    const secrets = await readSigningSecrets(db, secretKey, stale, new Date(now))
    for (const appId of stale)
      this.#apps.set(appId, {
        settings: settings.get(appId) ?? null,
        secrets: new Map([false, true].map((isTest) => [isTest, secrets.get(signingKeyOf(appId, isTest)) ?? []])),
        readAtMs: now,
      })
  }

  /** Results are kept while the database is away; whoever takes over the work meanwhile sends it again. */
  async #finish(results: readonly Finished[]): Promise<null[]> {
    const { db } = this.#options
    let ours: Finished[] = []
    for (const startedMs = Date.now(); ;) {
      try {
        ours = await retrying(() => finishClaims(db, results, new Date()))
        break
      } catch (error) {
        if (isMissingPartition(error))
          await ensurePartitions(
            db,
            'postback_attempts',
            results.map((one) => one.startedAt.getTime()),
          )
        else if (!isAway(error) || Date.now() - startedMs > GIVE_UP_MS) throw error
        else await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
      }
    }
    // A lane that misses this hears of the next results.
    await settleLanes(db, ours, new Date()).catch((error: unknown) =>
      this.#options.warn(`the lanes of postbacks were not brought up to date (${String(error)})`),
    )
    return results.map(() => null)
  }

  #release(count: number): void {
    this.#inFlight -= count
    if (SLOTS - this.#inFlight >= WORTH_A_CLAIM || this.#isClosed) {
      this.#onSlot?.()
      this.#onSlot = null
    }
    if (this.#inFlight === 0) for (const done of this.#drained.splice(0)) done()
  }

  /** Claims nothing more, and resolves when what is under way is finished. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running?.catch(() => {})
    if (this.#inFlight > 0) await new Promise<void>((done) => this.#drained.push(done))
  }
}

/** Null for a template that could not be saved today: it is from before they were checked. */
function tryBuild(...[content, settings, secrets, now]: Parameters<typeof buildRequest>): SendRequest | null {
  try {
    return buildRequest(content, settings, secrets, now)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** For the test send that a receiver must refuse. */
const WRONG_SECRET = `whsec_${Buffer.from('not the secret of any app at all').toString('base64')}`

/** 410 says that the address is gone: no more of this one, and the lane is paused. */
function nextAt({ tries }: Claimed, { status, retryAfter }: SendResult): Date | null {
  return nextTryAt(tries, new Date(), Math.random(), status === 410 ? null : retryAfter)
}

function refusalOf({ success }: PostbackSettings, { status }: SendResult): string {
  if (status !== null && status >= 200 && status < 300 && success === 'body')
    return 'The answer does not begin with 1, OK or DUP.'
  if (status !== null && status >= 300 && status < 400)
    return `The answer is a redirect (${status}), which is not followed.`
  return `The answer is ${status}, not 2xx.`
}
