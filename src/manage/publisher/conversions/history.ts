// The parts of a conversion's history, as they are shown. Fraud signals are for operators only.
import type { Static } from 'typebox'
import type { Db } from '../../../db/open.ts'
import { findClick } from '../../../features/clicks/clicks.ts'
import type { ConversionRow } from '../../../features/conversions/conversions.ts'
import { readMoves, readPublisherEntries } from '../../../features/conversions/history.ts'
import { listPostbacks, presentPostback, readAttempts } from '../../../features/postbacks/postbacks.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ConversionHistory } from './schema.ts'

const MAX_POSTBACKS = 20 // one for each event, of which a conversion has a few

type History = Static<typeof ConversionHistory>

export async function readClick(
  db: Db,
  conversion: ConversionRow,
): Promise<{ click: History['click']; clickSignals: string[] }> {
  const { click_id, click_at, country, device, aff_sub, aff_sub2, aff_sub3, aff_sub4 } = conversion
  if (click_id === null || click_at === null) return { click: null, clickSignals: [] }
  const kept = await findClick(db, click_id, conversion.app_id)
  if (kept === null) {
    const subIds = { aff_sub, aff_sub2, aff_sub3, aff_sub4 }
    const click = { click_id, clicked_at: click_at, request_id: null, country, device, os: null, ...subIds }
    return { click, clickSignals: [] }
  }
  const { signals, ...click } = kept
  return { click, clickSignals: signals ?? [] }
}

export async function readEvents(db: Db, { conversion_id }: ConversionRow): Promise<History['events']> {
  const moves = await readMoves(db, conversion_id)
  return moves.map(({ payout_micros, ...move }) => ({ ...move, payout: microsToUsd(payout_micros) }))
}

export async function readPostbacks(db: Db, conversion: ConversionRow): Promise<History['postbacks']> {
  const { app_id, conversion_id } = conversion
  const newestFirst = await listPostbacks(db, { appId: app_id, conversionId: conversion_id }, MAX_POSTBACKS)
  return Promise.all(
    newestFirst.toReversed().map(async (postback) => {
      const attempts = await readAttempts(db, postback.postback_id)
      const tries = attempts.map(({ attempt, started_at, duration_ms, ok, status, error }) => ({
        attempt,
        started_at,
        duration_ms,
        ok,
        status,
        error,
      }))
      return { ...presentPostback(postback), status: conversionStatus(postback.status), tries }
    }),
  )
}

const conversionStatus = (status: string) => status as History['postbacks'][number]['status']

export async function readLedger(db: Db, conversion: ConversionRow): Promise<History['ledger']> {
  const entries = await readPublisherEntries(db, conversion)
  return entries.map(({ createdAt, balance, amountMicros }) => ({
    created_at: createdAt,
    balance,
    amount: Math.sign(amountMicros) * microsToUsd(Math.abs(amountMicros)),
  }))
}

export function presentForOperator(conversion: ConversionRow, clickSignals: string[]): History['operator'] {
  return {
    signals: conversion.signals,
    click_signals: clickSignals,
    ip: conversion.ip,
    revenue: microsToUsd(conversion.revenue_micros),
    advertiser_transaction_id: conversion.advertiser_transaction_id,
  }
}
