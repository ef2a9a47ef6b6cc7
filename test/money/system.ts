// The same actions, done by the program: real rows in a real database, with apps, advertisers and offers of their own.
import assert from 'node:assert/strict'
import type pg from 'pg'
import type { Database } from '../../src/db/open.ts'
import { banUser, liftBan, listBans } from '../../src/features/apps/bans.ts'
import { permit } from '../../src/features/apps/permissions.ts'
import { type Click, recordClicks } from '../../src/features/clicks/clicks.ts'
import type { Command, Confirmation, Outcome } from '../../src/features/conversions/commands.ts'
import { findHeldUntil, findUnconfirmed } from '../../src/features/conversions/conversions.ts'
import { setFraudRule } from '../../src/features/conversions/fraud.ts'
import { confirmCall } from '../../src/features/conversions/inbound/confirm.ts'
import { readCall } from '../../src/features/conversions/inbound/parameters.ts'
import { applyCommands } from '../../src/features/conversions/apply-commands.ts'
import { setCaps } from '../../src/features/offers/edit-offers.ts'
import { setOfferStatus } from '../../src/features/offers/offers.ts'
import { uuid7 } from '../../src/lib/uuid7.ts'
import { DROPPED_AFTER_MS } from './apply.ts'
import { type SystemApp, type Imported, importOffers, createAdvertisers, createApps } from './catalogue.ts'
import { dieAt, type Dying } from '../crash.ts'
import { type ClickAction, clickOf } from './click-rows.ts'
import type { Entry } from './entries.ts'
import { erasePerson } from './erase-person.ts'
import { LateClicks } from './late.ts'
import { type Answer, type Action, type OfferTerms, PEOPLE, type SettledAction, type Start, TRUSTED } from './actions.ts' // prettier-ignore
import { TESTER } from '../tester.ts'

const NOBODYS_CLICK = '01900000-0000-7000-8000-000000000000'
const NO_CONVERSION = '01900000-0000-7000-8000-000000000001'
const NO_GOAL = 999_999_999
const ENOUGH = 10_000
const DIALECT = { aliases: {}, statusMap: {}, decimalMark: 'detect', negativeAmount: 'refuse', reversalPrefix: '', callRules: {} } as const // prettier-ignore

type Round = { released: string[]; expired: string[] }
export type Done = { action: Action; outcome: Outcome | 'recorded' | 'full' | 'done' | 'invalid' | Round }

let runs = 0

export class System {
  database: Database
  /** For `readState`. */
  readonly reader: pg.PoolClient
  readonly run = `run ${runs++}`
  advertiserId = 0
  strangerId = 0
  apps: SystemApp[] = []
  readonly offerIds: number[] = []
  /** What a click that begins now is promised, by offer. */
  termsIds: number[] = []
  hasExternalIds = false
  /** After the last step. */
  entries: Entry[] = []
  /** By offer and key. */
  readonly goalIds = new Map<string, number>()
  #importing: Promise<void> = Promise.resolve()
  readonly clickIds = new Map<number, string>()
  readonly conversionIds = new Map<number, string>()
  readonly labels = new Map<string, number>()
  readonly #late = new LateClicks()
  /** Of people who were erased. */
  readonly pseudonyms = new Map<number, string>()

  constructor(database: Database, reader: pg.PoolClient) {
    this.database = database
    this.reader = reader
  }

  get db() {
    return this.database.db
  }

  async open(offers: OfferTerms[], start: Start, now: Date): Promise<void> {
    this.hasExternalIds = start.hasExternalIds
    const { db, run } = this
    await db.deleteFrom('open_calls').execute() // of the runs before it
    const [apps, advertisers] = await Promise.all([createApps(db, run), createAdvertisers(db, run)])
    this.apps = apps
    ;[this.advertiserId, this.strangerId] = advertisers
    await this.#import([...offers.entries()].map(([offer, terms]) => ({ offer, terms })), now) // prettier-ignore
    if (start.tooFastS > 0)
      for (const offerId of this.offerIds)
        await setFraudRule(db, TESTER, {
          offerId,
          signal: 'too_fast',
          threshold: start.tooFastS,
          action: start.onTooFast,
        })
    if (!start.trusts) return
    await db
      .insertInto('trusted_offers')
      .values({ app_id: this.appId(TRUSTED.app), offer_id: this.offerId(TRUSTED.offer) })
      .execute()
  }

  async #import(imported: Imported[], now: Date): Promise<void> {
    const { db, run, hasExternalIds } = this
    for (const { offer, offerId, key, goalId } of await importOffers(db, imported, { run, hasExternalIds, now })) {
      const name = `${offer} ${key}`
      assert.equal(goalId, this.goalIds.get(name) ?? goalId, `${key} has become another goal.`)
      this.goalIds.set(name, goalId)
      this.offerIds[offer] = offerId
    }
  }

  /** What an import under way creates has no ID yet: a publisher could not name it. */
  #namesUnknownGoal(one: Action): boolean {
    const offer = one.kind === 'report' ? one.offer : one.kind === 'confirm' ? one.ofOffer : null
    return offer !== null && 'goal' in one && one.goal !== null && !this.goalIds.has(`${offer} ${one.goal}`)
  }

  appId = (app: number) => this.apps[app]?.appId ?? 0
  offerId = (offer: number) => this.offerIds[offer] ?? 0
  userId = (person: number) => this.pseudonyms.get(person) ?? PEOPLE[person]?.user ?? ''
  goalKey(goalId: number): string {
    const name = [...this.goalIds].find(([, id]) => id === goalId)?.[0] ?? ' '
    return name.slice(name.indexOf(' ') + 1)
  }

  /** As a process that dies before anything is committed. What it does without a transaction can be done twice. */
  async dieDoing(tracks: Action[][], statement: number, now: Date): Promise<void> {
    const { database } = this
    const perform = async (dying: Dying) => {
      this.database = { ...database, ...dying }
      const results = await Promise.allSettled(tracks.map((actions) => this.perform(actions, now)))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    }
    await dieAt(database, statement, perform, { commits: 0 }).finally(() => (this.database = database))
  }

  /** One track. */
  async perform(actions: Action[], now: Date): Promise<Done[]> {
    const [action] = actions
    if (action === undefined) return []
    if (actions.some((one) => this.#namesUnknownGoal(one)))
      await Promise.resolve().then(() => this.#importing.catch(() => {}))
    if (action.kind === 'click') return this.#click(actions as ClickAction[], now)
    if (action.kind === 'round') return [{ action, outcome: await this.#round(now) }]
    if (action.kind === 'confirm' && actions.length === 1) return [{ action, outcome: await this.#call(action, now) }]
    if (action.kind === 'arrive') await this.#late.arrive(this.db, now, action.isLookedFor)
    else if (action.kind === 'drop') await this.#dropClicks(now)
    else if (action.kind === 'ban') await this.#ban(action.person, action.isBanned)
    else if (action.kind === 'erase') await erasePerson(this, action.person, now)
    else if (action.kind === 'caps')
      await setCaps(this.db, TESTER, this.offerId(action.offer), { ...action.caps, overCap: action.overCap }, now)
    else if (action.kind === 'status') await setOfferStatus(this.db, TESTER, this.offerId(action.offer), action.status)
    else if (action.kind === 'import') await (this.#importing = this.#import([action], now))
    else if (action.kind === 'share')
      await permit(this.db, TESTER, this.apps[action.app]?.publisherId ?? 0, { sharePpm: action.sharePpm })
    else {
      const commands = actions.map((one) => this.#command(one as SettledAction, now))
      const outcomes = await applyCommands(this.db, commands.filter((one) => one !== 'invalid'), now) // prettier-ignore
      return actions.map((one, i) => ({ action: one, outcome: commands[i] === 'invalid' ? 'invalid' : outcomes.shift() as Outcome })) // prettier-ignore
    }
    return [{ action, outcome: 'done' }]
  }

  /** Learns which action created which conversion. Call it when everything that ran at once has ended. */
  learn(done: Done[]): void {
    for (const { action, outcome } of done) {
      if (typeof outcome === 'string' || 'released' in outcome || outcome.kind !== 'created') continue
      this.conversionIds.set(action.label, outcome.conversion?.conversionId ?? '')
      this.labels.set(outcome.conversion?.conversionId ?? '', action.label)
    }
    for (const { label, conversionId } of this.#late.takeMade()) {
      if (this.labels.has(conversionId)) continue
      this.conversionIds.set(label, conversionId)
      this.labels.set(conversionId, label)
    }
  }

  /** An outcome in the words of the book. */
  answer({ outcome }: Done): Answer {
    if (typeof outcome === 'string') return { kind: outcome }
    const labelsOf = (ids: string[]) => ids.map((id) => this.labels.get(id) ?? -1).toSorted((a, b) => a - b)
    if ('released' in outcome)
      return { kind: 'round', released: labelsOf(outcome.released), expired: labelsOf(outcome.expired) }
    const { kind, conversion } = outcome
    if (conversion === null) return { kind }
    return {
      kind,
      label: this.labels.get(conversion.conversionId) ?? -1,
      status: conversion.status,
      reason: conversion.statusReason,
      payoutMicros: conversion.payoutMicros,
    }
  }

  async #click(actions: ClickAction[], now: Date): Promise<Done[]> {
    for (const action of actions) if (action.isLate) this.#late.keep(this.#createClick(action, now))
    const stored = actions.filter((action) => !action.isLate)
    const clicks = stored.map((action) => this.#createClick(action, now))
    const outcomes = clicks.length === 0 ? [] : await recordClicks(this.database, clicks, now)
    return actions.map((action) => {
      const outcome = action.isLate ? 'recorded' : (outcomes[stored.indexOf(action)] ?? 'full')
      if (outcome === 'recorded') this.clickIds.set(action.label, action.clickId)
      return { action, outcome }
    })
  }

  #createClick(action: ClickAction, now: Date): Click {
    const appId = this.appId(PEOPLE[action.person]?.app ?? 0)
    return clickOf(action, { appId, offerId: this.offerId(action.offer) }, now)
  }

  /** What the worker does on its own. Nothing of other runs, which share the database, is touched. */
  async #round(now: Date): Promise<Round> {
    const run = async (ids: string[], kind: 'release' | 'expire') => {
      const due = ids.filter((id) => this.labels.has(id))
      const outcomes = due.length === 0 ? [] : await applyCommands(this.db, due.map((conversionId) => ({ kind, conversionId })), now) // prettier-ignore
      return outcomes.flatMap((outcome) => (outcome.kind === 'moved' ? [outcome.conversion.conversionId] : []))
    }
    const released = await run(await findHeldUntil(this.db, now, ENOUGH), 'release')
    return { released, expired: await run(await findUnconfirmed(this.db, now, ENOUGH), 'expire') }
  }

  /** As retention does it to whole partitions. */
  async #dropClicks(now: Date): Promise<void> {
    const before = new Date(now.getTime() - DROPPED_AFTER_MS)
    await this.db
      .deleteFrom('clicks')
      .where('offer_id', 'in', this.offerIds)
      .where('clicked_at', '<=', before)
      .execute()
  }

  async #ban(person: number, isBanned: boolean): Promise<void> {
    const { app, user: userId } = PEOPLE[person] ?? { app: 0, user: '' }
    const appId = this.appId(app)
    if (isBanned) await banUser(this.db, TESTER, { appId, userId, reason: 'a test' })
    else for (const { ban_id } of await listBans(this.db, { appId, userId }, 1)) await liftBan(this.db, TESTER, ban_id)
  }

  #command(action: SettledAction, now: Date): Command | 'invalid' {
    const conversionIdOf = (label: number | null) => (label === null ? NO_CONVERSION : (this.conversionIds.get(label) ?? NO_CONVERSION)) // prettier-ignore
    if (action.kind === 'move') return { kind: 'move', by: TESTER, conversionId: conversionIdOf(action.conversion), to: action.to, ...(action.isFraud && action.to !== 'approved' ? { reason: 'fraud' } : {}) } // prettier-ignore
    if (action.kind === 'release') return { kind: 'release', conversionId: conversionIdOf(action.conversion) }
    if (action.kind === 'report') {
      const { app, user } = PEOPLE[action.person] ?? { app: 0, user: '' }
      return {
        kind: 'report',
        appId: this.appId(app),
        isTest: action.isTest,
        userId: user,
        offerId: this.offerId(action.offer),
        goalId: action.goal === null ? null : (this.goalIds.get(`${action.offer} ${action.goal}`) ?? NO_GOAL),
        transactionId: action.txn,
        idempotencyKey: action.key,
      }
    }
    return this.#confirmation(action, now)
  }

  /** One call, with whatever waits before it. */
  async #call(action: Extract<Action, { kind: 'confirm' }>, now: Date): Promise<Outcome | 'invalid'> {
    const confirmation = this.#confirmation(action, now)
    if (confirmation === 'invalid') return 'invalid'
    const { db } = this
    const outcomes: Outcome[] = []
    const applyCommand = async (confirmation: Confirmation) => {
      outcomes.push(...(await applyCommands(db, [confirmation], now)))
      return outcomes.at(-1) as Outcome
    }
    const { call, advertiserId, isAgain } = confirmation
    await this.#late.forgetOld(db, now)
    await confirmCall(db, { ...call, advertiserId }, DIALECT, {
      applyCommand,
      countryOf: () => null,
      isAgain,
      now,
    })
    await this.#late.noteOutcome(db, call.clickId, outcomes.at(-1))
    return outcomes.at(-1) as Outcome
  }

  /** The call as it would come in, and what is read from it. */
  #confirmation(action: Extract<Action, { kind: 'confirm' }>, now: Date): Confirmation | 'invalid' {
    const namedId = (action.click === null ? null : this.clickIds.get(action.click)) ?? NOBODYS_CLICK
    const advertiserId = action.isStranger ? this.strangerId : this.advertiserId
    const goalId = this.goalIds.get(`${action.ofOffer} ${action.goal}`) ?? NO_GOAL
    const isById = action.by === 'id' || (action.by === 'external id' && !this.hasExternalIds)
    const called = isById ? String(goalId) : action.by === 'name' ? action.called?.toUpperCase() : action.goal
    const said = {
      click_id: action.isClickless ? null : namedId,
      goal: action.goal === null ? null : (called ?? 'None'),
      txn_id: action.txn,
      amount: action.amount,
      status: action.status,
    }
    const given = Object.entries(said).filter((pair): pair is [string, string] => pair[1] !== null)
    const query = new URLSearchParams(given).toString()
    const parameters = readCall({ query, body: '', isCut: false }, DIALECT)
    if ('problems' in parameters) return 'invalid'
    const { clickId } = parameters
    const inboundId = uuid7(now.getTime())
    this.#late.noteCall(inboundId, action.label)
    const call = { inboundId, receivedAt: now, advertiserId, method: 'GET', query, body: '', isCut: false, ip: null, clickId, attempts: 1, before: null } // prettier-ignore
    return { kind: 'confirmation', ...parameters, advertiserId, isAgain: action.isAgain, call }
  }
}
