// What the fields of audit entries are called: as the pages that change them call them.
import { OFFER_FIELDS } from '../../lib/api-types.ts'
import { STATUSES } from '../../lib/statuses.ts'
import { APP_KINDS, CATEGORIES, labelOf, PLATFORMS, ROUNDINGS, SIGNALS } from '../../lib/words.ts'

const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(OFFER_FIELDS).map(([name, { label }]) => [name, label])),
  action: 'Action',
  address_changed: 'URL changed',
  after: 'After',
  allows_no_referrer: 'Allow visitors without a referrer',
  before: 'Before',
  bytes: 'Size in bytes',
  changes: 'Changes',
  click_limit: 'Click limit',
  consent: 'Consent line',
  copy_of: 'Copy of offer',
  counts_pending: 'Count pending conversions',
  email_before: 'Previous email address',
  email: 'Email address',
  fields: 'Fields',
  file_name: 'File',
  grace: 'Grace period',
  grace_hours: 'Grace period (hours)',
  image: 'Picture',
  is_filtered: 'Filtered',
  is_sent: 'Sent',
  lines: 'Payments',
  max_payout: 'Highest payout',
  min_payout: 'Lowest payout',
  needed_offers: 'Offers needed',
  needed_reward: 'Reward needed',
  new_place: 'New device or location',
  og_image: 'Card picture',
  og_text: 'Card text',
  og_title: 'Card title',
  parents: 'Sites that may embed the wall',
  payout: 'Payout, USD',
  platforms: 'Platforms',
  rate: 'Exchange rate',
  rate_limit: 'Rate limit (requests/min)',
  rate_limit_before: 'Previous rate limit (requests/min)',
  referrers: 'Allowed referrers',
  requires_signature: 'Signed users only',
  revenue: 'Revenue, USD',
  rows: 'Rows',
  slug: 'Slug',
  state: 'Status',
  target_url: 'Destination URL',
  terms_version: 'Version of the terms',
  tokens_ended: 'Tokens revoked',
  unlocked_minutes: 'Stays unlocked for (minutes)',
}

const SHORT: Readonly<Record<string, string>> = { api: 'API', csv: 'CSV', epc: 'EPC', id: 'ID', ids: 'IDs', ip: 'IP', txn: 'transaction', url: 'URL', urls: 'URLs', usd: 'USD', utc: 'UTC' } // prettier-ignore

/** One that has no label here is at least read as words: `publisher_share` is `Publisher share`. */
export function fieldLabel(field: string): string {
  const known = LABELS[field]
  if (known !== undefined) return known
  const text = field
    .split('_')
    .map((word) => SHORT[word] ?? word)
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  category: CATEGORIES,
  categories: CATEGORIES,
  kind: APP_KINDS,
  mode: { live: 'Live', test: 'Test' },
  platforms: PLATFORMS,
  rounding: ROUNDINGS,
  signal: SIGNALS,
}

/** The name of one of a few values, such as a status. */
export function valueLabel(field: string, value: string): string {
  if (field === 'state' || field === 'status')
    return (STATUSES as Record<string, { label: string }>)[value]?.label ?? value
  return labelOf(VALUES[field] ?? {}, value)
}
