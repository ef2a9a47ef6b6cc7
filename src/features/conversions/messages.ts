// The contents of postbacks: events with the macros that postback URLs use.
import type { Db } from '../../db/open.ts'
import { microsToUsd, multiplierOf, toLocal } from '../../lib/money.ts'
import type { EventContent } from '../postbacks/message.ts'
import { type NamedEvent, presentEvent, readEventsOf } from './events.ts'

type Wanted = { postback_id: string; conversion_id: string; sequence: number }

/** By postback ID. */
export async function readMessages(db: Db, wanted: readonly Wanted[]): Promise<Map<string, EventContent>> {
  if (wanted.length === 0) return new Map()
  const events = await readEventsOf(db, wanted)
  return new Map(
    events.map((event) => {
      const { click_id: clickId } = event.conversion
      return [event.event_id, { body: presentEvent(event), macros: macrosOf(event), clickId }]
    }),
  )
}

export function macrosOf({
  event_id,
  created_at,
  request_id,
  conversion,
  sign,
  offerName,
  goalName,
}: NamedEvent): EventContent['macros'] {
  const payoutLocal = sign * toLocal(conversion.payout_micros, conversion.rate_micros, conversion.rounding)
  return {
    user_id: conversion.user_id,
    transaction_id: event_id,
    conversion_id: conversion.conversion_id,
    event_id,
    sequence: conversion.sequence,
    offer_id: conversion.offer_id,
    offer_name: offerName,
    goal_id: conversion.goal_id,
    goal_name: goalName,
    payout: sign * microsToUsd(conversion.payout_micros),
    reward: payoutLocal,
    payout_local: payoutLocal,
    currency: conversion.currency,
    multiplier: multiplierOf(conversion.multiplier_ppm),
    locker_id: conversion.locker_id,
    ip: conversion.ip,
    country: conversion.country,
    device: conversion.device,
    status: conversion.status,
    status_reason: conversion.status_reason,
    aff_sub: conversion.aff_sub,
    aff_sub2: conversion.aff_sub2,
    aff_sub3: conversion.aff_sub3,
    aff_sub4: conversion.aff_sub4,
    timestamp: Math.floor(created_at.getTime() / 1000),
    is_test: conversion.is_test,
    request_id,
  }
}
