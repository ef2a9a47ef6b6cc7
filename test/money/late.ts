// Clicks that lead their users on while they cannot be stored, and the calls that come before them.
import { sql } from 'kysely'
import type { Db } from '../../src/db/open.ts'
import { type Click, recordLateClicks } from '../../src/features/clicks/clicks.ts'
import type { Outcome } from '../../src/features/conversions/commands.ts'
import { retryUnmatched } from '../../src/features/conversions/inbound/confirm.ts'
import { uuid7Floor } from '../../src/lib/uuid7.ts'
import { WAITS_MS } from './confirming.ts'

type Made = { label: number; conversionId: string }

export class LateClicks {
  /** As the spool has them. */
  readonly #clicks = new Map<string, Click>()
  /** Those that came out of it, and those that calls have waited for. */
  readonly #stored = new Set<string>()
  readonly #waitedFor = new Set<string>()
  /** The action of each call. */
  readonly #calls = new Map<string, number>()
  #made: Made[] = []

  keep(click: Click): void {
    this.#clicks.set(click.click_id, click)
  }

  noteCall(inboundId: string, label: number): void {
    this.#calls.set(inboundId, label)
  }

  /** One click after the other comes out of the spool; then the worker retries the calls that wait, if it looks. */
  async arrive(db: Db, now: Date, isLookedFor: boolean): Promise<void> {
    for (const click of this.#clicks.values()) {
      await recordLateClicks(db, [click], now)
      this.#clicks.delete(click.click_id)
      this.#stored.add(click.click_id)
    }
    if (isLookedFor) for (const clickId of this.#stored) await this.#retry(db, clickId, now)
  }

  /** As if the worker had looked all the while: calls that old are not retried. */
  async forgetOld(db: Db, now: Date): Promise<void> {
    if (this.#waitedFor.size === 0) return
    const oldest = uuid7Floor(now.getTime() - WAITS_MS)
    await sql`UPDATE open_calls SET next_attempt_at = NULL WHERE inbound_id < ${oldest}`.execute(db)
  }

  async noteOutcome(db: Db, clickId: string | null, outcome: Outcome | undefined): Promise<void> {
    if (clickId === null) return
    if (outcome?.kind === 'unmatched') this.#waitedFor.add(clickId)
    else if (this.#waitedFor.has(clickId)) await this.#collect(db, clickId)
  }

  /** Which calls came to which conversions by then, in the order of the calls. */
  takeMade(): Made[] {
    const made = this.#made
    this.#made = []
    return made
  }

  async #retry(db: Db, clickId: string, now: Date): Promise<void> {
    if (!this.#waitedFor.has(clickId)) return
    await this.forgetOld(db, now)
    // These are due now, and those of other clicks later.
    await sql`UPDATE open_calls SET next_attempt_at = CASE WHEN click_id = ${clickId} THEN ${now}::timestamptz
        ELSE ${now}::timestamptz + interval '1 hour' END
      WHERE next_attempt_at IS NOT NULL`.execute(db)
    await retryUnmatched(db, now, () => null)
    await this.#collect(db, clickId)
  }

  async #collect(db: Db, clickId: string): Promise<void> {
    const calls = await db
      .selectFrom('inbound_calls')
      .select(['inbound_id', 'conversion_id'])
      .where('click_id', '=', clickId)
      .where('conversion_id', 'is not', null)
      .orderBy('inbound_id')
      .execute()
    for (const { inbound_id, conversion_id } of calls)
      this.#made.push({ label: this.#calls.get(inbound_id) ?? -1, conversionId: conversion_id ?? '' })
  }
}
