-- Statistics of the whole network, for operators: by device as well, with revenue, and by month, so that a year of
-- offers or apps is read from twelve sums of each and not from a sum for each day.
--
-- Everything is summed up anew by the worker, from clicks, from what is left of dropped clicks, and from conversions;
-- until it is done, figures are right, and slower. The new columns have no defaults, so a worker of the version before,
-- which knows nothing of them, cannot add rows without them.
SELECT pg_advisory_xact_lock(267583497); -- that of rolling up: a worker that does so now ends first
TRUNCATE stats_quarters, stats_days, stats_deltas;
UPDATE stats_rollup SET through = '2000-01-01Z';

-- What is left of dropped clicks knows their device from now on. Null: it is not known.
ALTER TABLE click_counts ADD device text;

-- Rows of app 0 are the sums of all apps.
ALTER TABLE stats_quarters ADD revenue_micros bigint NOT NULL;

-- dims adds up 1 for by offer, 2 for by country, 4 for by device. Devices, like countries: '*': all; '': not known.
ALTER TABLE stats_days ADD device text NOT NULL, ADD revenue_micros bigint NOT NULL,
  DROP CONSTRAINT stats_days_pkey, ADD PRIMARY KEY (app_id, dims, day, offer_id, country, device);
DROP INDEX stats_days_totals;
CREATE INDEX stats_days_totals ON stats_days (app_id, day)
  INCLUDE (clicks, pending, approved, rejected, reversed, payout_micros, local_steps, converted_clicks, click_payout_micros, revenue_micros) WHERE dims = 0;

-- The same by month: of all days that were over when `through` passed them.
CREATE TABLE stats_months (
  app_id         bigint NOT NULL,
  dims           smallint NOT NULL,
  month          date NOT NULL,                                           -- its first day
  offer_id       bigint NOT NULL,
  country        text NOT NULL,
  device         text NOT NULL,
  clicks         bigint NOT NULL,
  pending        bigint NOT NULL,
  approved       bigint NOT NULL,
  rejected       bigint NOT NULL,
  reversed       bigint NOT NULL,
  payout_micros  bigint NOT NULL,
  local_steps    numeric NOT NULL,
  converted_clicks bigint NOT NULL,
  click_payout_micros bigint NOT NULL,
  revenue_micros bigint NOT NULL,
  PRIMARY KEY (app_id, dims, month, offer_id, country, device)
);

ALTER TABLE stats_deltas ADD device text, ADD revenue_micros bigint NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION note_stats_delta() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps,
      converted_clicks, click_payout_micros, device, revenue_micros)
    VALUES (OLD.app_id, OLD.created_at, OLD.offer_id, OLD.country,
      -(OLD.status = 'pending')::integer, -(OLD.status = 'approved')::integer, -(OLD.status = 'rejected')::integer,
      -(OLD.status = 'reversed')::integer, CASE OLD.status WHEN 'approved' THEN -OLD.payout_micros ELSE 0 END,
      CASE OLD.status WHEN 'approved' THEN -div(OLD.payout_micros::numeric * OLD.rate_micros, 100000000) ELSE 0 END,
      CASE WHEN OLD.status <> 'rejected' AND OLD.nth_of_click < 2 AND OLD.click_id IS NOT NULL THEN -1 ELSE 0 END,
      CASE WHEN OLD.status = 'approved' AND OLD.nth_of_click IS NOT NULL AND OLD.click_id IS NOT NULL THEN -OLD.payout_micros ELSE 0 END,
      OLD.device, CASE OLD.status WHEN 'approved' THEN -OLD.revenue_micros ELSE 0 END);
  END IF;
  INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps,
    converted_clicks, click_payout_micros, device, revenue_micros)
  VALUES (NEW.app_id, NEW.created_at, NEW.offer_id, NEW.country,
    (NEW.status = 'pending')::integer, (NEW.status = 'approved')::integer, (NEW.status = 'rejected')::integer,
    (NEW.status = 'reversed')::integer, CASE NEW.status WHEN 'approved' THEN NEW.payout_micros ELSE 0 END,
    CASE NEW.status WHEN 'approved' THEN div(NEW.payout_micros::numeric * NEW.rate_micros, 100000000) ELSE 0 END,
    CASE WHEN NEW.status <> 'rejected' AND NEW.nth_of_click < 2 AND NEW.click_id IS NOT NULL THEN 1 ELSE 0 END,
    CASE WHEN NEW.status = 'approved' AND NEW.nth_of_click IS NOT NULL AND NEW.click_id IS NOT NULL THEN NEW.payout_micros ELSE 0 END,
    NEW.device, CASE NEW.status WHEN 'approved' THEN NEW.revenue_micros ELSE 0 END);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER conversions_moved_late AFTER UPDATE ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < clock_timestamp() - interval '1 minute'
    AND (OLD.status, OLD.country, OLD.payout_micros, OLD.rate_micros, OLD.nth_of_click, OLD.click_id, OLD.device, OLD.revenue_micros)
      IS DISTINCT FROM (NEW.status, NEW.country, NEW.payout_micros, NEW.rate_micros, NEW.nth_of_click, NEW.click_id, NEW.device, NEW.revenue_micros))
  EXECUTE FUNCTION note_stats_delta();

CREATE OR REPLACE FUNCTION note_late_click() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stats_deltas (app_id, at, offer_id, country, device, clicks)
  VALUES (NEW.app_id, NEW.clicked_at, NEW.offer_id, NEW.country, NEW.device, 1);
  RETURN NULL;
END $$;
