// Delivers postbacks: claims what is due, sends it, says what came of it. Any number of these work side by side, on as
// many machines; each can be killed at any moment.
import { BatchWriter } from '../../db/batch-writer.ts'
import { briefly } from '../../db/brief.ts'
import { isUnavailable, isRowError, withRetry } from '../../db/pg-errors.ts'
import type { Db } from '../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../db/partitions.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { AppSettingsCache } from './app-settings.ts'
import { type Finished, finishClaims, renewLeases, returnClaim } from './claims.ts'
import { laneSigns, type LaneSign, updateLanes } from './lanes.ts'
import { buildRequest, describeRequest, type EventContent, isReceived, tooLong } from './message.ts'
import { type Claimed, claimReady, LEASE_MS, makeReady, ROW_BY_ROW } from './queue.ts'
import { readRetryAfter, waitBeforeTry } from './schedule.ts'
import { isOwnFault } from './send-fault.ts'
import type { Sender, SendRequest, SendResult } from './sender.ts'
import type { PostbackSettings } from './settings.ts'
import { UNWANTED } from './sift.ts'
import { Slots } from './slots.ts'
import { readTestContents } from './test-sends.ts'

const SLOTS = 512
const CLAIM = 200
const STALE_CLAIM_MS = LEASE_MS / 4 // from then on leases are renewed
const READY_MS = 250 // the shortest wait is some seconds
const MAX_UNSETTLED = 10_000
const RETRY_MS = 500
const GIVE_UP_MS = 60_000
const RENEWED_AFTER_MS = 5_000
const WARN_MS = 60_000

export type DelivererOptions = {
  db: Db
  secretKey: string
  sender: Sender
  /** What the events of these postbacks tell; those it does not know are missing. */
  describe: (db: Db, claims: readonly Claimed[]) => Promise<Map<string, EventContent>>
  warn: (message: string) => void
}

export class Deliverer {
  readonly #options: DelivererOptions
  readonly #apps: AppSettingsCache
  readonly #finisher: BatchWriter<Finished, null>
  /** What lanes are to be told, that were locked. */
  #unsettled: LaneSign[] = []
  /** The database's time, and when it was that by our own. */
  #clock = { databaseMs: Date.now(), ownMs: performance.now() }
  #readyAtMs = 0
  readonly #slots = new Slots(SLOTS)
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
    this.#finisher = new BatchWriter((results) => this.#finish(results), isRowError, { lanes: 1, maxRows: 200 })
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
      if (this.#unsettled.length > 0) await this.#updateLanes([])
      while (await this.#claim());
    }
  }

  /** Returns whether to claim again at once. Where lanes have no room now, what is finished makes it. */
  async #claim(): Promise<boolean> {
    await this.#slots.some()
    if (this.#isClosed) return false
    const { db } = this.#options
    await this.#returnFailed()
    const isMoreReady = await this.#makeReady()
    const { free } = this.#slots
    const limit = Math.min(CLAIM, free)
    const claimId = uuid7(Date.now())
    this.#failedClaim = claimId // until it is known to have worked: the answer may be lost, too
    const claimedMs = performance.now()
    const { claims, isMore, at } = await claimReady(db, { limit, slots: SLOTS, free, claimId })
    if (at !== null) this.#clock = { databaseMs: at.getTime(), ownMs: claimedMs }
    this.#mayBeMore = claims.length > 0 || free < SLOTS
    this.#slots.take(claims.length)
    try {
      await this.#apps.refresh(claims.map((claim) => claim.app_id))
      const contents = await this.#describe(claims)
      // A lease that may end before the try does is given back: somebody else could be sending it by then.
      if (performance.now() - claimedMs > STALE_CLAIM_MS) throw new Error('The database took too long to answer.')
      this.#failedClaim = null
      for (const claim of claims) void this.#deliver(claim, contents.get(claim.postback_id))
    } catch (error) {
      this.#slots.release(claims.length)
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

  /** Nothing of it was sent; left alone, it would fill its lanes until its lease ends. */
  async #returnFailed(): Promise<void> {
    if (this.#failedClaim !== null) await returnClaim(this.#options.db, this.#failedClaim)
    this.#failedClaim = null
  }

  /** To be called every few seconds: what takes long is still ours. */
  async renewLeases(): Promise<void> {
    const sinceMs = performance.now() - RENEWED_AFTER_MS
    const slow = [...this.#held].filter(([, startedMs]) => startedMs < sinceMs).map(([claimed]) => claimed)
    await renewLeases(this.#options.db, slow)
  }

  async #deliver(claimed: Claimed, content: EventContent | undefined): Promise<void> {
    const startedAt = this.#now()
    this.#held.set(claimed, performance.now())
    try {
      const finished = await this.#attempt(claimed, content, startedAt)
      await this.#finisher.add(finished)
    } catch (error) {
      this.#options.warn(
        `what came of postback ${claimed.postback_id} could not be written (${String(error)}); it will be sent again`,
      )
    } finally {
      this.#held.delete(claimed)
      this.#slots.release(1)
      if (this.#mayBeMore && !this.#isClosed) void this.run().catch(() => {}) // the loop that calls it tells of failures
    }
  }

  async #attempt(claimed: Claimed, content: EventContent | undefined, startedAt: Date): Promise<Finished> {
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
    const later = isTried ? waitBeforeTry(claimed.tries, Math.random()) : null
    const base = { ...plain, settingsVersion: saved?.version ?? null }
    const unsent = (error: string, waitMs = later): Finished => ({ ...base, ok: false, waitMs, error })
    if (content === undefined) return unsent('The event of this postback was not found.')
    if (settings === null) return unsent('The app no longer has a postback URL.')
    if (settings === 'unreadable') return unsent('The headers of this app cannot be read: set the postback URL again.')
    if (isTried && !claimed.is_replay && !settings.events.some((event) => event === claimed.status))
      return unsent(UNWANTED, null)
    const signedWith = claimed.scenario === 'wrong_signature' ? [WRONG_SECRET] : (secrets.get(claimed.is_test) ?? [])
    if (signedWith.length === 0) return unsent('The signing secret of this app cannot be read: rotate it.')
    const request = tryBuild(content, settings, signedWith, startedAt)
    if (request === null) return unsent('The postback URL is not a valid template: save it again.')
    const refusal = tooLong(request)
    if (refusal !== null) return unsent(refusal)
    const result = await this.#options.sender.send(request, claimed.app_id)
    const ok = result.phase === null && isReceived(settings, result.status, result.bodyStart)
    const isOurs = result.error !== null && isOwnFault(result.error.code)
    if (isOurs) this.#warnOfOwnFault(result.error?.message ?? '')
    return {
      ...base,
      durationMs: result.durationMs,
      ok,
      waitMs: ok || !isTried ? null : this.#waitAfter(claimed, result),
      phase: result.phase,
      status: result.status,
      error: ok ? null : (result.error?.message ?? refusalOf(settings, result)),
      remoteAddress: result.remoteAddress,
      request: describeRequest(request, settings) + (result.isRepeated ? SENT_TWICE : ''),
      response: result.responseHead,
      isOwnFault: isOurs,
    }
  }

  /** Nobody but the operator can mend it, and every postback fails of it: told once a minute. */
  #warnOfOwnFault(problem: string): void {
    if (performance.now() - this.#warnedAtMs < WARN_MS) return
    this.#warnedAtMs = performance.now()
    this.#options.warn(`postbacks cannot be sent from here: ${problem}`)
  }

  /** 410 says that the address is gone: the lane is paused, and whoever mends it need not wait for what it asked for. */
  #waitAfter({ tries }: Claimed, { status, retryAfter }: SendResult): number | null {
    return waitBeforeTry(tries, Math.random(), status === 410 ? null : readRetryAfter(retryAfter, this.#now()))
  }

  /** Results are kept while the database is unavailable; whoever takes over the work meanwhile sends it again. */
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

  /** Lanes that are locked hear of it later, at the latest with the next look. */
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

  /** Claims nothing more, and resolves when what is under way is finished. */
  async close(): Promise<void> {
    this.#isClosed = true
    const drained = this.#slots.close()
    await this.#running?.catch(() => {})
    await drained
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

const SENT_TWICE =
  '\n\n(Sent twice: the kept-alive connection was closed before a response came, so the request was resent on a new one.)'

/** For the test send that a receiver must refuse. */
const WRONG_SECRET = `whsec_${Buffer.from('not the secret of any app at all').toString('base64')}`

function refusalOf({ success }: PostbackSettings, { status }: SendResult): string {
  if (status !== null && status >= 200 && status < 300 && success === 'body')
    return 'The answer does not begin with 1, OK or DUP.'
  if (status !== null && status >= 300 && status < 400)
    return `The answer is a redirect (${status}), which is not followed.`
  return `The answer is ${status}, not 2xx.`
}
