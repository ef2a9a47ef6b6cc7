// A postback as it would be sent, with an example for what happened: to look at before it is saved.
import type { Static } from 'typebox'
import type { PublicConversion } from '../../../features/conversions/conversions.ts'
import { type NamedEvent, presentEvent } from '../../../features/conversions/events.ts'
import { macrosOf } from '../../../features/conversions/messages.ts'
import type { AddressGuard } from '../../../features/postbacks/address-guard.ts'
import { translate } from '../../../features/postbacks/dialect.ts'
import { buildRequest, type EventContent, EXAMPLE_SECRETS, FORM } from '../../../features/postbacks/message.ts'
import { fillRecipe } from '../../../features/postbacks/recipe.ts'
import { checkSettings, lintOptions, type PostbackSettings } from '../../../features/postbacks/settings.ts'
import type { Status } from '../../../features/postbacks/statuses.ts'
import { fillQuery, lintTemplate, MACROS } from '../../../features/postbacks/template.ts'
import type { Preview } from './schema.ts'

const PAYOUT_MICROS = 1_250_000
const MINUTE_MS = 60_000

export type Currency = { name: string; rateMicros: number; rounding: string | null }

/** Never with a real secret: a person who sees the preview could send it. */
export function previewPostback(
  given: PostbackSettings,
  guard: AddressGuard,
  currency: Currency,
  status: Status,
  now: Date,
): Static<typeof Preview> {
  const settings = { ...given, receiverSecret: EXAMPLE_SECRETS.receiver }
  const { problems, warnings } = checkSettings(settings, guard)
  const errors = problems.map(({ message }) => message)
  const isTemplate = lintTemplate(settings.url, lintOptions(settings)).errors.length === 0
  if (!isTemplate || problems.some(({ field }) => field.startsWith('dialect.')))
    return { errors, warnings, request: null }
  const event = exampleOf(currency, status, settings.negativeReversals, now)
  const content = { body: presentEvent(event), macros: macrosOf(event) }
  return { errors, warnings, request: showRequest(content, settings, now) }
}

function showRequest(content: EventContent, settings: PostbackSettings, now: Date) {
  const { method, url, headers, body } = buildRequest(content, settings, [EXAMPLE_SECRETS.signing], now)
  const shown = Object.entries(headers).map(([name, value]) => ({ name, value, about: aboutHeader(name, settings) }))
  const isJson = body !== null && headers['content-type'] !== FORM
  const query = body === null || isJson ? new URL(url).search : body
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }))
  const pretty = isJson ? JSON.stringify(JSON.parse(body), null, 2) : body
  return { method, url, headers: shown, body: pretty, parameters, signed_text: signedText(content, settings) }
}

function signedText({ macros }: EventContent, { url, dialect }: PostbackSettings): string | null {
  if (dialect.signature === null) return null
  const values = translate(macros, dialect)
  return fillRecipe(dialect.signature.of, EXAMPLE_SECRETS.receiver, values, fillQuery(url, values))
}

function aboutHeader(name: string, { method, headers, dialect }: PostbackSettings): string | null {
  if (dialect.signature?.header?.toLowerCase() === name)
    return 'The signature of your dialect. This example uses a sample secret.'
  if (Object.keys(headers).some((own) => own.toLowerCase() === name)) return 'Custom header. Its value is never shown.'
  const content = method === 'POST' ? 'the body, byte for byte' : 'the full URL as sent'
  const about: Record<string, string> = {
    'webhook-id': 'Identifies the event, the same in every attempt. Process each one once.',
    'webhook-timestamp': 'When this attempt was sent, in Unix seconds. Refuse requests more than five minutes off.',
    'webhook-signature': `"v1," and the HMAC-SHA256, in base64, of id.timestamp.content, keyed with your signing secret. The content is ${content}. This example uses a sample secret.`,
  }
  return about[name] ?? null
}

const example = (name: keyof typeof MACROS) => MACROS[name].example

/** In the app's own currency, and of this moment. */
function exampleOf(currency: Currency, status: Status, isNegative: boolean, now: Date): NamedEvent {
  const at = (minutesAgo: number) => new Date(now.getTime() - minutesAgo * MINUTE_MS)
  const conversion: PublicConversion = {
    conversion_id: example('conversion_id'),
    event_id: example('event_id'),
    app_id: 1,
    offer_id: Number(example('offer_id')),
    goal_id: Number(example('goal_id')),
    user_id: example('user_id'),
    publisher_transaction_id: null,
    is_test: false,
    status,
    status_reason: status === 'reversed' ? 'advertiser_reversed' : status === 'rejected' ? 'advertiser_rejected' : null,
    source: 'advertiser',
    actor: 'advertiser',
    sequence: status === 'reversed' ? 2 : 1,
    payout_micros: PAYOUT_MICROS,
    revenue_micros: PAYOUT_MICROS,
    currency: currency.name,
    rate_micros: currency.rateMicros,
    rounding: currency.rounding,
    multiplier_ppm: null,
    locker_id: null,
    aff_sub: example('aff_sub'),
    aff_sub2: example('aff_sub2'),
    aff_sub3: example('aff_sub3'),
    aff_sub4: example('aff_sub4'),
    ip: example('ip'),
    country: example('country'),
    device: example('device'),
    click_id: null,
    click_at: at(30),
    created_at: at(10),
    approved_at: status === 'approved' || status === 'reversed' ? at(10) : null,
    rejected_at: status === 'rejected' ? now : null,
    reversed_at: status === 'reversed' ? now : null,
    hold_until: null,
  }
  return {
    event_id: conversion.event_id,
    created_at: now,
    request_id: example('request_id'),
    conversion,
    sign: status === 'reversed' && isNegative ? -1 : 1,
    offerName: example('offer_name'),
    goalName: example('goal_name'),
  }
}
