// What the parameters of the management API mean, by name. A schema that says more about its own comes first.
import type { TObject } from 'typebox'

/** In paths. */
const PATH: Record<string, string> = {
  advertiser_id: 'ID of the advertiser.',
  app_id: 'ID of the app.',
  ban_id: 'ID of the ban.',
  conversion_id: 'ID of the conversion.',
  feed_id: 'ID of the feed.',
  feed_run_id: 'ID of the run.',
  import_id: 'ID of the import.',
  invitation_id: 'ID of the invitation.',
  locker_id: 'ID of the locker.',
  message_id: 'ID of the message.',
  mode: 'Which key of the app.',
  offer_id: 'ID of the offer.',
  person_id: 'ID of the person.',
  postback_id: 'ID of the postback.',
  posting_id: 'ID of the payment, receipt or adjustment.',
  proposal_id: 'ID of the proposal.',
  publisher_id: 'ID of the publisher.',
  replay_id: 'ID of the bulk resend.',
  run_id: 'ID of the payment run.',
  session_id: 'ID of the session.',
  signal: 'The fraud signal that the rule is about.',
  test_id: 'ID of the test run.',
  ticket_id: 'ID of the ticket.',
  token_id: 'ID of the API token.',
  user_id: 'The publisher’s own ID of the user, percent-encoded.',
}

/** Filters of lists, and how to page through them. */
const QUERY: Record<string, string> = {
  advertiser_id: 'Only of this advertiser.',
  app_id: 'Only of this app.',
  category: 'Only of this category.',
  click_id: 'Only of this click.',
  conversion_id: 'Only of this conversion.',
  cursor: 'The next_cursor of the previous page.',
  from: 'Only from this time on: RFC 3339, or a date in UTC.',
  inbound_id: 'Only this callback.',
  kind: 'Only of this kind.',
  limit: 'How many to return.',
  mode: 'Live or test traffic. Defaults to live.',
  offer_id: 'Only of this offer.',
  offset: 'How many to skip.',
  open: '`yes`: only callbacks that need attention.',
  order: 'By creation time. Defaults to newest.',
  outcome: 'Only with this outcome.',
  publisher_id: 'Only of this publisher.',
  reason: 'Only with this status reason.',
  signal: 'Only with this fraud signal; `any`: with at least one.',
  sort: 'The order of the list.',
  state: 'Only in this state.',
  status: 'Only with this status.',
  to: 'Only before this time: RFC 3339, or a date in UTC.',
  trusted: 'Only offers that the app is trusted for, or only the others.',
  user_id: 'Only of this user, by your own ID.',
}

const describe =
  (meanings: Record<string, string>) =>
  <T extends TObject>(schema: T): T => {
    const properties = Object.entries(schema.properties).map(([name, one]) => {
      const description = (one as { description?: string }).description ?? meanings[name]
      return [name, description === undefined ? one : { ...one, description }]
    })
    return { ...schema, properties: Object.fromEntries(properties) as T['properties'] }
  }

export const describePath = describe(PATH)
export const describeQuery = describe(QUERY)
