// What the parameters of the management API mean, by name. A schema that says more about its own comes first.
import type { TObject } from 'typebox'

/** In paths. */
const PATH: Record<string, string> = {
  advertiser_id: 'ID of the advertiser.',
  app_id: 'ID of the app.',
  ban_id: 'ID of the ban.',
  conversion_id: 'ID of the conversion.',
  feed_id: 'ID of the feed.',
  feed_run_id: 'ID of the feed run.',
  import_id: 'ID of the import.',
  invitation_id: 'ID of the invitation.',
  locker_id: 'ID of the locker.',
  message_id: 'ID of the message.',
  mode: 'Live or test key of the app.',
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
  advertiser_id: 'Filter by advertiser.',
  app_id: 'Filter by app.',
  category: 'Filter by category.',
  click_id: 'Filter by click.',
  conversion_id: 'Filter by conversion.',
  cursor: '`next_cursor` of the previous page.',
  from: 'Start of the range: RFC 3339, or a date in UTC.',
  inbound_id: 'Filter by callback.',
  kind: 'Filter by kind.',
  limit: 'How many to return.',
  mode: 'Live or test traffic. Defaults to live.',
  offer_id: 'Filter by offer.',
  offset: 'How many to skip.',
  open: '`yes`: only callbacks that need attention.',
  order: 'By creation time. Defaults to newest.',
  outcome: 'Filter by outcome.',
  publisher_id: 'Filter by publisher.',
  reason: 'Filter by status reason.',
  signal: 'Filter by fraud signal; `any` for at least one.',
  sort: 'The order of the list.',
  state: 'Filter by state.',
  status: 'Filter by status.',
  to: 'End of the range (exclusive): RFC 3339, or a date in UTC.',
  trusted: 'Filter by whether the app is trusted for the offer.',
  user_id: 'Filter by user: the publisher’s own ID.',
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
