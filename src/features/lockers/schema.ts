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
  target_url: Type.String({ minLength: 1, maxLength: 2_000, format: LINE, description: 'Where the link leads. It reaches the browser only once it is unlocked.' }), // prettier-ignore
  expires_at: orNull(
    Type.String({ format: DATE_OR_TIME }),
    'The link stops working at this time. A date: at its start, in UTC. Null: never.',
  ),
  click_limit: orNull(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), 'How often the link can be opened. Null: any number of times.'), // prettier-ignore
  referrers: Type.Array(line(200, 'An origin.'), {
    maxItems: 20,
    description: 'Origins of the pages that visitors may come from, such as https://www.example.com. Empty: any page.',
  }),
  allows_no_referrer: Type.Boolean({
    description: 'Whether visitors may come whose browser does not say from where. Only counts with `referrers`.',
  }),
  og_title: line(120, 'Of the preview in other apps. Empty: the title.'),
  og_text: line(300, 'Of the preview in other apps. Empty: the text.'),
  og_image: picture('Of the preview in other apps. Null: the picture.'),
}

const COMMON = {
  name: Type.String({ minLength: 1, maxLength: 80, format: LINE, pattern: NOT_BLANK, description: 'Not shown to visitors.' }), // prettier-ignore
  enabled: Type.Boolean({
    description: 'Without it, nothing is shown or unlocked. Proofs from before are redeemed until they expire.',
  }),
  title: line(80, 'Empty: a title in the language of the visitor.'),
  text: line(300, 'Below the title.'),
  image: picture('Above the title. An https URL, or the path of an uploaded image.'),
  look: orNull(LockerLook, 'Colors, corners and font. What is left out is as in the wall of the app. Null: all of it.'),
  consent: line(300, 'A sentence that visitors read before they start. Empty: none.'),
  needed_offers: orNull(Type.Integer({ minimum: 1, maximum: 20 }), 'How many offers unlock. Any goal of an offer counts as the offer. Null: `needed_reward` counts.'), // prettier-ignore
  needed_reward: orNull(Type.Number({ minimum: 0.0001, maximum: 1_000_000_000 }), 'How much reward unlocks, in the currency of the app. Null: `needed_offers` counts.'), // prettier-ignore
  counts_pending: Type.Boolean({ description: 'Whether pending conversions count, or approved ones only.' }),
  unlocked_minutes: Type.Integer({ minimum: 1, maximum: 525_600, description: 'How long an unlock is valid.' }),
  categories: Type.Array(oneOf(CATEGORIES), { maxItems: CATEGORIES.length, description: 'Only these offers. Empty: all.' }), // prettier-ignore
  platforms: Type.Array(oneOf(PLATFORMS), { maxItems: PLATFORMS.length, description: 'Only visitors of these. Empty: all.' }), // prettier-ignore
  min_payout: usd('Only offers that pay you at least this with all their goals, in USD.'),
  max_payout: usd('Only offers that pay you at most this with all their goals, in USD.'),
}

export const LinkSettings = shape('LinkLockerSettings', LINK)
export const LockerSettings = shape('LockerSettings', {
  ...COMMON,
  link: orNull(LinkSettings, 'What only a link locker has. Null for a content locker.'),
})
export type LockerSettings = Static<typeof LockerSettings>
export type LinkSettings = Static<typeof LinkSettings>

const { name, ...optional } = COMMON
const { target_url, ...linkOptional } = LINK
const { properties: someOfLink } = Type.Partial(Type.Object(linkOptional))
export const LockerInput = shape('LockerInput', {
  name,
  ...Type.Partial(Type.Object(optional)).properties,
  link: Type.Optional(orNull(shape('LinkLockerInput', { target_url, ...someOfLink }), 'Set for a link locker.')),
  slug: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The end of the link. When it is created only; without it, a random one.' }), // prettier-ignore
  ),
  password: Type.Optional(
    orNull(Type.String({ minLength: 1, maxLength: 200, format: SAFE_TEXT }), 'Asked of visitors of a link. Absent: as it is. Null: none.'), // prettier-ignore
  ),
  seen_version: Type.Optional(
    Type.String({ maxLength: 100, description: 'The version that was shown. If the locker changed since, nothing is saved: 409.' }), // prettier-ignore
  ),
})
export type LockerInput = Static<typeof LockerInput>

export const Locker = shape('Locker', {
  locker_id: Type.Integer(),
  kind: oneOf(KINDS),
  url: orNull(Type.String(), 'Of a link locker: what to share.'),
  has_password: Type.Boolean(),
  settings: LockerSettings,
  views: Type.Integer({ description: 'How often its page was shown.' }),
  unlocks: Type.Integer(),
  opened: Type.Integer({ description: 'How often the link was opened.' }),
  taken_down_reason: orNull(Type.String(), 'Why the operator of the network took it down. Null: it is not.'),
  created_at: Type.String({ format: 'date-time' }),
  version: Type.String({ description: 'Differs when the settings or the password do. Send it back as seen_version.' }),
})
export type Locker = Static<typeof Locker>

const VisitorId = Type.String({ pattern: '^[0-9a-f]{32}$', description: 'The visitor, as the locker named it.' })
const VisitorKey = Type.String({ pattern: '^[\\w-]{43}$', description: 'Proves the visitor.' })
const pass = Type.Optional(Type.String({ maxLength: 100, description: 'Of the page of a link: that it may be used.' }))
const test = Type.Optional(Type.Boolean({ description: 'In test mode. Content lockers only.' }))

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
  test: Type.Optional(oneOf(['1'], { description: 'In test mode.' })),
})
export type LiveQuery = Static<typeof LiveQuery>
export const SlugParams = Type.Object({ slug: Type.String({ maxLength: 64, description: 'The end of the link.' }) })
export const OpenBody = shape('LockerOpen', { visitor: VisitorId, key: VisitorKey, pass: Type.String({ maxLength: 100 }) }) // prettier-ignore
export type OpenBody = Static<typeof OpenBody>
export const PasswordBody = shape('LockerPassword', {
  password: Type.String({ minLength: 1, maxLength: 200, format: SAFE_TEXT }),
  pass: Type.String({ maxLength: 100, description: 'Of the page of the link.' }),
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
    'Why the last unlock of this visitor is over: the link was opened, or its time has passed. Null: there was none, or it is valid.',
  ),
  proof: orNull(Type.String(), 'Of a content locker that is unlocked: for your server.'),
  needed_offers: orNull(Type.Integer(), 'How many offers unlock it now. Null: `needed_reward` counts.'),
  needed_reward: orNull(Type.Number(), 'How much reward unlocks it now. Null: `needed_offers` counts.'),
  offers_done: Type.Integer(),
  reward_done: Type.Number(),
  pending: Type.Integer({ description: 'Offers that were completed and are not confirmed yet.' }),
  currency: Type.String({ description: 'Of rewards: the currency of the app.' }),
  offers: Type.Array(LockerOffer),
  only_on: orNull(
    Type.Array(oneOf(PLATFORMS)),
    'The platforms that the locker has offers for, where the visitor is on none of them.',
  ),
})
export type LockerState = Static<typeof LockerState>

export const ReportReply = shape('LockerReported', { reported: Type.Boolean() })
export const OpenReply = shape('LockerOpened', { target_url: Type.String() })
export const PassReply = shape('LockerPass', { pass: Type.String() })
export const RedeemBody = shape('ProofRedemption', { proof: Type.String({ minLength: 1, maxLength: 300 }) })
export const Redeemed = shape('RedeemedProof', {
  redeemed: Type.Boolean({ description: 'True the first time. False: it was redeemed before, deliver nothing again.' }),
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
