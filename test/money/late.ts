// Clicks that lead their users on while they cannot be stored, and the calls that come before them.
import { sql } from 'kysely'
import type { Db } from '../../src/db/open.ts'
import { type Click, recordLateClicks } from '../../src/features/clicks/clicks.ts'
import { retryUnmatched } from '../../src/features/conversions/inbound/confirm.ts'
import { uuid7Floor } from '../../src/lib/uuid7.ts'
import { WAITS_MS } from './apply.ts'

type Made = { label: number; conversionId: string }

export class LateClicks {
  /** As the spool has them. */
  readonly #clicks = new Map<string, Click>()
  /** The deed of each call. */
  readonly #calls = new Map<string, number>()
  #made: Made[] = []

  keep(click: Click): void {
    this.#clicks.set(click.click_id, click)
  }

  noteCall(inboundId: string, label: number): void {
    this.#calls.set(inboundId, label)
  }

  /** One click after the other comes out of the spool, and the worker tries the calls again that wait for it. */
  async arrive(db: Db, now: Date): Promise<void> {
    for (const click of this.#clicks.values()) {
      await recordLateClicks(db, [click], now)
      this.#clicks.delete(click.click_id)
      await this.#retry(db, click.click_id, now)
    }
  }

  /** Which calls came to which conversions by then, in the order of the calls. */
  takeMade(): Made[] {
    const made = this.#made
    this.#made = []
    return made
  }

  async #retry(db: Db, clickId: string, now: Date): Promise<void> {
    const oldest = uuid7Floor(now.getTime() - WAITS_MS)
    // As if the worker had looked all the while: these are due now, those others later, and the oldest no more.
    await sql`UPDATE open_calls SET next_attempt_at = CASE WHEN inbound_id < ${oldest} THEN NULL
        WHEN click_id = ${clickId} THEN ${now}::timestamptz ELSE ${now}::timestamptz + interval '1 hour' END
      WHERE next_attempt_at IS NOT NULL`.execute(db)
    await retryUnmatched(db, now, () => null)
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
