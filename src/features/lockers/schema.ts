// What a publisher can set for a locker, and what its page asks for.
import { type Static, Type } from 'typebox'
import { pattern } from '../../http/forms.ts'
import { oneOf, shape } from '../../http/shape.ts'
import { DATE_OR_TIME, LINE, NOT_BLANK, SAFE_TEXT } from '../../http/validation.ts'
import type { ProblemTexts } from './problem-texts.ts'
import { LockerLook } from './look.ts'
import type { LockerTexts } from './texts.ts'
import { CATEGORIES, PLATFORMS } from '../offers/choices.ts'
import { Lang } from '../offers/schema.ts'
import type { NumberStyle } from '../wall/texts/numbers.ts'

export const KINDS = ['content', 'link'] as const
export const REPORT_REASONS = ['scam', 'malware', 'illegal', 'broken', 'other'] as const

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })
const line = (maxLength: number, description: string) => Type.String({ maxLength, format: LINE, description })
const picture = (description: string) =>
  orNull(Type.String({ maxLength: 500, pattern: pattern('PICTURE') }), description)
const usd = (description: string) => orNull(Type.Number({ minimum: 0, maximum: 10_000 }), description)

const LINK = {
  target_url: Type.String({ minLength: 1, maxLength: 2_000, format: LINE, description: 'URL behind the link. The browser gets it only after the unlock.' }), // prettier-ignore
  expires_at: orNull(
    Type.String({ format: DATE_OR_TIME }),
    'When the link stops working: a time, or a date for its start in UTC. Null for never.',
  ),
  click_limit: orNull(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), 'How often the link can be opened; null for no limit.'), // prettier-ignore
  referrers: Type.Array(Type.String({ maxLength: 200, format: LINE }), {
    maxItems: 20,
    description: 'Origins that visitors may come from, such as https://www.example.com. Empty for any.',
  }),
  allows_no_referrer: Type.Boolean({
    description: 'Whether visitors without a referrer are let in. Only applies with `referrers`.',
  }),
  og_title: line(120, 'Title of the link preview in other apps. Empty for `title`.'),
  og_text: line(300, 'Text of the link preview in other apps. Empty for `text`.'),
  og_image: picture('Image of the link preview in other apps. Null for `image`.'),
}

const COMMON = {
  name: Type.String({ minLength: 1, maxLength: 80, format: LINE, pattern: NOT_BLANK, description: 'Internal name, not shown to visitors.' }), // prettier-ignore
  enabled: Type.Boolean({
    description: 'If false, nothing is shown or unlocked. Earlier proofs can be redeemed until they expire.',
  }),
  title: line(80, 'Title of the locker. Empty for a default in the language of the visitor.'),
  text: line(300, 'Text below the title.'),
  image: picture('Picture above the title: an https URL, or the path of an uploaded image.'),
  look: orNull(LockerLook, 'Colors, corners and font. What is left out, or null, follows the wall of the app.'),
  consent: line(300, 'Consent text that visitors read before they start. Empty for none.'),
  needed_offers: orNull(Type.Integer({ minimum: 1, maximum: 20 }), 'Offers to complete for an unlock; any goal of an offer counts. Null if `needed_reward` applies.'), // prettier-ignore
  needed_reward: orNull(Type.Number({ minimum: 0.0001, maximum: 1_000_000_000 }), "Reward to earn for an unlock, in the app's currency. Null if `needed_offers` applies."), // prettier-ignore
  counts_pending: Type.Boolean({ description: 'Whether pending conversions count, or only approved ones.' }),
  unlocked_minutes: Type.Integer({
    minimum: 1,
    maximum: 525_600,
    description: 'Minutes for which an unlock is valid.',
  }),
  categories: Type.Array(oneOf(CATEGORIES), { maxItems: CATEGORIES.length, description: 'Offer categories to show. Empty for all.' }), // prettier-ignore
  platforms: Type.Array(oneOf(PLATFORMS), { maxItems: PLATFORMS.length, description: 'Platforms that visitors must use. Empty for any.' }), // prettier-ignore
  min_payout: usd('Only offers whose goals together pay you at least this, in USD.'),
  max_payout: usd('Only offers whose goals together pay you at most this, in USD.'),
}

export const LinkSettings = shape('LinkLockerSettings', LINK)
export const LockerSettings = shape('LockerSettings', {
  ...COMMON,
  link: orNull(LinkSettings, 'Settings of a link locker; null for a content locker.'),
})
export type LockerSettings = Static<typeof LockerSettings>
export type LinkSettings = Static<typeof LinkSettings>

const { name, ...optional } = COMMON
const { target_url, ...linkOptional } = LINK
const { properties: someOfLink } = Type.Partial(Type.Object(linkOptional))
export const LockerInput = shape('LockerInput', {
  name,
  ...Type.Partial(Type.Object(optional)).properties,
  link: Type.Optional(
    orNull(
      shape('LinkLockerInput', { target_url, ...someOfLink }),
      'Settings of a link locker. Leave out for a content locker.',
    ),
  ),
  slug: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Last part of the link. Can only be set on creation; random by default.' }), // prettier-ignore
  ),
  password: Type.Optional(
    orNull(Type.String({ minLength: 1, maxLength: 200, format: SAFE_TEXT }), 'Password that visitors of a link must enter. Null removes it; leave it out to keep it.'), // prettier-ignore
  ),
  seen_version: Type.Optional(
    Type.String({ maxLength: 100, description: 'The `version` you read. If the locker has changed since, nothing is saved (409).' }), // prettier-ignore
  ),
})
export type LockerInput = Static<typeof LockerInput>

export const Locker = shape('Locker', {
  locker_id: Type.Integer(),
  kind: oneOf(KINDS),
  url: orNull(Type.String(), 'URL to share, for a link locker.'),
  has_password: Type.Boolean(),
  settings: LockerSettings,
  views: Type.Integer({ description: 'How often the page of the locker was shown.' }),
  unlocks: Type.Integer(),
  opened: Type.Integer({ description: 'How often the link was opened.' }),
  taken_down_reason: orNull(Type.String(), 'Why the operator took the locker down; null if it is up.'),
  created_at: Type.String({ format: 'date-time' }),
  version: Type.String({
    description: 'Changes when the settings or the password change. Send it as `seen_version` when you save.',
  }),
})
export type Locker = Static<typeof Locker>

const VisitorId = Type.String({ pattern: '^[0-9a-f]{32}$', description: 'ID of the visitor, issued by the locker.' })
const VisitorKey = Type.String({
  pattern: '^[\\w-]{43}$',
  description: 'Secret of the visitor, issued with `visitor`.',
})
const pass = Type.Optional(
  Type.String({ maxLength: 100, description: 'Access pass that the page of a link received.' }),
)
const test = Type.Optional(Type.Boolean({ description: 'Test mode, for content lockers only.' }))

export const NewVisit = shape('LockerVisit', {
  visitor: Type.Optional(VisitorId),
  key: Type.Optional(VisitorKey),
  pass,
  test,
  lang: Lang,
})
export type NewVisit = Static<typeof NewVisit>
export const LockerParams = Type.Object({ locker_id: Type.String({ description: 'ID of the locker.' }) })
export const LiveQuery = Type.Object({
  visitor: VisitorId,
  key: VisitorKey,
  test: Type.Optional(oneOf(['1'], { description: '`1` for test mode.' })),
})
export type LiveQuery = Static<typeof LiveQuery>
export const SlugParams = Type.Object({ slug: Type.String({ maxLength: 64, description: 'Last part of the link.' }) })
export const OpenBody = shape('LockerOpen', { visitor: VisitorId, key: VisitorKey, pass: Type.String({ maxLength: 100 }) }) // prettier-ignore
export type OpenBody = Static<typeof OpenBody>
export const PasswordBody = shape('LockerPassword', {
  password: Type.String({ minLength: 1, maxLength: 200, format: SAFE_TEXT }),
  pass: Type.String({ maxLength: 100, description: 'Access pass that the page of the link received.' }),
})
export type PasswordBody = Static<typeof PasswordBody>
export const ReportBody = shape('LockerReport', {
  reason: oneOf(REPORT_REASONS),
  details: Type.Optional(Type.String({ maxLength: 1_000, format: SAFE_TEXT })),
})
export type ReportBody = Static<typeof ReportBody>

export const LockerOffer = shape('LockerOffer', {
  offer_id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  image_url: Type.Union([Type.String(), Type.Null()]),
  link: Type.String(),
  reward: Type.Number(),
})
export type LockerOffer = Static<typeof LockerOffer>
export const LockerState = shape('LockerState', {
  visitor: VisitorId,
  key: VisitorKey,
  is_unlocked: Type.Boolean(),
  ended: orNull(
    oneOf(['opened', 'expired']),
    'Why the last unlock of the visitor ended: the link was opened, or it expired. Null if there was none or it is still valid.',
  ),
  proof: orNull(Type.String(), 'Proof of an unlocked content locker, for your server to redeem.'),
  needed_offers: orNull(Type.Integer(), 'Offers to complete for an unlock. Null if `needed_reward` applies.'),
  needed_reward: orNull(Type.Number(), 'Reward to earn for an unlock. Null if `needed_offers` applies.'),
  offers_done: Type.Integer(),
  reward_done: Type.Number(),
  pending: Type.Integer({ description: 'Completed offers that are not confirmed yet.' }),
  currency: Type.String({ description: 'Currency of rewards.' }),
  offers: Type.Array(LockerOffer),
  only_on: orNull(
    Type.Array(oneOf(PLATFORMS)),
    'Platforms that the locker has offers for, if the visitor uses none of them.',
  ),
})
export type LockerState = Static<typeof LockerState>

export const ReportReply = shape('LockerReported', { reported: Type.Boolean() })
export const OpenReply = shape('LockerOpened', { target_url: Type.String() })
export const PassReply = shape('LockerPass', { pass: Type.String() })
export const RedeemBody = shape('ProofRedemption', { proof: Type.String({ minLength: 1, maxLength: 300 }) })
export const Redeemed = shape('RedeemedProof', {
  redeemed: Type.Boolean({
    description: 'True the first time. If false, the proof was redeemed before: do not deliver again.',
  }),
  locker_id: Type.Integer(),
  visitor_id: Type.String(),
  redeemed_at: Type.String({ format: 'date-time' }),
})

/** What the script reads (web/locker/main.ts). */
export type LockerBoot = {
  lockerId: number
  /** All its lockers share a visitor. */
  appId: number
  slug: string | null
  isTest: boolean
  /** The origin that shows the frame. */
  parent: string | null
  pass: string | null
  needsPassword: boolean
  title: string
  text: string
  image: string | null
  consent: string
  language: string
  numbers: NumberStyle
  texts: LockerTexts
  problems: ProblemTexts
}
