-- How an app rewards its users: rounding, a sale, and what its users are shown and may do.
ALTER TABLE apps
  ADD rounding            text CHECK (rounding ~ '^(down|nearest|up)[0-4]$'), -- and to how many decimals; null: down to four
  ADD min_reward_steps    bigint CHECK (min_reward_steps > 0),            -- offers with a lower reward are not shown
  ADD sale_multiplier_ppm integer CHECK (sale_multiplier_ppm > 1000000),  -- of every reward, while the sale lasts
  ADD sale_starts_at      timestamptz,
  ADD sale_ends_at        timestamptz CHECK (sale_ends_at > sale_starts_at),
  ADD welcome_offer_id    bigint REFERENCES offers,                       -- comes first for users without a conversion
  ADD daily_limit         integer CHECK (daily_limit > 0),                -- completions of a user, each day of UTC
  ADD CHECK (num_nulls(sale_multiplier_ppm, sale_starts_at, sale_ends_at) IN (0, 3));

-- Frozen with the promise. rate_micros is the rate that counts, with the sale in it; multiplier_ppm says what the sale was.
ALTER TABLE clicks ADD rounding text, ADD multiplier_ppm integer;         -- null: down to four decimals; no sale
ALTER TABLE conversions ADD rounding text, ADD multiplier_ppm integer;
ALTER TABLE conversion_events ADD rounding text, ADD multiplier_ppm integer;

-- Without a subquery, so that PostgreSQL puts it in place of each call.
CREATE OR REPLACE FUNCTION reward_steps(payout_micros bigint, rate_micros bigint, rounding text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN rounding IS NULL THEN div(payout_micros::numeric * rate_micros, 100000000)
    ELSE div(payout_micros::numeric * rate_micros + CASE left(rounding, -1)
        WHEN 'up' THEN (ARRAY[1000000000000, 100000000000, 10000000000, 1000000000, 100000000])[right(rounding, 1)::integer + 1] - 1
        WHEN 'nearest' THEN (ARRAY[1000000000000, 100000000000, 10000000000, 1000000000, 100000000])[right(rounding, 1)::integer + 1] / 2 ELSE 0 END,
      (ARRAY[1000000000000, 100000000000, 10000000000, 1000000000, 100000000])[right(rounding, 1)::integer + 1])
      * ((ARRAY[1000000000000, 100000000000, 10000000000, 1000000000, 100000000])[right(rounding, 1)::integer + 1] / 100000000) END
$$;

-- None of these is ever changed: see 0090_row_types.sql.
CREATE TYPE rewarded_click_row AS (
  click_id uuid, clicked_at timestamptz, app_id bigint, is_test boolean, user_id text, offer_id bigint, terms_id bigint,
  currency text, rate_micros bigint, share_ppm integer, request_id text, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  ip inet, country text, device text, os text, signals text[],
  rounding text, multiplier_ppm integer
);

CREATE TYPE rewarded_conversion_row AS (
  conversion_id uuid, app_id bigint, publisher_id bigint, advertiser_id bigint, offer_id bigint, goal_id bigint, user_id text,
  is_test boolean, is_repeatable boolean, is_first_goal boolean, source text, created_at timestamptz,
  status text, status_reason text, publisher_transaction_id text, advertiser_transaction_id text, payout_micros bigint,
  revenue_micros bigint, currency text, rate_micros bigint, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  click_id uuid, click_at timestamptz, ip inet, country text, device text, confirmed_at timestamptz, hold_until timestamptz,
  approved_at timestamptz, rejected_at timestamptz, reversed_at timestamptz, sequence integer, event_id uuid, actor text,
  terms_id bigint, share_ppm integer, told_at timestamptz, confirm_by timestamptz, bars_redo boolean, is_unconfirmed boolean,
  signals text[], nth_of_click smallint, rounding text, multiplier_ppm integer
);

CREATE FUNCTION add_clicks(batch rewarded_click_row[], offers bigint[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE capped bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(267583492);
  SELECT array_agg(o.offer_id) INTO capped FROM offers o WHERE o.offer_id = ANY (add_clicks.offers) AND o.is_capped;
  INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, share_ppm, request_id,
      aff_sub, aff_sub2, aff_sub3, aff_sub4, ip, country, device, os, signals, rounding, multiplier_ppm)
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
      c.approved_at, c.rejected_at, c.reversed_at, c.rounding, c.multiplier_ppm
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

CREATE OR REPLACE FUNCTION note_stats_delta() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps,
      converted_clicks, click_payout_micros, device, revenue_micros)
    VALUES (OLD.app_id, OLD.created_at, OLD.offer_id, OLD.country,
      -(OLD.status = 'pending')::integer, -(OLD.status = 'approved')::integer, -(OLD.status = 'rejected')::integer,
      -(OLD.status = 'reversed')::integer, CASE OLD.status WHEN 'approved' THEN -OLD.payout_micros ELSE 0 END,
      CASE OLD.status WHEN 'approved' THEN -reward_steps(OLD.payout_micros, OLD.rate_micros, OLD.rounding) ELSE 0 END,
      CASE WHEN OLD.status <> 'rejected' AND OLD.nth_of_click < 2 AND OLD.click_id IS NOT NULL THEN -1 ELSE 0 END,
      CASE WHEN OLD.status = 'approved' AND OLD.nth_of_click IS NOT NULL AND OLD.click_id IS NOT NULL THEN -OLD.payout_micros ELSE 0 END,
      OLD.device, CASE OLD.status WHEN 'approved' THEN -OLD.revenue_micros ELSE 0 END);
  END IF;
  INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps,
    converted_clicks, click_payout_micros, device, revenue_micros)
  VALUES (NEW.app_id, NEW.created_at, NEW.offer_id, NEW.country,
    (NEW.status = 'pending')::integer, (NEW.status = 'approved')::integer, (NEW.status = 'rejected')::integer,
    (NEW.status = 'reversed')::integer, CASE NEW.status WHEN 'approved' THEN NEW.payout_micros ELSE 0 END,
    CASE NEW.status WHEN 'approved' THEN reward_steps(NEW.payout_micros, NEW.rate_micros, NEW.rounding) ELSE 0 END,
    CASE WHEN NEW.status <> 'rejected' AND NEW.nth_of_click < 2 AND NEW.click_id IS NOT NULL THEN 1 ELSE 0 END,
    CASE WHEN NEW.status = 'approved' AND NEW.nth_of_click IS NOT NULL AND NEW.click_id IS NOT NULL THEN NEW.payout_micros ELSE 0 END,
    NEW.device, CASE NEW.status WHEN 'approved' THEN NEW.revenue_micros ELSE 0 END);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER conversions_moved_late AFTER UPDATE ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < clock_timestamp() - interval '1 minute'
    AND (OLD.status, OLD.country, OLD.payout_micros, OLD.rate_micros, OLD.rounding, OLD.nth_of_click, OLD.click_id, OLD.device, OLD.revenue_micros)
      IS DISTINCT FROM (NEW.status, NEW.country, NEW.payout_micros, NEW.rate_micros, NEW.rounding, NEW.nth_of_click, NEW.click_id, NEW.device, NEW.revenue_micros))
  EXECUTE FUNCTION note_stats_delta();

CREATE OR REPLACE FUNCTION keep_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, conversion_id, created_at)
  SELECT c.app_id, c.is_test, c.user_id, 'reward', least(reward_steps(c.payout_micros, c.rate_micros, c.rounding), 9007199254740991),
    c.conversion_id, e.created_at
  FROM added e JOIN apps a ON a.app_id = e.app_id JOIN conversions c ON c.conversion_id = e.conversion_id
  WHERE e.status = 'approved' AND a.keeps_balance AND reward_steps(c.payout_micros, c.rate_micros, c.rounding) > 0;
  INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, conversion_id, created_at)
  SELECT r.app_id, r.is_test, r.user_id, 'reversal', -r.amount_steps, r.conversion_id, e.created_at
  FROM added e JOIN user_entries r ON r.conversion_id = e.conversion_id AND r.kind = 'reward'
  WHERE e.status = 'reversed';
  RETURN NULL;
END $$;
