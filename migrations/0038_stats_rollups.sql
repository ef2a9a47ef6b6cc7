-- Figures of past times, summed up, so that statistics need not read every click and conversion there was.
--
-- Everything before `through` is in the rollups as it was when it was rolled up. What changes later is written beside
-- them in the same transaction, as a difference: rollups and differences together are exact at every moment. From time
-- to time the differences are added to the rollups.

CREATE TABLE stats_rollup (
  through timestamptz NOT NULL                                            -- a full hour; nothing from then on is rolled up
);
CREATE UNIQUE INDEX stats_rollup_one ON stats_rollup ((true));
INSERT INTO stats_rollup VALUES ('2000-01-01Z');

-- In quarters of an hour, in which the days of every time zone can be told.
CREATE TABLE stats_quarters (
  app_id        bigint NOT NULL,
  quarter       timestamptz NOT NULL,
  clicks        bigint NOT NULL,
  pending       bigint NOT NULL,
  approved      bigint NOT NULL,
  rejected      bigint NOT NULL,
  reversed      bigint NOT NULL,
  payout_micros bigint NOT NULL,                                          -- of approved conversions
  local_steps   numeric NOT NULL,                                         -- the same in ten thousandths of the app's currency
  PRIMARY KEY (app_id, quarter)
);

-- In days of UTC: all together, by offer, by country, and by both.
CREATE TABLE stats_days (
  app_id        bigint NOT NULL,
  dims          smallint NOT NULL,                                        -- 1: by offer; 2: by country; 3: by both; 0: by neither
  day           date NOT NULL,
  offer_id      bigint NOT NULL,                                          -- 0: all
  country       text NOT NULL,                                            -- '*': all; '': not known
  clicks        bigint NOT NULL,
  pending       bigint NOT NULL,
  approved      bigint NOT NULL,
  rejected      bigint NOT NULL,
  reversed      bigint NOT NULL,
  payout_micros bigint NOT NULL,
  local_steps   numeric NOT NULL,
  PRIMARY KEY (app_id, dims, day, offer_id, country)
);

CREATE TABLE stats_deltas (
  app_id        bigint NOT NULL,
  quarter       timestamptz NOT NULL,
  offer_id      bigint NOT NULL,
  country       text,
  clicks        bigint NOT NULL DEFAULT 0,
  pending       bigint NOT NULL DEFAULT 0,
  approved      bigint NOT NULL DEFAULT 0,
  rejected      bigint NOT NULL DEFAULT 0,
  reversed      bigint NOT NULL DEFAULT 0,
  payout_micros bigint NOT NULL DEFAULT 0,
  local_steps   numeric NOT NULL DEFAULT 0
);
CREATE INDEX stats_deltas_app ON stats_deltas (app_id, quarter);

-- A conversion's change, as a difference. Only an hour after its end an hour is rolled up, and no transaction lasts for half
-- of one: what is younger than that when it changes is not rolled up before the change is there.
CREATE FUNCTION note_stats_delta() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO stats_deltas (app_id, quarter, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps)
    VALUES (OLD.app_id, date_bin('15 minutes', OLD.created_at, '2000-01-01Z'), OLD.offer_id, OLD.country,
      -(OLD.status = 'pending')::integer, -(OLD.status = 'approved')::integer, -(OLD.status = 'rejected')::integer,
      -(OLD.status = 'reversed')::integer, CASE OLD.status WHEN 'approved' THEN -OLD.payout_micros ELSE 0 END,
      CASE OLD.status WHEN 'approved' THEN -div(OLD.payout_micros::numeric * OLD.rate_micros, 100000000) ELSE 0 END);
  END IF;
  INSERT INTO stats_deltas (app_id, quarter, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps)
  VALUES (NEW.app_id, date_bin('15 minutes', NEW.created_at, '2000-01-01Z'), NEW.offer_id, NEW.country,
    (NEW.status = 'pending')::integer, (NEW.status = 'approved')::integer, (NEW.status = 'rejected')::integer,
    (NEW.status = 'reversed')::integer, CASE NEW.status WHEN 'approved' THEN NEW.payout_micros ELSE 0 END,
    CASE NEW.status WHEN 'approved' THEN div(NEW.payout_micros::numeric * NEW.rate_micros, 100000000) ELSE 0 END);
  RETURN NULL;
END $$;
CREATE TRIGGER conversions_made_late AFTER INSERT ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < now() - interval '30 minutes') EXECUTE FUNCTION note_stats_delta();
CREATE TRIGGER conversions_moved_late AFTER UPDATE ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < now() - interval '30 minutes'
    AND (OLD.status, OLD.country, OLD.payout_micros, OLD.rate_micros) IS DISTINCT FROM (NEW.status, NEW.country, NEW.payout_micros, NEW.rate_micros))
  EXECUTE FUNCTION note_stats_delta();
