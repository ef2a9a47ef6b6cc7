// The same deeds, done by the program: real rows in a real database, with apps, advertisers and offers of their own.
import assert from 'node:assert/strict'
import { createAdvertiser } from '../../src/features/accounts/advertisers.ts'
import { type Click, recordClicks } from '../../src/features/clicks/clicks.ts'
import type { Command, Outcome } from '../../src/features/conversions/commands.ts'
import { findHeldUntil, findUnconfirmed } from '../../src/features/conversions/conversions.ts'
import { setFraudRule } from '../../src/features/conversions/fraud.ts'
import { settle } from '../../src/features/conversions/settle.ts'
import { setCaps } from '../../src/features/offers/cap-counts.ts'
import { readImportRecord } from '../../src/features/offers/import-record.ts'
import { setOfferStatus } from '../../src/features/offers/offers.ts'
import { upsertOffers } from '../../src/features/offers/upsert.ts'
import { uuid7 } from '../../src/lib/uuid7.ts'
import { SECRET_KEY, type World } from '../world.ts'
import { DROPPED_AFTER_MS } from './apply.ts'
import { type Answer, type Deed, type OfferTerms, PEOPLE, type SettledDeed, type Start, TRUSTED } from './deeds.ts'

const NOBODYS_CLICK = '01900000-0000-7000-8000-000000000000'
const NO_CONVERSION = '01900000-0000-7000-8000-000000000001'
const NO_GOAL = 999_999_999
const ENOUGH = 10_000

type Round = { released: string[]; expired: string[] }
export type Done = { deed: Deed; outcome: Outcome | 'recorded' | 'full' | 'done' | Round }

type ClickDeed = Extract<Deed, { kind: 'click' }>

let runs = 0

export class Desk {
  readonly world: World
  readonly name = `Advertiser of run ${runs++}`
  advertiserId = 0
  strangerId = 0
  apps: { appId: number; publisherId: number }[] = []
  offerIds: number[] = []
  hasExternalIds = false
  /** By offer and key. */
  readonly goalIds = new Map<string, number>()
  readonly clickIds = new Map<number, string>()
  readonly conversionIds = new Map<number, string>()
  readonly labels = new Map<string, number>()

  constructor(world: World) {
    this.world = world
  }

  get db() {
    return this.world.database.db
  }

  async open(
    offers: OfferTerms[],
    start: Pick<Start, 'trusts' | 'hasExternalIds' | 'tooFastS'>,
    now: Date,
  ): Promise<void> {
    this.hasExternalIds = start.hasExternalIds
    this.advertiserId = (await createAdvertiser(this.db, SECRET_KEY, this.name)).advertiser_id
    this.strangerId = (await createAdvertiser(this.db, SECRET_KEY, `Not the ${this.name}`)).advertiser_id
    for (const _ of new Set(PEOPLE.map(({ app }) => app))) {
      const { appId } = await this.world.makeApp()
      const row = await this.db.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirstOrThrow() // prettier-ignore
      this.apps.push({ appId, publisherId: row.publisher_id })
    }
    for (const [i, terms] of offers.entries()) await this.#import(i, terms, now)
    if (start.tooFastS > 0)
      for (const offerId of this.offerIds)
        await setFraudRule(this.db, { offerId, signal: 'too_fast', threshold: start.tooFastS, action: 'reject' })
    if (!start.trusts) return
    await this.db
      .insertInto('trusted_offers')
      .values({ app_id: this.appId(TRUSTED.app), offer_id: this.offerId(TRUSTED.offer) })
      .execute()
  }

  appId = (app: number) => this.apps[app]?.appId ?? 0
  offerId = (offer: number) => this.offerIds[offer] ?? 0

  /** What a click that begins now is promised. */
  async termsIds(): Promise<number[]> {
    const rows = await this.db
      .selectFrom('offers')
      .select('terms_id')
      .where('offer_id', 'in', this.offerIds)
      .orderBy('offer_id')
      .execute()
    return rows.map((row) => row.terms_id ?? 0)
  }

  /** One lane. */
  async perform(deeds: Deed[], now: Date): Promise<Done[]> {
    const [deed] = deeds
    if (deed === undefined) return []
    if (deed.kind === 'click') return this.#click(deeds as ClickDeed[], now)
    if (deed.kind === 'round') return [{ deed, outcome: await this.#round(now) }]
    if (deed.kind === 'drop') await this.#dropClicks(now)
    else if (deed.kind === 'ban') await this.#ban(deed.person, deed.isBanned)
    else if (deed.kind === 'caps')
      await setCaps(this.db, this.offerId(deed.offer), { ...deed.caps, overCap: deed.overCap }, now)
    else if (deed.kind === 'status') await setOfferStatus(this.db, this.offerId(deed.offer), deed.status)
    else if (deed.kind === 'import') await this.#import(deed.offer, deed.terms, now)
    else {
      const commands = deeds.map((one) => this.#command(one as SettledDeed, now))
      const outcomes = await settle(this.db, commands, now)
      return deeds.map((one, i) => ({ deed: one, outcome: outcomes[i] as Outcome }))
    }
    return [{ deed, outcome: 'done' }]
  }

  /** Learns which deed made which conversion. To be called when everything that ran at once has ended. */
  learn(done: Done[]): void {
    for (const { deed, outcome } of done) {
      if (typeof outcome === 'string' || 'released' in outcome || outcome.kind !== 'created') continue
      this.conversionIds.set(deed.label, outcome.conversion?.conversion_id ?? '')
      this.labels.set(outcome.conversion?.conversion_id ?? '', deed.label)
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
      label: this.labels.get(conversion.conversion_id) ?? -1,
      status: conversion.status,
      reason: conversion.status_reason,
      payoutMicros: conversion.payout_micros,
    }
  }

  async #click(deeds: ClickDeed[], now: Date): Promise<Done[]> {
    const clicks = deeds.map((deed) => this.#makeClick(deed, now))
    const outcomes = await recordClicks(this.world.database, clicks, now)
    return deeds.map((deed, i) => {
      if (outcomes[i] === 'recorded') this.clickIds.set(deed.label, deed.clickId)
      return { deed, outcome: outcomes[i] ?? 'full' }
    })
  }

  #makeClick(deed: ClickDeed, now: Date): Click {
    const { app, user } = PEOPLE[deed.person] ?? { app: 0, user: '' }
    return {
      click_id: deed.clickId,
      clicked_at: now.toISOString(),
      app_id: this.appId(app),
      is_test: deed.isTest,
      user_id: user,
      offer_id: this.offerId(deed.offer),
      terms_id: deed.termsId,
      currency: 'Coins',
      rate_micros: 100_000_000,
      share_ppm: null,
      request_id: 'req_1',
      aff_sub: null,
      aff_sub2: null,
      aff_sub3: null,
      aff_sub4: null,
      ip: null,
      country: null,
      device: null,
      os: null,
      signals: null,
    }
  }

  /** What the worker does by itself. Of other runs, which share the database, nothing is touched. */
  async #round(now: Date): Promise<Round> {
    const run = async (ids: string[], kind: 'release' | 'expire') => {
      const due = ids.filter((id) => this.labels.has(id))
      const outcomes = due.length === 0 ? [] : await settle(this.db, due.map((conversionId) => ({ kind, conversionId })), now) // prettier-ignore
      return outcomes.flatMap((outcome) => (outcome.kind === 'moved' ? [outcome.conversion.conversion_id] : []))
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
    const { app, user } = PEOPLE[person] ?? { app: 0, user: '' }
    const [app_id, user_id] = [this.appId(app), user]
    await this.db.deleteFrom('banned_users').where('app_id', '=', app_id).where('user_id', '=', user_id).execute()
    if (isBanned) await this.db.insertInto('banned_users').values({ app_id, user_id, reason: 'a test' }).execute()
  }

  #command(deed: SettledDeed, now: Date): Command {
    const conversionIdOf = (label: number | null) => (label === null ? NO_CONVERSION : (this.conversionIds.get(label) ?? NO_CONVERSION)) // prettier-ignore
    if (deed.kind === 'move') return { kind: 'move', conversionId: conversionIdOf(deed.conversion), to: deed.to, ...(deed.isFraud && deed.to !== 'approved' ? { reason: 'fraud' } : {}) } // prettier-ignore
    if (deed.kind === 'release') return { kind: 'release', conversionId: conversionIdOf(deed.conversion) }
    if (deed.kind === 'report') {
      const { app, user } = PEOPLE[deed.person] ?? { app: 0, user: '' }
      return {
        kind: 'report',
        appId: this.appId(app),
        isTest: deed.isTest,
        userId: user,
        offerId: this.offerId(deed.offer),
        goalId: deed.goal === null ? null : (this.goalIds.get(`${deed.offer} ${deed.goal}`) ?? NO_GOAL),
        transactionId: deed.txn,
        idempotencyKey: deed.key,
      }
    }
    const namedId = (deed.click === null ? null : this.clickIds.get(deed.click)) ?? NOBODYS_CLICK
    const clickId = deed.isClickless ? null : namedId
    const advertiserId = deed.isStranger ? this.strangerId : this.advertiserId
    const goalId = [...this.goalIds].find(([name]) => name.endsWith(` ${deed.goal}`))?.[1] ?? NO_GOAL
    const isById = deed.by === 'id' || (deed.by === 'external id' && !this.hasExternalIds)
    const called = isById ? String(goalId) : deed.by === 'name' ? deed.called?.toUpperCase() : deed.goal
    const call = { inboundId: uuid7(now.getTime()), receivedAt: now, advertiserId, method: 'GET', query: '', body: '', isCut: false, ip: null, clickId, attempts: 1, before: null } // prettier-ignore
    return {
      kind: 'confirmation',
      advertiserId,
      clickId,
      goal: deed.goal === null ? null : (called ?? 'None'),
      transactionId: deed.txn,
      amountMicros: deed.amountMicros,
      status: deed.status,
      country: null,
      isAgain: deed.isAgain,
      call,
    }
  }

  async #import(offer: number, terms: OfferTerms, now: Date): Promise<void> {
    const dollars = (micros: number | null) => (micros === null ? null : micros / 1_000_000)
    const { caps } = terms
    const read = readImportRecord({
      advertiser: this.name,
      external_id: `offer-${offer}`,
      name: 'An offer',
      category: 'app',
      destination_url: 'https://ads.example.com/?c={click_id}',
      goals: terms.goals.map((goal) => ({
        ...(this.hasExternalIds ? { external_id: goal.key } : {}),
        name: goal.name,
        payout: dollars(goal.payoutMicros),
        revenue: dollars(goal.revenueMicros),
        is_repeatable: goal.isRepeatable,
        payout_percent: goal.payoutPpm === null ? null : goal.payoutPpm / 10_000,
        revenue_percent: goal.revenuePpm === null ? null : goal.revenuePpm / 10_000,
      })),
      status: terms.status,
      attribution_window: `${terms.attributionS}s`,
      hold: `${terms.holdS}s`,
      confirm_within: `${terms.confirmWithinS}s`,
      redo_after_reversal: terms.redo,
      over_cap: terms.overCap,
      daily_click_cap: caps.dailyClicks,
      total_click_cap: caps.totalClicks,
      daily_conversion_cap: caps.dailyConversions,
      total_conversion_cap: caps.totalConversions,
      daily_payout_cap: dollars(caps.dailyPayoutMicros),
      total_payout_cap: dollars(caps.totalPayoutMicros),
    })
    if ('problems' in read) throw new Error(read.problems.join('; '))
    const { problems } = await upsertOffers(this.db, [{ line: 1, offer: read.offer }], now)
    if (problems.length > 0) throw new Error(JSON.stringify(problems))
    await this.#learnGoals(offer, terms)
  }
  /** Whatever it is called by now, a goal keeps its id. */
  async #learnGoals(offer: number, terms: OfferTerms): Promise<void> {
    const goals = await this.db
      .selectFrom('goals')
      .innerJoin('offers', 'offers.offer_id', 'goals.offer_id')
      .select(['goals.offer_id', 'goals.goal_id', 'goals.name'])
      .where('advertiser_id', '=', this.advertiserId)
      .where('offers.external_id', '=', `offer-${offer}`)
      .where('goals.is_retired', '=', false)
      .execute()
    this.offerIds[offer] = goals[0]?.offer_id ?? 0
    for (const { key, name } of terms.goals) {
      const id = goals.find((goal) => goal.name === name)?.goal_id ?? 0
      assert.equal(id, this.goalIds.get(`${offer} ${key}`) ?? id, `${key} is another goal since it is called ${name}.`)
      this.goalIds.set(`${offer} ${key}`, id)
    }
  }
}
