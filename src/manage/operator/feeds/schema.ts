// The shapes of feeds, of their runs, and of rates.
import { Type } from 'typebox'
import { ID_PAGE_QUERY, NextCursor } from '../../../http/paging.ts'
import { PRODUCT_RULES } from '../../../features/offers/products/choose.ts'
import { shape } from '../../../http/shape.ts'
import { id, name, oneOf, orNull, text, Time } from '../../shapes.ts'

export const OUTCOMES = ['running', 'done', 'unchanged', 'refused', 'failed'] as const
export const CHANGE_KINDS = ['created', 'changed', 'paused', 'resumed', 'held', 'skipped'] as const

export const FeedParams = Type.Object({ feed_id: id })
export const RunParams = Type.Object({
  feed_id: id,
  feed_run_id: id,
})
export const OfferParams = Type.Object({ offer_id: id })

const words = (maxItems: number) => Type.Array(Type.String({ maxLength: 100 }), { maxItems })
const SETTINGS = {
  currency: Type.String({ maxLength: 3, description: 'Currency of offers that name none, such as USD.' }),
  share_percent: Type.Number({ description: 'Percentage of the network’s payout that publishers get.' }),
  min_margin: orNull(
    Type.String({
      maxLength: 20,
      description: 'Minimum margin per goal in US dollars, whatever the share.',
    }),
  ),
  max_margin: orNull(Type.String({ maxLength: 20, description: 'Maximum margin per goal in US dollars.' })),
  every: text(10, 'How often the feed is fetched, such as 30m.'),
  max_gone_percent: Type.Number({
    description: 'A run that would pause more than this percentage of the feed’s offers is refused.',
  }),
  hold_changes_percent: orNull(
    Type.Number({ description: 'Payouts that change by more than this percentage await approval; null for none.' }),
  ),
  max_offers: Type.Integer({ description: 'A feed with more offers is refused.' }),
  min_payout: orNull(
    Type.String({ maxLength: 20, description: 'Minimum payout in US dollars. Offers that pay less are skipped.' }),
  ),
  countries: Type.Array(Type.String({ maxLength: 2 }), {
    maxItems: 300,
    description: 'Countries to accept. Empty for all.',
  }),
  platforms: words(3),
  categories: words(4),
  blocked_words: words(200),
}
const FeedSettings = shape('FeedSettings', SETTINGS)
const GivenSettings = shape('GivenFeedSettings', Type.Partial(Type.Object(SETTINGS)).properties)
const Credentials = Type.Record(Type.String({ maxLength: 50 }), Type.String({ maxLength: 2_000 }), {
  title: 'FeedCredentials',
  description: 'Credentials by name, as the preset or the request uses them. Stored encrypted, and never shown again.',
})
const Data = (title: string, description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', title, description, additionalProperties: true }) // prettier-ignore
const Request = Data('FeedRequest', 'How the feed is requested: see the documentation of feeds.')
const Mapping = Data('FeedMapping', 'How the network’s offers are mapped: see the documentation of feeds.')

export const Presets = shape('FeedPresetList', {
  presets: Type.Array(
    Type.Object({
      preset: Type.String(),
      title: Type.String(),
      website: Type.String(),
      currency: Type.String(),
      every: Type.String(),
      credentials: Type.Array(
        Type.Object({
          name: Type.String(),
          label: Type.String(),
          hint: orNull(Type.String()),
          is_secret: Type.Boolean(),
        }),
      ),
      postback_secret: orNull(
        Type.String({
          description: 'The network’s name for the secret that it signs callbacks with; null if it signs none.',
        }),
      ),
      request: Request,
      mapping: Mapping,
    }),
  ),
})

export const Run = shape('FeedRun', {
  feed_run_id: id,
  is_preview: Type.Boolean(),
  is_waiting: Type.Boolean({ description: 'Whether the run is waiting for a worker.' }),
  asked_by: orNull(Type.String({ description: 'Who started the run; null for the schedule.' })),
  started_at: Time,
  ended_at: orNull(Time),
  outcome: oneOf(OUTCOMES),
  message: Type.String({ description: 'Why the run failed or was refused.' }),
  pages: Type.Integer(),
  bytes: Type.Integer(),
  fetched: Type.Integer(),
  created: Type.Integer(),
  changed: Type.Integer(),
  unchanged: Type.Integer(),
  paused: Type.Integer(),
  resumed: Type.Integer(),
  held: Type.Integer(),
  skipped: Type.Integer(),
  gone: orNull(Type.Integer({ description: 'Active offers that are missing from the feed; null until known. A run refused because of them can be applied anyway.' })), // prettier-ignore
  accepted_gone: orNull(Type.Integer({ description: 'How many offers this run may pause, regardless of the limit of the feed.' })), // prettier-ignore
})

const LISTED = {
  feed_id: id,
  name: Type.String(),
  advertiser_id: id,
  advertiser: Type.String(),
  preset: orNull(Type.String({ description: 'Preset of the feed; null if it has its own request and mapping.' })),
  is_paused: Type.Boolean(),
  next_run_at: orNull(Time),
  failures: Type.Integer({ description: 'Failed runs in a row.' }),
  offers: Type.Integer(),
  active_offers: Type.Integer(),
  held_offers: Type.Integer({ description: 'Offers whose new payout awaits approval.' }),
  latest_run: orNull(Run),
}
export const FeedListQuery = Type.Object(ID_PAGE_QUERY)
export const FeedList = shape('FeedList', {
  feeds: Type.Array(Type.Object(LISTED)),
  next_cursor: NextCursor,
})

export const ShownFeed = shape('Feed', {
  ...LISTED,
  settings: FeedSettings,
  credentials: Type.Array(Type.String(), { description: 'Names of the stored credentials.' }),
  request: Request,
  mapping: Mapping,
  postback_url: Type.String({
    description: 'URL to paste into the network’s system, with a placeholder for the token.',
  }),
  token_place: Type.String(),
  notes: Type.Array(Type.String()),
})

export const RemovedFeed = shape('RemovedFeed', { paused_offers: Type.Integer() })

export const NewFeed = shape('NewFeed', {
  name: name(200, 'Unique among feeds.'),
  advertiser_id: Type.Optional(orNull(id)),
  preset: Type.Optional(text(50, 'Preset of a supported network. Without one, send `request` and `mapping`.')),
  request: Type.Optional(Request),
  mapping: Type.Optional(Mapping),
  credentials: Credentials,
  postback_secret: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'Secret that the network signs its callbacks with. Without it, signatures are not checked.',
    }),
  ),
  settings: GivenSettings,
})
export const CreatedFeed = shape('CreatedFeed', {
  feed: ShownFeed,
  token: orNull(Type.String({ description: 'Token of the advertiser that was created. Shown only once.' })),
})
export const ChangedFeed = shape('ChangedFeed', {
  name: Type.Optional(name(200, 'Unique among feeds.')),
  credentials: Type.Optional(Credentials),
  remove_credentials: Type.Optional(
    Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: 50,
      description: 'Names of credentials to remove.',
    }),
  ),
  request: Type.Optional(Request),
  mapping: Type.Optional(Mapping),
  settings: Type.Optional(GivenSettings),
})

export const RunSearch = Type.Object(ID_PAGE_QUERY)
export const RunPage = shape('FeedRunList', { runs: Type.Array(Run), next_cursor: NextCursor })
/** A kind and an external ID: those of the last one of the page before. */
const CHANGE_PAGE_QUERY = {
  ...ID_PAGE_QUERY,
  cursor: Type.Optional(Type.String({ maxLength: 600, pattern: `^(${CHANGE_KINDS.join('|')}) .` })),
}
export const ChangeSearch = Type.Object({ kind: Type.Optional(oneOf(CHANGE_KINDS)), ...CHANGE_PAGE_QUERY })
export const HeldSearch = Type.Object(CHANGE_PAGE_QUERY)
export const ChangePage = shape('FeedChangeList', {
  changes: Type.Array(
    Type.Object({
      external_id: Type.String(),
      name: Type.String(),
      offer_id: orNull(id),
      kind: oneOf(CHANGE_KINDS),
      reason: orNull(Type.String()),
      fields: Type.Array(Type.Object({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
    }),
  ),
  next_cursor: NextCursor,
})

export const HeldPage = shape('HeldPayoutList', {
  offers: Type.Array(
    Type.Object({ external_id: Type.String(), offer_id: id, name: Type.String(), payout_before: Type.Number(), payout_after: Type.Number() }),
  ),
  next_cursor: NextCursor,
}) // prettier-ignore
export const Approval = shape('HeldPayoutApproval', {
  external_ids: Type.Array(Type.String({ maxLength: 500 }), { minItems: 1, maxItems: 1_000 }),
})
export const Approved = shape('ApprovedPayouts', { approved: Type.Integer() })

export const OfferFeed = shape('FeedOfOffer', {
  feed: orNull(
    Type.Object({
      feed_id: id,
      name: Type.String(),
      external_id: Type.String(),
      pinned: Type.Array(Type.Object({ field: Type.String(), feed_value: Type.Unknown() }), {
        description: 'Fields that were edited here and no longer follow the feed, with the value from the feed.',
      }),
    }),
  ),
})
export const Release = shape('PinRelease', {
  fields: Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 100 }),
})
export const Released = shape('ReleasedPins', { released: Type.Array(Type.String()) })

export const SampleOf = shape('FeedSampleRequest', {
  feed_id: Type.Optional(id), // whose credentials are used for those that are not given
  request: Request,
  credentials: Credentials,
})
export const Sample = shape('FeedSample', {
  answer: Type.Unknown({ description: 'First page of the feed, shortened.' }),
})
export const TryMapping = shape('MappingTrial', { mapping: Mapping, answer: Type.Unknown(), settings: GivenSettings })
export const TriedMapping = shape('TriedMapping', {
  problems: Type.Array(Type.Object({ place: Type.String(), message: Type.String() })),
  fields: Type.Array(
    Type.Object({
      place: Type.String({ description: 'Place of the field in the mapping. Fields with a problem are left out.' }),
      offers: Type.Array(
        Type.Object({
          read: Type.Array(Type.String(), { description: 'Values in the response.' }),
          gives: Type.String({ description: 'Resulting value.' }),
          problem: orNull(Type.String({ description: 'Why the offer would be skipped.' })),
        }),
      ),
    }),
  ),
  offers: Type.Array(
    Type.Object({
      external_id: Type.String(),
      name: Type.String(),
      problem: orNull(Type.String()),
      offer: orNull(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
    }),
  ),
})

const productRule = {
  rule: oneOf(PRODUCT_RULES),
  order: Type.Array(id, { maxItems: 200, description: 'Advertiser IDs in order of preference, for `fixed_order`.' }), // prettier-ignore
}
export const ProductRule = shape('ProductRule', productRule)
export const GivenProductRule = shape('GivenProductRule', productRule)

const rate = {
  currency: Type.String({ maxLength: 3, description: 'Currency code such as EUR.' }),
  day: Type.String({ maxLength: 10, description: 'First day that the rate applies to, such as 2026-11-17.' }),
  usd: Type.String({ maxLength: 20, description: 'US dollars per unit, at most 10 decimals.' }),
}
export const RateList = shape('CurrencyRateList', { rates: Type.Array(Type.Object(rate)) })
export const RatesSet = shape('GivenCurrencyRates', {
  rates: Type.Array(Type.Object(rate), { minItems: 1, maxItems: 200 }),
})
export const RateFile = shape('CurrencyRateFile', { csv: Type.String({ maxLength: 5_000_000 }) })
export const RatesChanged = shape('ChangedCurrencyRates', { changed: Type.Integer() })
