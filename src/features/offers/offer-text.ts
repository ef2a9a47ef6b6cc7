// An offer as JSON text, made once, with holes for what differs between answers. JSON never contains raw control
// characters, so they can stand for the holes.
import { asciiJson } from '../../lib/ascii-json.ts'
import { flatten } from '../../lib/flatten.ts'
import { microsToUsd, toLocal } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'
import type { OfferRecord } from './offers.ts'

/** Where a reward goes: first the offer's own (with the currency's name behind it), then each goal's. */
const REWARD = '\x01'
/** Where the link's token goes. */
export const TOKEN = '\x02'

/** An app's own money: what a dollar is worth in it. */
export type Currency = { id: number; name: string; rateMicros: number }

export function writeTemplate(offer: OfferRecord, publicUrl: string): string {
  const image = offer.imageUrl?.startsWith('/') ? publicUrl + offer.imageUrl : offer.imageUrl
  const goals = offer.goals.map(
    (goal) =>
      `{"goal_id":${goal.goalId},"name":${asciiJson(goal.name)},"description":${asciiJson(goal.description)},` +
      `"payout":${microsToUsd(goal.payoutMicros)},"payout_local":${REWARD},"is_optional":${goal.isOptional}${percent(goal.payoutPpm)}}`,
  )
  return flatten(
    `{"offer_id":${offer.offerId},"name":${asciiJson(offer.name)},"description":${asciiJson(offer.description)},` +
      `"payout":${microsToUsd(offer.payoutMicros)},"payout_local":${REWARD},"category":"${offer.category}",` +
      `"link":"${publicUrl}/c/${offer.offerId}/${TOKEN}","image_url":${asciiJson(image)},` +
      `"countries":${JSON.stringify(offer.countries)},"platforms":${JSON.stringify(offer.platforms)},` +
      `"difficulty":"${offer.difficulty}","time_estimate":${asciiJson(offer.timeEstimate)},` +
      `"requirements":${asciiJson(offer.requirements)},"payment_required":${offer.paymentRequired},` +
      `"conversion_type":"${offer.conversionType}","goals":[${goals.join(',')}],` +
      `"created_at":"${rfc3339(offer.createdAt)}","updated_at":"${rfc3339(offer.updatedAt)}"}`,
  )
}

/** Only where there is one: most goals pay a fixed amount. */
const percent = (ppm: number | null) => (ppm === null ? '' : `,"payout_percent":${ppm / 10_000}`)

/** The template with its rewards filled in; the token's hole stays. `payouts` are the offer's own and each goal's. */
export function fillRewards(template: string, payouts: readonly number[], currency: Currency): string {
  const pieces = template.split(REWARD)
  let text = `${pieces[0]}${toLocal(payouts[0] ?? 0, currency.rateMicros)},"currency":${asciiJson(currency.name)}`
  for (let i = 1; i < pieces.length; i++) {
    text += pieces[i]
    if (i < pieces.length - 1) text += toLocal(payouts[i] ?? 0, currency.rateMicros)
  }
  return text
}

/** Whether name or description have this keyword, which is in lower case, in any case. */
export function mentions(template: string, keyword: string): boolean {
  const text = template.slice(template.indexOf(',"name":'), template.indexOf(',"payout":')).toLowerCase()
  // Plain text stands in JSON as it is; for anything else (which is rare) the JSON is read.
  if (PLAIN.test(keyword) && !text.includes('\\')) return text.includes(keyword)
  const { name = '', description = '' } = JSON.parse(`${template.slice(0, template.indexOf(',"payout":'))}}`) as Record<
    string,
    string
  >
  return `${name}\n${description}`.toLowerCase().includes(keyword)
}

const PLAIN = /^[\w .,!?-]+$/
