-- Conversion rate and EPC compare clicks with conversions of the same clicks: not of bots, and not reported without a
-- click. A conversion keeps which one of its click it is, because its click is dropped long before it.
ALTER TABLE conversions ADD nth_of_click smallint DEFAULT 0;             -- 1: the first of a click that counts; 2: a further one; null: of none; 0: from before this column, it counts where it has a click

-- Never changed: a program of before sends rows of conversion_row.
CREATE TYPE clicked_conversion_row AS (
  conversion_id uuid, app_id bigint, publisher_id bigint, advertiser_id bigint, offer_id bigint, goal_id bigint, user_id text,
  is_test boolean, is_repeatable boolean, is_first_goal boolean, source text, created_at timestamptz,
  status text, status_reason text, publisher_transaction_id text, advertiser_transaction_id text, payout_micros bigint,
  revenue_micros bigint, currency text, rate_micros bigint, aff_sub text, aff_sub2 text, aff_sub3 text, aff_sub4 text,
  click_id uuid, click_at timestamptz, ip inet, country text, device text, confirmed_at timestamptz, hold_until timestamptz,
  approved_at timestamptz, rejected_at timestamptz, reversed_at timestamptz, sequence integer, event_id uuid, actor text,
  terms_id bigint, share_ppm integer, told_at timestamptz, confirm_by timestamptz, bars_redo boolean, is_unconfirmed boolean,
  signals text[], nth_of_click smallint
);

-- Everything is rolled up again by the worker, a day at a time; until then figures are counted from the rows.
TRUNCATE stats_quarters, stats_days, stats_deltas;
UPDATE stats_rollup SET through = '2000-01-01Z';
ALTER TABLE stats_quarters
  ADD converted_clicks bigint NOT NULL DEFAULT 0,                        -- clicks with a conversion that is not rejected
  ADD click_payout_micros bigint NOT NULL DEFAULT 0;                     -- of approved conversions of clicks that count
ALTER TABLE stats_days ADD converted_clicks bigint NOT NULL DEFAULT 0, ADD click_payout_micros bigint NOT NULL DEFAULT 0;
DROP INDEX stats_days_totals;
CREATE INDEX stats_days_totals ON stats_days (app_id, day)
  INCLUDE (clicks, pending, approved, rejected, reversed, payout_micros, local_steps, converted_clicks, click_payout_micros) WHERE dims = 0;
ALTER TABLE stats_deltas ADD converted_clicks bigint NOT NULL DEFAULT 0, ADD click_payout_micros bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION note_stats_delta() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps,
      converted_clicks, click_payout_micros)
    VALUES (OLD.app_id, OLD.created_at, OLD.offer_id, OLD.country,
      -(OLD.status = 'pending')::integer, -(OLD.status = 'approved')::integer, -(OLD.status = 'rejected')::integer,
      -(OLD.status = 'reversed')::integer, CASE OLD.status WHEN 'approved' THEN -OLD.payout_micros ELSE 0 END,
      CASE OLD.status WHEN 'approved' THEN -div(OLD.payout_micros::numeric * OLD.rate_micros, 100000000) ELSE 0 END,
      CASE WHEN OLD.status <> 'rejected' AND OLD.nth_of_click < 2 AND OLD.click_id IS NOT NULL THEN -1 ELSE 0 END,
      CASE WHEN OLD.status = 'approved' AND OLD.nth_of_click IS NOT NULL AND OLD.click_id IS NOT NULL THEN -OLD.payout_micros ELSE 0 END);
  END IF;
  INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps,
    converted_clicks, click_payout_micros)
  VALUES (NEW.app_id, NEW.created_at, NEW.offer_id, NEW.country,
    (NEW.status = 'pending')::integer, (NEW.status = 'approved')::integer, (NEW.status = 'rejected')::integer,
    (NEW.status = 'reversed')::integer, CASE NEW.status WHEN 'approved' THEN NEW.payout_micros ELSE 0 END,
    CASE NEW.status WHEN 'approved' THEN div(NEW.payout_micros::numeric * NEW.rate_micros, 100000000) ELSE 0 END,
    CASE WHEN NEW.status <> 'rejected' AND NEW.nth_of_click < 2 AND NEW.click_id IS NOT NULL THEN 1 ELSE 0 END,
    CASE WHEN NEW.status = 'approved' AND NEW.nth_of_click IS NOT NULL AND NEW.click_id IS NOT NULL THEN NEW.payout_micros ELSE 0 END);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER conversions_moved_late AFTER UPDATE ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < clock_timestamp() - interval '1 minute'
    AND (OLD.status, OLD.country, OLD.payout_micros, OLD.rate_micros, OLD.nth_of_click, OLD.click_id)
      IS DISTINCT FROM (NEW.status, NEW.country, NEW.payout_micros, NEW.rate_micros, NEW.nth_of_click, NEW.click_id))
  EXECUTE FUNCTION note_stats_delta();
