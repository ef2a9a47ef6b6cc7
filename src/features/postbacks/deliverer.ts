// Delivers postbacks: claims what is due, sends it, records the result. Any number of these run side by side, on any
// number of machines; each can be killed at any moment.
import { BatchWriter } from '../../db/batch-writer.ts'
import { briefly } from '../../db/brief.ts'
import { isUnavailable, isRowError, withRetry } from '../../db/pg-errors.ts'
import type { Db } from '../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../db/partitions.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { AppSettingsCache } from './app-settings.ts'
import { canSay } from './dialect.ts'
import { type Finished, finishClaims, renewLeases, returnClaim } from './claims.ts'
import { laneSigns, type LaneSign, updateLanes } from './lanes.ts'
import { buildRequest, describeRefusal, describeRequest, type EventContent, isReceived, tooLong } from './message.ts'
import { type Claimed, claimReady, LEASE_MS, makeReady, ROW_BY_ROW } from './queue.ts'
import { readRetryAfter, waitBeforeAttempt } from './schedule.ts'
import { isOwnError } from './send-error.ts'
import type { Sender, SendRequest, SendResult } from './sender.ts'
import type { PostbackSettings } from './settings.ts'
import { UNWANTED } from './sift.ts'
import { Capacity } from './capacity.ts'
import { readTestContents } from './test-sends.ts'

const CAPACITY = 512
const CLAIM = 200
const STALE_CLAIM_MS = LEASE_MS / 4 // after this, leases are renewed
const READY_MS = 250 // the shortest delay is some seconds
const MAX_UNSETTLED = 10_000
const RETRY_MS = 500
const GIVE_UP_MS = 60_000
const RENEWED_AFTER_MS = 5_000
const WARN_MS = 60_000

export type DelivererOptions = {
  db: Db
  secretKey: string
  sender: Sender
  /** The contents of these postbacks; unknown ones are missing. */
  describe: (db: Db, claims: readonly Claimed[]) => Promise<Map<string, EventContent>>
  warn: (message: string) => void
  /** Sees each attempt, where traces are wanted. */
  onAttempt?: ((attempt: AttemptEnd) => void) | undefined
}

/** `sent` is null where it did not come to that. */
export type AttemptEnd = { finished: Finished; content: EventContent | undefined; sent: SendRequest | null }

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #apps: AppSettingsCache
  readonly #finisher: BatchWriter<Finished, null>
  /** Results for lanes that were locked. */
  #unsettled: LaneSign[] = []
  /** The database's time, and our own time at that moment. */
  #clock = { databaseMs: Date.now(), ownMs: performance.now() }
  #readyAtMs = 0
  readonly #capacity = new Capacity(CAPACITY)
  readonly #held = new Map<Claimed, number>()
  #failedClaim: string | null = null
  #warnedAtMs = -Infinity
  #isClosed = false
  #isAsked = false
  #mayBeMore = false
  #running: Promise<void> | null = null

  constructor(options: DelivererOptions) {
    this.#options = options
    this.#apps = new AppSettingsCache(options.db, options.secretKey)
    this.#finisher = new BatchWriter((results) => this.#finish(results), isRowError, { concurrency: 1, maxRows: 200 })
  }

  /** Claims and starts everything that is due and fits. Resolves when there was nothing more to claim. */
  run(): Promise<void> {
    this.#isAsked = true
    this.#running ??= this.#runWhileAsked().finally(() => (this.#running = null))
    return this.#running
  }

  /** A claim may miss what becomes due while it runs: a call made meanwhile triggers another one. */
  async #runWhileAsked(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false
      if (this.#unsettled.length > 0) await this.#updateLanes([])
      while (await this.#claim());
    }
  }

  /** Returns whether to claim again at once. Where lanes are full, finished postbacks make room. */
  async #claim(): Promise<boolean> {
    await this.#capacity.some()
    if (this.#isClosed) return false
    const { db } = this.#options
    await this.#returnFailed()
    const isMoreReady = await this.#makeReady()
    const { free } = this.#capacity
    const limit = Math.min(CLAIM, free)
    const claimId = uuid7(Date.now())
    this.#failedClaim = claimId // until it is known to have worked: the response may be lost, too
    const claimedMs = performance.now()
    const { claims, isMore, at } = await claimReady(db, { limit, capacity: CAPACITY, free, claimId })
    if (at !== null) this.#clock = { databaseMs: at.getTime(), ownMs: claimedMs }
    this.#mayBeMore = claims.length > 0 || free < CAPACITY
    this.#capacity.take(claims.length)
    try {
      await this.#apps.refresh(new Map(claims.map((claim) => [claim.app_id, claim.settings_version])))
      const contents = await this.#describe(claims)
      // A lease that may end before the attempt does is returned: another worker could be sending it by then.
      if (performance.now() - claimedMs > STALE_CLAIM_MS) throw new Error('The database took too long to answer.')
      this.#failedClaim = null
      for (const claim of claims) void this.#deliver(claim, contents.get(claim.postback_id))
    } catch (error) {
      this.#capacity.release(claims.length)
      throw error
    }
    return isMore || isMoreReady || claims.length >= limit / 2
  }

  async #makeReady(): Promise<boolean> {
    if (performance.now() - this.#readyAtMs < READY_MS) return false
    const isMore = (await makeReady(this.#options.db)) > 0
    if (!isMore) this.#readyAtMs = performance.now()
    return isMore
  }

  async #describe(claims: readonly Claimed[]): Promise<Map<string, EventContent>> {
    const { db, describe } = this.#options
    const [events, tests] = [true, false].map((isEvent) => claims.filter((one) => (one.scenario === null) === isEvent))
    const contents = await briefly(db, (trx) => describe(trx, events ?? []), ROW_BY_ROW)
    for (const [id, content] of await readTestContents(db, tests ?? [])) contents.set(id, content)
    return contents
  }

  /** By the database's clock: this machine's may be wrong. */
  #now(): Date {
    return new Date(this.#clock.databaseMs + performance.now() - this.#clock.ownMs)
  }

  /** Nothing of it was sent; otherwise it would block its lanes until the lease ends. */
  async #returnFailed(): Promise<void> {
    if (this.#failedClaim !== null) await returnClaim(this.#options.db, this.#failedClaim)
    this.#failedClaim = null
  }

  /** Call this every few seconds: it keeps long attempts ours. */
  async renewLeases(): Promise<void> {
    const sinceMs = performance.now() - RENEWED_AFTER_MS
    const slow = [...this.#held].filter(([, startedMs]) => startedMs < sinceMs).map(([claimed]) => claimed)
    await renewLeases(this.#options.db, slow)
  }

  async #deliver(claimed: Claimed, content: EventContent | undefined): Promise<void> {
    const startedAt = this.#now()
    this.#held.set(claimed, performance.now())
    try {
      const { finished, sent } = await this.#attempt(claimed, content, startedAt)
      this.#options.onAttempt?.({ finished, content, sent })
      await this.#finisher.add(finished)
    } catch (error) {
      this.#options.warn(
        `what came of postback ${claimed.postback_id}, of request ${content?.macros.request_id ?? 'none'}, could not be written (${String(error)}); it will be sent again`,
      )
    } finally {
      this.#held.delete(claimed)
      this.#capacity.release(1)
      if (this.#mayBeMore && !this.#isClosed) void this.run().catch(() => {}) // the calling loop logs failures
    }
  }

  async #attempt(
    claimed: Claimed,
    content: EventContent | undefined,
    startedAt: Date,
  ): Promise<Pick<AttemptEnd, 'finished' | 'sent'>> {
    const plain = {
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
    const { saved, secrets } = this.#apps.get(claimed.app_id)
    const settings = saved?.settings ?? null
    const isTried = claimed.scenario === null
    const later = isTried ? waitBeforeAttempt(claimed.tries, Math.random()) : null
    const base = { ...plain, settingsVersion: saved?.version ?? null }
    const unsent = (error: string, waitMs = later) => ({ finished: { ...base, ok: false, waitMs, error }, sent: null })
    if (content === undefined) return unsent('The event of this postback was not found.')
    if (settings === null) return unsent('The app no longer has a postback URL.')
    if (settings === 'unreadable')
      return unsent("The headers or the receiver's secret of this app cannot be read: save its settings again.")
    if (isTried && !claimed.is_replay && !settings.events.some((event) => event === claimed.status))
      return unsent(UNWANTED, null)
    if (!canSay(settings.dialect, claimed.status))
      return unsent(`The dialect of this app has no word for ${claimed.status}.`, null)
    const signedWith = claimed.scenario === 'wrong_signature' ? [WRONG_SECRET] : (secrets.get(claimed.is_test) ?? [])
    if (signedWith.length === 0) return unsent('The signing secret of this app cannot be read: rotate it.')
    const request = tryBuild(content, claimed.scenario === 'wrong_signature' ? withWrongSecret(settings) : settings, signedWith, startedAt) // prettier-ignore
    if (request === null) return unsent('The postback URL is not a valid template: save it again.')
    const refusal = tooLong(request)
    if (refusal !== null) return unsent(refusal)
    const result = await this.#options.sender.send(request, claimed.app_id)
    const ok = result.phase === null && isReceived(settings, result.status, result.bodyStart)
    const isOurs = result.error !== null && isOwnError(result.error.code)
    if (isOurs) this.#warnOfOwnError(result.error?.message ?? '')
    const finished = {
      ...base,
      durationMs: result.durationMs,
      ok,
      waitMs: ok || !isTried ? null : this.#waitAfter(claimed, result),
      phase: result.phase,
      status: result.status,
      error: ok ? null : (result.error?.message ?? describeRefusal(settings, result.status, result.bodyStart)),
      remoteAddress: result.remoteAddress,
      request: describeRequest(request, settings) + (result.isRepeated ? SENT_TWICE : ''),
      response: result.responseHead,
      isOwnError: isOurs,
    }
    return { finished, sent: request }
  }

  /** Only the operator can fix it, and every postback fails because of it: logged once a minute. */
  #warnOfOwnError(problem: string): void {
    if (performance.now() - this.#warnedAtMs < WARN_MS) return
    this.#warnedAtMs = performance.now()
    this.#options.warn(`postbacks cannot be sent from here: ${problem}`)
  }

  /** 410 means that the URL is gone: the lane is paused, and resuming it does not wait for a Retry-After. */
  #waitAfter({ tries }: Claimed, { status, retryAfter }: SendResult): number | null {
    return waitBeforeAttempt(tries, Math.random(), status === 410 ? null : readRetryAfter(retryAfter, this.#now()))
  }

  /**
   * Results are kept while the database is unavailable; a worker that takes over meanwhile sends the postback again.
   */
  async #finish(results: readonly Finished[]): Promise<null[]> {
    const { db } = this.#options
    let ours: Finished[] = []
    for (const startedMs = Date.now(); ;) {
      try {
        ours = await withRetry(() => finishClaims(db, results))
        break
      } catch (error) {
        if (isMissingPartition(error))
          await ensurePartitions(
            db,
            'postback_attempts',
            results.map((one) => one.startedAt.getTime()),
          )
        else if (!isUnavailable(error) || Date.now() - startedMs > GIVE_UP_MS) throw error
        else await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    await this.#updateLanes(laneSigns(ours))
    return results.map(() => null)
  }

  /** Locked lanes are updated later, at the latest with the next look. */
  async #updateLanes(signs: readonly LaneSign[]): Promise<void> {
    const all = [...this.#unsettled.splice(0), ...signs]
    if (all.length === 0) return
    try {
      this.#unsettled.push(...(await updateLanes(this.#options.db, all)))
    } catch (error) {
      this.#unsettled.push(...all)
      this.#options.warn(`the lanes of postbacks were not brought up to date (${String(error)}); trying again`)
    }
    this.#unsettled.splice(0, this.#unsettled.length - MAX_UNSETTLED)
  }

  /** Stops claiming, and resolves when everything under way is finished. */
  async close(): Promise<void> {
    this.#isClosed = true
    const drained = this.#capacity.close()
    await this.#running?.catch(() => {})
    await drained
  }
}

/** Null for a template that could not be saved today: it was saved before templates were checked. */
function tryBuild(...[content, settings, secrets, now]: Parameters<typeof buildRequest>): SendRequest | null {
  try {
    return buildRequest(content, settings, secrets, now)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const SENT_TWICE =
  '\n\n(Sent twice: the kept-alive connection was closed before a response came, so the request was resent on a new one.)'

/** For the test send that a receiver must refuse. */
const withWrongSecret = (settings: PostbackSettings) => ({ ...settings, receiverSecret: 'not the secret' })
const WRONG_SECRET = `whsec_${Buffer.from('not the secret of any app at all').toString('base64')}`
