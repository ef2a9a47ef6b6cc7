-- Statistics are rolled up every five minutes, three minutes after their time, instead of by the hour, so that only a few
-- minutes are counted from the rows. `through` is therefore no longer a full hour: the day and the quarter of an hour in
-- which it lies are rolled up as far as it goes.

-- Differences know the time of their row, which may lie before or after `through` within one quarter of an hour. Those that
-- are there already keep the beginning of theirs: everything of it is rolled up with the next step.
ALTER TABLE stats_deltas RENAME COLUMN quarter TO at;

-- A conversion's change, as a difference. What is younger than a minute when it is written is rolled up no sooner than two
-- minutes later, and no transaction lasts that long.
CREATE OR REPLACE FUNCTION note_stats_delta() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps)
    VALUES (OLD.app_id, OLD.created_at, OLD.offer_id, OLD.country,
      -(OLD.status = 'pending')::integer, -(OLD.status = 'approved')::integer, -(OLD.status = 'rejected')::integer,
      -(OLD.status = 'reversed')::integer, CASE OLD.status WHEN 'approved' THEN -OLD.payout_micros ELSE 0 END,
      CASE OLD.status WHEN 'approved' THEN -div(OLD.payout_micros::numeric * OLD.rate_micros, 100000000) ELSE 0 END);
  END IF;
  INSERT INTO stats_deltas (app_id, at, offer_id, country, pending, approved, rejected, reversed, payout_micros, local_steps)
  VALUES (NEW.app_id, NEW.created_at, NEW.offer_id, NEW.country,
    (NEW.status = 'pending')::integer, (NEW.status = 'approved')::integer, (NEW.status = 'rejected')::integer,
    (NEW.status = 'reversed')::integer, CASE NEW.status WHEN 'approved' THEN NEW.payout_micros ELSE 0 END,
    CASE NEW.status WHEN 'approved' THEN div(NEW.payout_micros::numeric * NEW.rate_micros, 100000000) ELSE 0 END);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER conversions_made_late AFTER INSERT ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < clock_timestamp() - interval '1 minute') EXECUTE FUNCTION note_stats_delta();
CREATE OR REPLACE TRIGGER conversions_moved_late AFTER UPDATE ON conversions FOR EACH ROW
  WHEN (NOT NEW.is_test AND NEW.created_at < clock_timestamp() - interval '1 minute'
    AND (OLD.status, OLD.country, OLD.payout_micros, OLD.rate_micros) IS DISTINCT FROM (NEW.status, NEW.country, NEW.payout_micros, NEW.rate_micros))
  EXECUTE FUNCTION note_stats_delta();

-- The same for clicks: out of the spool, or of a machine whose clock is behind.
CREATE FUNCTION note_late_click() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stats_deltas (app_id, at, offer_id, country, clicks) VALUES (NEW.app_id, NEW.clicked_at, NEW.offer_id, NEW.country, 1);
  RETURN NULL;
END $$;
CREATE TRIGGER clicks_made_late AFTER INSERT ON clicks FOR EACH ROW
  WHEN (NEW.clicked_at < clock_timestamp() - interval '1 minute' AND NOT NEW.is_test AND ('bot' = ANY (NEW.signals)) IS NOT TRUE)
  EXECUTE FUNCTION note_late_click();
