// The shapes of advertisers, and of what they call.
import { Type } from 'typebox'
import {
  CONFIRMED_STATUSES,
  DECIMAL_MARKS,
  NEGATIVE_AMOUNTS,
  POSTBACK_PARAMETERS,
  SEEN_PUBLISHERS,
} from '../../../features/accounts/advertiser-settings.ts'
import { MOST_IGNORED } from '../../../features/accounts/call-rules.ts'
import { ID_PAGE_QUERY, NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { OUTCOMES } from '../../callback-shapes.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'
import { ALGORITHMS, ENCODINGS } from '../../../lib/signatures.ts'

export const AdvertiserSearch = Type.Object({
  search: Type.Optional(text(200, 'Part of the name.')),
  ...ID_PAGE_QUERY,
})

const ADVERTISER = { advertiser_id: id, name: Type.String(), created_at: Time }

export const AdvertiserPage = shape('AdvertiserList', {
  advertisers: Type.Array(Type.Object({ ...ADVERTISER, offers: Type.Integer(), has_token: Type.Boolean() })),
  next_cursor: NextCursor,
})

export const NewAdvertiser = shape('NewAdvertiser', {
  name: text(200, 'Unique name of the advertiser, used by imports.'),
})
const token = Type.String({ description: 'Callback token. Shown only once.' })
export const IssuedAdvertiser = shape('IssuedAdvertiser', { ...ADVERTISER, token })

const SIGNATURE = {
  algorithm: oneOf(ALGORITHMS),
  of: text(
    500,
    'Text that is signed: {secret}, {url}, {sorted_query}, and parameters such as {click_id}, in any order.',
  ),
  encoding: oneOf(ENCODINGS),
  parameter: orNull(text(100, 'Parameter that carries the signature.')),
  header: orNull(text(100, 'Header that carries the signature.')),
}
const Signature = shape('CallbackSignature', SIGNATURE)
export const SignatureSet = shape('GivenCallbackSignature', {
  signature: orNull(Type.Object(SIGNATURE)),
  secret: Type.Optional(Type.String({ maxLength: 500 })),
})

const IGNORED = {
  parameter: Type.String({ maxLength: 100, description: 'Parameter as the advertiser names it in its callbacks.' }),
  is: Type.String({ maxLength: 100, description: 'Value to ignore, in any case.' }),
  reason: Type.String({ maxLength: 200, description: 'Why nothing is paid, shown in the callback log.' }),
}
const onlyGoal = Type.Boolean({
  description: 'For an offer with one goal, treat an unknown goal as that goal if the callback pays at least as much.',
})
const fromPreset = orNull(Type.String({ description: 'Feed preset that set this rule; null if an operator did.' })) // prettier-ignore
const CallRules = shape('CallbackRules', {
  ignored: Type.Array(Type.Object({ ...IGNORED, preset: fromPreset }), {
    description: 'Callbacks with one of these values are answered as accepted, logged as ignored, and change nothing.',
  }),
  only_goal: onlyGoal,
  only_goal_preset: fromPreset,
})
const GivenCallRules = shape('GivenCallbackRules', {
  ignored: Type.Array(Type.Object(IGNORED), { maxItems: MOST_IGNORED }),
  only_goal: onlyGoal,
})

export const ShownAdvertiser = shape('Advertiser', {
  ...ADVERTISER,
  allowed_ips: Type.Array(Type.String(), {
    description: 'IP addresses and ranges that callbacks may come from. Empty for any.',
  }),
  status_map: Type.Array(Type.Object({ theirs: Type.String(), status: oneOf(CONFIRMED_STATUSES) })),
  aliases: Type.Array(Type.Object({ parameter: oneOf(POSTBACK_PARAMETERS), theirs: Type.String() })),
  negative_amount: oneOf(NEGATIVE_AMOUNTS),
  decimal_mark: oneOf(DECIMAL_MARKS),
  reversal_prefix: Type.String({
    description: 'Prefix of the transaction ID of a reversal. Empty for none.',
  }),
  signature: orNull(Signature),
  call_rules: CallRules,
  sees_publishers: oneOf(SEEN_PUBLISHERS, 'What the people of the advertiser see of publishers.'),
  tokens: Type.Array(Type.Object({ created_at: Time, expires_at: orNull(Time) }), {
    description: 'Valid tokens, newest first.',
  }),
})

const AllowedIpList = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 })
export const AllowedIps = shape('AllowedIps', { allowed_ips: AllowedIpList })

export const AdvertiserChange = shape('ChangedAdvertiser', {
  allowed_ips: Type.Optional(AllowedIpList),
  status_map: Type.Optional(
    Type.Array(Type.Object({ theirs: Type.String(), status: oneOf(CONFIRMED_STATUSES) }), { maxItems: 200 }),
  ),
  aliases: Type.Optional(
    Type.Array(Type.Object({ parameter: oneOf(POSTBACK_PARAMETERS), theirs: Type.String() }), { maxItems: 200 }),
  ),
  negative_amount: Type.Optional(oneOf(NEGATIVE_AMOUNTS)),
  decimal_mark: Type.Optional(oneOf(DECIMAL_MARKS)),
  reversal_prefix: Type.Optional(Type.String({ maxLength: 20 })),
  sees_publishers: Type.Optional(oneOf(SEEN_PUBLISHERS)),
  call_rules: Type.Optional(GivenCallRules),
})

export const Rotation = shape('TokenRotation', {
  grace: text(10, 'How long the old token keeps working, such as 24h or 7d; 0s revokes it immediately.'),
})
export const RotatedToken = shape('RotatedAdvertiserToken', { token, old_token_expires_at: orNull(Time) })

export const PostbackUrls = shape('AdvertiserPostbackUrls', {
  token_place: Type.String({ description: 'Placeholder for the token in the URLs.' }),
  offers: Type.Array(
    Type.Object({
      offer_id: id,
      name: Type.String(),
      can_be_confirmed: Type.Boolean({ description: 'Whether the `destination_url` of the offer has {click_id}.' }),
      goals: Type.Array(Type.Object({ goal_id: id, name: Type.String(), postback_url: Type.String() })),
    }),
  ),
  more_offers: Type.Integer(),
})

const CALL_SEARCH = {
  outcome: Type.Optional(oneOf(OUTCOMES)),
  open: Type.Optional(oneOf(['yes'])),
  click_id: Type.Optional(text(256)),
  inbound_id: Type.Optional(text(100)),
  ...UUID_PAGE_QUERY,
}
export const CallSearch = Type.Object({ advertiser_id: Type.Optional(id), ...CALL_SEARCH })
export const OwnCallSearch = Type.Object(CALL_SEARCH)
export const CallPage = shape('CallbackList', {
  calls: Type.Array(
    Type.Object({
      inbound_id: Type.String(),
      received_at: Time,
      advertiser_id: orNull(Type.Integer({ description: 'Advertiser whose token it carried, or null.' })),
      advertiser: orNull(Type.String()),
      method: Type.String(),
      query: Type.String({ description: 'Query as received, with the token masked.' }),
      body: Type.String(),
      is_cut: Type.Boolean({
        description:
          'Whether the callback was too long or compressed: it was not stored in full and cannot be processed.',
      }),
      ip: orNull(Type.String()),
      click_id: orNull(Type.String()),
      outcome: oneOf(OUTCOMES),
      reason: orNull(Type.String()),
      conversion_id: orNull(Type.String()),
      attempts: Type.Integer(),
      repeats: orNull(
        Type.Integer({ description: 'Further callbacks for this click that changed nothing and were only counted.' }),
      ),
      repeated_at: orNull(Time),
      next_attempt_at: orNull(Time),
      is_open: Type.Boolean({ description: 'Whether the callback still needs attention.' }),
    }),
  ),
  next_cursor: NextCursor,
})

export const Reprocess = shape('ChosenCallbacks', {
  inbound_ids: Type.Array(Type.String({ maxLength: 36 }), { minItems: 1, maxItems: 100 }),
})
export const Reprocessed = shape('ReprocessedCallbacks', {
  results: Type.Array(Type.Object({ inbound_id: Type.String(), outcome: Type.String(), message: Type.String() })),
})
export const Dismissed = shape('DismissedCallbacks', { dismissed: Type.Array(Type.String()) })
