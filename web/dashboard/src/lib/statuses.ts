// Every status that a page shows: what it is called and its color. One that the API gets and that is not here fails the
// type check.
import type { Operations, Schemas } from './api-types.ts'

type Asked<N extends keyof Operations, K extends keyof Operations[N]['query']> = NonNullable<Operations[N]['query'][K]>
export type Labels<T extends string> = Readonly<Record<T, string>>

export type ConversionStatus = Schemas['Conversion']['status']
export type PostbackState = Schemas['PostbackOfApp']['postback']['state']
export type LaneState = Schemas['PostbackLaneList']['lanes'][number]['state']
export type PublisherStatus = Asked<'GET /publishers', 'status'>
export type ApplicationStatus = Asked<'GET /applications', 'status'>
export type ProposalStatus = Asked<'GET /offer-proposals', 'status'>
export type OfferStatus = Asked<'GET /offers', 'status'>
export type TicketStatus = Schemas['Ticket']['status']
export type Outcome = Asked<'GET /inbound-calls', 'outcome'>

/** Every status that a page shows, of whatever it is. */
export type AnyStatus =
  | ConversionStatus
  | PostbackState
  | LaneState
  | PublisherStatus
  | ApplicationStatus
  | ProposalStatus
  | TicketStatus
  | Outcome
  | OfferStatus
  | Schemas['NetworkOffer']['state']
  | Schemas['PaymentRun']['status']
  | Schemas['PaymentRunLineList']['lines'][number]['status']
  | Schemas['Replay']['state']
  | Schemas['OfferImport']['state']
  | Schemas['FeedRun']['outcome']
  | 'pass'
  | 'fail'
  | 'voided'
  | 'disabled'
  | 'taken_down'

export const STATUSES: Readonly<Record<AnyStatus, { label: string; color: string }>> = {
  approved: { label: 'Approved', color: 'green' },
  delivered: { label: 'Delivered', color: 'green' },
  active: { label: 'Active', color: 'green' },
  ok: { label: 'OK', color: 'green' },
  pass: { label: 'Passed', color: 'green' },
  paid: { label: 'Paid', color: 'green' },
  done: { label: 'Done', color: 'green' },
  answered: { label: 'Answered', color: 'green' },
  checked: { label: 'Checked', color: 'green' },
  due: { label: 'Due', color: 'yellow' },
  open: { label: 'Open', color: 'yellow' },
  pending: { label: 'Pending', color: 'yellow' },
  queued: { label: 'Queued', color: 'yellow' },
  waiting: { label: 'Waiting', color: 'yellow' },
  scheduled: { label: 'Scheduled', color: 'yellow' },
  exported: { label: 'Exported', color: 'blue' },
  sending: { label: 'Sending', color: 'blue' },
  running: { label: 'Running', color: 'blue' },
  checking: { label: 'Checking', color: 'blue' },
  paused: { label: 'Paused', color: 'gray' },
  disabled: { label: 'Disabled', color: 'gray' },
  cancelled: { label: 'Cancelled', color: 'gray' },
  closed: { label: 'Closed', color: 'gray' },
  ended: { label: 'Ended', color: 'gray' },
  unchanged: { label: 'Unchanged', color: 'gray' },
  full: { label: 'Full', color: 'gray' },
  duplicate: { label: 'Duplicate', color: 'gray' },
  ignored: { label: 'Ignored', color: 'gray' },
  unmatched: { label: 'Unmatched', color: 'gray' },
  invalid: { label: 'Invalid', color: 'gray' },
  refused: { label: 'Refused', color: 'gray' },
  withdrawn: { label: 'Withdrawn', color: 'gray' },
  voided: { label: 'Voided', color: 'red' },
  rejected: { label: 'Rejected', color: 'red' },
  reversed: { label: 'Reversed', color: 'red' },
  dead: { label: 'Failed', color: 'red' },
  fail: { label: 'Failed', color: 'red' },
  failed: { label: 'Failed', color: 'red' },
  failing: { label: 'Failing', color: 'red' },
  taken_down: { label: 'Taken down', color: 'red' },
  suspended: { label: 'Suspended', color: 'red' },
}

/** Those of one subject, in this order. */
const labelsOf = <const T extends AnyStatus>(...names: T[]): Labels<T> =>
  Object.fromEntries(names.map((name) => [name, STATUSES[name].label])) as Labels<T>

export const CONVERSION_STATUSES: Labels<ConversionStatus> = labelsOf('pending', 'approved', 'rejected', 'reversed')
export const POSTBACK_STATES: Labels<PostbackState> = labelsOf('queued', 'sending', 'delivered', 'dead')
/** A lane that waits before it tries again is a failing one, too. */
export const LANE_STATES: Labels<LaneState> = {
  paused: STATUSES.paused.label,
  waiting: `${STATUSES.failing.label}, backing off`,
  failing: STATUSES.failing.label,
  ok: STATUSES.ok.label,
}
export const PUBLISHER_STATUSES: Labels<PublisherStatus> = labelsOf('pending', 'active', 'suspended')
export const APPLICATION_STATUSES: Labels<ApplicationStatus> = labelsOf('waiting', 'approved', 'refused')
export const PROPOSAL_STATUSES: Labels<ProposalStatus> = labelsOf('waiting', 'approved', 'refused', 'withdrawn')
export const OFFER_STATUSES: Labels<OfferStatus> = labelsOf('active', 'paused')
export const TICKET_STATUSES: Labels<TicketStatus> = labelsOf('open', 'answered', 'closed')
export const OUTCOMES: Labels<Outcome> = labelsOf(
  'approved',
  'pending',
  'rejected',
  'reversed',
  'duplicate',
  'ignored',
  'unmatched',
  'invalid',
  'refused',
)
/** What a run of a feed did with an offer. */
export const FEED_CHANGES: Labels<Schemas['FeedChangeList']['changes'][number]['kind']> = {
  created: 'New',
  changed: 'Changed',
  resumed: 'Resumed',
  held: 'Held',
  skipped: 'Skipped',
  ...labelsOf('paused'),
}
