-- Clicks through a locker carry its ID, and so does what they lead to.
ALTER TABLE clicks ADD locker_id bigint;            -- null: not through a locker
ALTER TABLE conversions ADD locker_id bigint;
ALTER TABLE conversion_events ADD locker_id bigint;
ALTER TABLE click_counts ADD locker_id bigint;

-- None of these is ever changed: see 0090_row_types.sql.
CREATE TYPE locker_click_row AS (
  click_id uuid, clicked_at timestamptz, app_id bigint, is_test boolean, user_id text, offer_id bigint, terms_id bigint,
  currency text, rate_micros bigint, share_ppm integer, request_id text, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  ip inet, country text, device text, os text, signals text[],
  rounding text, multiplier_ppm integer, locker_id bigint
);

CREATE TYPE locker_conversion_row AS (
  conversion_id uuid, app_id bigint, publisher_id bigint, advertiser_id bigint, offer_id bigint, goal_id bigint, user_id text,
  is_test boolean, is_repeatable boolean, is_first_goal boolean, source text, created_at timestamptz,
  status text, status_reason text, publisher_transaction_id text, advertiser_transaction_id text, payout_micros bigint,
  revenue_micros bigint, currency text, rate_micros bigint, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  click_id uuid, click_at timestamptz, ip inet, country text, device text, confirmed_at timestamptz, hold_until timestamptz,
  approved_at timestamptz, rejected_at timestamptz, reversed_at timestamptz, sequence integer, event_id uuid, actor text,
  terms_id bigint, share_ppm integer, told_at timestamptz, confirm_by timestamptz, bars_redo boolean, is_unconfirmed boolean,
  signals text[], nth_of_click smallint, rounding text, multiplier_ppm integer, locker_id bigint
);

CREATE FUNCTION add_clicks(batch locker_click_row[], offers bigint[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE capped bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(267583492);
  SELECT array_agg(o.offer_id) INTO capped FROM offers o WHERE o.offer_id = ANY (add_clicks.offers) AND o.is_capped;
  INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, share_ppm, request_id,
      aff_sub, aff_sub2, aff_sub3, aff_sub4, ip, country, device, os, signals, rounding, multiplier_ppm, locker_id)
    SELECT c.* FROM unnest(batch) c WHERE capped IS NULL OR c.is_test OR c.offer_id <> ALL (capped) ON CONFLICT DO NOTHING;
  IF capped IS NOT NULL THEN
    RETURN QUERY SELECT c.click_id FROM unnest(batch) c WHERE NOT c.is_test AND c.offer_id = ANY (capped);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION check_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'A conversion is never deleted.' USING ERRCODE = 'OD001'; END IF;
  IF TG_OP = 'INSERT' THEN
    RAISE EXCEPTION 'A conversion begins as pending, approved or rejected.' USING ERRCODE = 'OD001';
  END IF;
  IF (NEW.conversion_id, NEW.app_id, NEW.publisher_id, NEW.advertiser_id, NEW.offer_id, NEW.goal_id, NEW.user_id, NEW.is_test, NEW.is_repeatable, NEW.created_at)
    IS DISTINCT FROM (OLD.conversion_id, OLD.app_id, OLD.publisher_id, OLD.advertiser_id, OLD.offer_id, OLD.goal_id, OLD.user_id, OLD.is_test, OLD.is_repeatable, OLD.created_at)
  THEN RAISE EXCEPTION 'A conversion stays what it is of.' USING ERRCODE = 'OD001'; END IF;
  IF OLD.status <> 'pending' AND (NEW.payout_micros, NEW.revenue_micros, NEW.rate_micros, NEW.currency, NEW.rounding, NEW.multiplier_ppm)
    IS DISTINCT FROM (OLD.payout_micros, OLD.revenue_micros, OLD.rate_micros, OLD.currency, OLD.rounding, OLD.multiplier_ppm)
  THEN RAISE EXCEPTION 'The worth of a conversion is settled once it is no longer pending.' USING ERRCODE = 'OD001'; END IF;
  IF OLD.status <> 'pending' AND OLD.locker_id IS NOT NULL AND NEW.locker_id IS DISTINCT FROM OLD.locker_id
  THEN RAISE EXCEPTION 'The locker of a conversion is settled once it is no longer pending.' USING ERRCODE = 'OD001'; END IF;
  IF NEW.status = OLD.status THEN
    IF NEW.sequence <> OLD.sequence OR NEW.event_id <> OLD.event_id THEN
      RAISE EXCEPTION 'A conversion that stays % has no new event.', OLD.status USING ERRCODE = 'OD001';
    END IF;
  ELSIF (OLD.status, NEW.status) NOT IN (('pending', 'approved'), ('pending', 'rejected'), ('approved', 'reversed')) THEN
    RAISE EXCEPTION 'A conversion cannot go from % to %.', OLD.status, NEW.status USING ERRCODE = 'OD001';
  ELSIF NEW.sequence <> OLD.sequence + 1 OR NEW.event_id = OLD.event_id THEN
    RAISE EXCEPTION 'Every move has an event of its own.' USING ERRCODE = 'OD001';
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH kept AS (
    INSERT INTO conversion_events
    SELECT c.conversion_id, c.sequence, c.event_id, c.app_id, c.is_test, c.actor,
      coalesce(c.reversed_at, c.rejected_at, c.approved_at, c.created_at), c.status, c.status_reason,
      c.publisher_transaction_id, c.payout_micros, c.revenue_micros, c.currency, c.rate_micros,
      c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4, c.click_id, c.click_at, c.ip, c.country, c.device, c.hold_until,
      c.approved_at, c.rejected_at, c.reversed_at, c.rounding, c.multiplier_ppm, c.locker_id
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
