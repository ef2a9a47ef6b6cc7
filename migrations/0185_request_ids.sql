-- The request that caused an event or an entry of the audit log. Null: it was no request but the time, or the command
-- line; or it was before this. The program names the requests of a batch in `offerdeck.requests`, by event_id, for the
-- transaction; nodes of before do not.
ALTER TABLE conversion_events ADD request_id text;
ALTER TABLE audit_log ADD request_id text;

CREATE OR REPLACE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  requests jsonb := nullif(current_setting('offerdeck.requests', true), '');
BEGIN
  WITH kept AS (
    INSERT INTO conversion_events
    SELECT c.conversion_id, c.sequence, c.event_id, c.app_id, c.is_test, c.actor,
      coalesce(c.reversed_at, c.rejected_at, c.approved_at, c.created_at), c.status, c.status_reason,
      c.publisher_transaction_id, c.payout_micros, c.revenue_micros, c.currency, c.rate_micros,
      c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4, c.click_id, c.click_at, c.ip, c.country, c.device, c.hold_until,
      c.approved_at, c.rejected_at, c.reversed_at, c.rounding, c.multiplier_ppm, c.locker_id, requests ->> c.event_id::text
    FROM changed c
    ON CONFLICT DO NOTHING -- an update that is no move has kept its sequence
    RETURNING conversion_id, sequence, app_id, is_test, event_id, status, created_at
  ), queued AS (
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, due_at, created_at)
    SELECT k.event_id, k.app_id, k.is_test, k.conversion_id, k.sequence, k.status, 'queued', k.created_at, k.created_at
    FROM kept k JOIN postback_settings s ON s.app_id = k.app_id AND k.status = ANY (s.events)
  )
  INSERT INTO waiting_events (conversion_id, sequence, app_id, is_test)
  SELECT conversion_id, sequence, app_id, is_test FROM kept;
  RETURN NULL;
END $$;
