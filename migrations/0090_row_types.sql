-- What is written in groups comes as one array of rows. An array a column costs PostgreSQL twice as much, JSON three times.
--
-- None of these is ever changed: a program of before would send too few values. A row of more is another type.

CREATE TYPE click_row AS (
  click_id uuid, clicked_at timestamptz, app_id bigint, is_test boolean, user_id text, offer_id bigint, terms_id bigint,
  currency text, rate_micros bigint, share_ppm integer, request_id text, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  ip inet, country text, device text, os text, signals text[]
);

CREATE TYPE conversion_row AS (
  conversion_id uuid, app_id bigint, publisher_id bigint, advertiser_id bigint, offer_id bigint, goal_id bigint, user_id text,
  is_test boolean, is_repeatable boolean, is_first_goal boolean, source text, created_at timestamptz,
  status text, status_reason text, publisher_transaction_id text, advertiser_transaction_id text, payout_micros bigint,
  revenue_micros bigint, currency text, rate_micros bigint, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  click_id uuid, click_at timestamptz, ip inet, country text, device text, confirmed_at timestamptz, hold_until timestamptz,
  approved_at timestamptz, rejected_at timestamptz, reversed_at timestamptz, sequence integer, event_id uuid, actor text,
  terms_id bigint, share_ppm integer, told_at timestamptz, confirm_by timestamptz, bars_redo boolean, is_unconfirmed boolean,
  signals text[]
);

CREATE TYPE ledger_line AS (
  posting_id uuid, kind text, account text, party_id bigint, amount_micros bigint, conversion_id uuid, reference text,
  voids uuid, reason text, created_at timestamptz
);

-- What came of sending a postback, but for the request and its answer: such long texts come apart.
CREATE TYPE postback_result AS (
  app_id bigint, postback_id uuid, claim_id uuid, wait_ms float8, status integer, error text, attempt_id uuid, attempt integer,
  started_at timestamptz, duration_ms integer, ok boolean, phase text, remote_address inet
);

-- The same of rows. The one of JSON stays for processes of the version before, which may run beside this one.
CREATE FUNCTION add_clicks(batch click_row[], offers bigint[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE capped bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(267583492);
  SELECT array_agg(o.offer_id) INTO capped FROM offers o WHERE o.offer_id = ANY (add_clicks.offers) AND o.is_capped;
  INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, share_ppm, request_id,
      aff_sub, aff_sub2, aff_sub3, aff_sub4, ip, country, device, os, signals)
    SELECT c.* FROM unnest(batch) c WHERE capped IS NULL OR c.is_test OR c.offer_id <> ALL (capped) ON CONFLICT DO NOTHING;
  IF capped IS NOT NULL THEN
    RETURN QUERY SELECT c.click_id FROM unnest(batch) c WHERE NOT c.is_test AND c.offer_id = ANY (capped);
  END IF;
END $$;

-- The longest time that the terms of these offers leave between a click and its completion, in seconds; null without terms.
-- A function, because its statement is planned once for each connection.
CREATE FUNCTION longest_attribution(offers bigint[]) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT max(longest.attribution_s) FROM unnest(offers) AS one (offer_id) CROSS JOIN LATERAL (
    SELECT attribution_s FROM terms WHERE terms.offer_id = one.offer_id ORDER BY offer_id DESC, attribution_s DESC LIMIT 1) AS longest);
END $$;
