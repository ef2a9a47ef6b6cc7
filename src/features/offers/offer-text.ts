// An offer as JSON text, created once, with holes for what differs between responses. JSON never contains raw control
// characters, so they can stand for the holes.
import { asciiJson } from '../../lib/ascii-json.ts'
import { flatten } from '../../lib/flatten.ts'
import { microsToUsd, multiplierOf, stepsToUnits, takeShare } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'
import { SHOWN_FIELDS } from './fields.ts'
import { rewardsOf, type RewardTerms, sharesOf } from './rewards.ts'
import type { StoredOffer } from './slots.ts'

/** Where a payout and its reward go: first the offer's own (with the currency's name behind them), then each goal's. */
const PAYOUT = '\x01'
/** Around a percentage of which the publisher has its share. */
const PERCENT = '\x03'
/** Where the link's token goes. */
export const TOKEN = '\x02'

/** An app's own money: what a dollar is worth in it, the publisher's share of a payout, and the sale that is on. */
export type Currency = RewardTerms & {
  id: number
  /** Of all that is here: the same on every node. */
  fingerprint: string
  name: string
  /** The rate has its multiplier in it already. */
  sale: { multiplierPpm: number; endsAt: string } | null
}

/** What publishers see as it is recorded; what is written otherwise comes before. */
const MORE = Object.entries(SHOWN_FIELDS)
  .filter(([name]) => !['name', 'description', 'category', 'image_url'].includes(name))
  .map(([name, { shown, input }]) => ({
    name: name as keyof typeof SHOWN_FIELDS,
    key: `,"${name}":`,
    isAlways: shown === 'always',
    write: input === 'text' || input === 'lines' ? asciiJson : JSON.stringify, // all else is ASCII
  }))

export function writeTemplate(offer: StoredOffer, publicUrl: string): string {
  const image = offer.image_url.startsWith('/') ? publicUrl + offer.image_url : offer.image_url || null
  let more = ''
  for (const { name, key, isAlways, write } of MORE) {
    const value = offer[name]
    if (isAlways || value !== '') more += key + write(value)
  }
  const goals = offer.goals.map(
    (goal) =>
      `{"goal_id":${goal.goalId},"name":${asciiJson(goal.name)},"description":${asciiJson(goal.description)},` +
      `"payout":${PAYOUT},"is_optional":${goal.isOptional}${percent(goal.payoutPpm)}}`,
  )
  return flatten(
    `{"offer_id":${offer.offerId},"name":${asciiJson(offer.name)},"description":${asciiJson(offer.description)},` +
      `"payout":${PAYOUT},"category":"${offer.category}",` +
      `"link":"${publicUrl}/c/${offer.offerId}/${TOKEN}","image_url":${asciiJson(image)}${more},"goals":[${goals.join(',')}],` +
      `"created_at":"${rfc3339(offer.createdAt)}","updated_at":"${rfc3339(offer.updatedAt)}"}`,
  )
}

/** Only where there is one: most goals pay a fixed amount. */
const percent = (ppm: number | null) => (ppm === null ? '' : `,"payout_percent":${PERCENT}${ppm}${PERCENT}`)

/** The template with its payouts filled in; the token's hole stays. `payouts` are the offer's own and each goal's. */
export function fillPayouts(template: string, payouts: readonly number[], currency: Currency): string {
  const { sharePpm } = currency
  const pieces = template.split(PAYOUT)
  const shares = sharesOf(payouts, sharePpm)
  const rewards = rewardsOf(shares, currency)
  const pair = (i: number) => `${microsToUsd(shares[i] ?? 0)},"payout_local":${stepsToUnits(rewards[i] ?? 0)}`
  let text = `${pieces[0]}${pair(0)},"currency":${asciiJson(currency.name)}`
  for (let i = 1; i < pieces.length; i++) {
    text += pieces[i]
    if (i < pieces.length - 1) text += pair(i)
  }
  return text.includes(PERCENT) ? fillPercents(text, sharePpm) : text
}

const PAYOUT_NAME = '"payout":'
const PERCENT_NAME = ',"payout_percent":'

/**
 * The same for the users of an app: `reward` in its currency instead of payouts, because what the publisher earns is not
 * for them to see. `reward_varies`: it is a percentage of what the user spends.
 */
export function fillRewards(template: string, payouts: readonly number[], currency: Currency): string {
  const rewards = rewardsOf(sharesOf(payouts, currency.sharePpm), currency)
  const pieces = template.split(PAYOUT)
  const last = pieces.pop() ?? ''
  let text = ''
  for (const [i, piece] of pieces.entries()) {
    text += `${piece.slice(0, -PAYOUT_NAME.length)}"reward":${stepsToUnits(rewards[i] ?? 0)}`
    if (i === 0) text += `,"currency":${asciiJson(currency.name)}`
  }
  text += last
  if (!text.includes(PERCENT)) return text
  const varying = text.split(PERCENT).filter((_, i) => i % 2 === 0)
  return varying
    .map((piece) => (piece.endsWith(PERCENT_NAME) ? piece.slice(0, -PERCENT_NAME.length) : piece))
    .join(',"reward_varies":true')
}

/** Behind the offers, while a sale is on. */
export const saleText = ({ sale }: Currency) =>
  sale === null ? '' : `,"sale":{"multiplier":${multiplierOf(sale.multiplierPpm)},"ends_at":"${sale.endsAt}"}`

const fillPercents = (text: string, sharePpm: number) =>
  text
    .split(PERCENT)
    .map((piece, i) => (i % 2 === 0 ? piece : String(takeShare(Number(piece), sharePpm) / 10_000)))
    .join('')
