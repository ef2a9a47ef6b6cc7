// IDs of what there is, so that requests get further than 404. A row has the ID together with those of what it belongs to.
import { sql } from 'kysely'
import type { Db } from '../../../src/db/open.ts'

const MOST = 60

/** By the name of the parameter that takes the ID. */
const SOURCES: Record<string, string> = {
  app_id: 'SELECT app_id, publisher_id FROM apps ORDER BY app_id DESC',
  publisher_id: 'SELECT publisher_id FROM publishers ORDER BY publisher_id DESC',
  advertiser_id: 'SELECT advertiser_id FROM advertisers ORDER BY advertiser_id DESC',
  offer_id: 'SELECT offer_id, advertiser_id FROM offers ORDER BY offer_id DESC',
  goal_id: 'SELECT goal_id, offer_id FROM goals ORDER BY goal_id DESC',
  conversion_id:
    'SELECT conversion_id, app_id, advertiser_id, offer_id, user_id FROM conversions ORDER BY created_at DESC',
  click_id: 'SELECT click_id, app_id, offer_id, user_id FROM clicks ORDER BY click_id DESC',
  user_id: 'SELECT user_id, app_id FROM conversions ORDER BY created_at DESC',
  locker_id: 'SELECT locker_id, app_id FROM lockers ORDER BY locker_id DESC',
  slug: 'SELECT slug, app_id FROM lockers WHERE slug IS NOT NULL ORDER BY locker_id DESC',
  ticket_id: 'SELECT ticket_id, app_id FROM tickets ORDER BY ticket_id DESC',
  message_id: 'SELECT message_id, ticket_id, app_id FROM ticket_messages JOIN tickets USING (ticket_id) ORDER BY message_id DESC', // prettier-ignore
  postback_id: 'SELECT postback_id, app_id FROM postbacks ORDER BY postback_id DESC',
  test_id: 'SELECT test_id, app_id FROM postbacks WHERE test_id IS NOT NULL ORDER BY postback_id DESC',
  replay_id: 'SELECT replay_id, app_id FROM postback_replays ORDER BY replay_id DESC',
  feed_id: 'SELECT feed_id FROM feeds ORDER BY feed_id DESC',
  feed_run_id: 'SELECT run_id AS feed_run_id, feed_id FROM feed_runs ORDER BY run_id DESC',
  run_id: 'SELECT run_id FROM payment_runs ORDER BY run_id DESC',
  posting_id: 'SELECT posting_id FROM ledger_entries WHERE conversion_id IS NULL ORDER BY entry_id DESC',
  proposal_id: 'SELECT proposal_id, advertiser_id FROM offer_proposals ORDER BY proposal_id DESC',
  import_id: "SELECT subject AS import_id FROM audit_log WHERE action LIKE '%import%' ORDER BY audit_id DESC",
  ban_id: 'SELECT ban_id FROM banned_users ORDER BY ban_id DESC',
  inbound_id: 'SELECT inbound_id, advertiser_id FROM inbound_calls ORDER BY inbound_id DESC',
  request_id: 'SELECT request_id, app_id FROM api_requests ORDER BY logged_id DESC',
  invitation_id: 'SELECT invitation_id, publisher_id, advertiser_id FROM invitations ORDER BY invitation_id DESC',
  token_id: 'SELECT token_id FROM access_tokens ORDER BY token_id DESC',
}

export type Row = Record<string, string>

export class Ids {
  readonly #rows = new Map<string, Row[]>()

  async refresh(db: Db): Promise<void> {
    for (const [name, source] of Object.entries(SOURCES)) {
      const { rows } = await sql<Record<string, unknown>>`${sql.raw(source)} LIMIT ${sql.lit(MOST)}`.execute(db)
      const asText = ([key, value]: [string, unknown]) => (value === null ? [] : [[key, String(value)]])
      this.#rows.set(name, rows.map((row) => Object.fromEntries(Object.entries(row).flatMap(asText)) as Row)) // prettier-ignore
    }
  }

  rows(name: string): readonly Row[] {
    return this.#rows.get(name) ?? []
  }
}
