-- Old unlocks, proofs and reports of lockers are deleted. Unlocks are counted before: kept by the database, with each.
ALTER TABLE lockers ADD unlocks bigint NOT NULL DEFAULT 0;     -- live ones
UPDATE lockers l SET unlocks = u.n FROM (SELECT locker_id, count(*) AS n FROM locker_unlocks WHERE NOT is_test GROUP BY locker_id) u
  WHERE u.locker_id = l.locker_id;

CREATE FUNCTION count_unlock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE lockers SET unlocks = unlocks + 1 WHERE locker_id = NEW.locker_id;
  RETURN NULL;
END $$;
CREATE TRIGGER count_unlock AFTER INSERT ON locker_unlocks FOR EACH ROW WHEN (NOT NEW.is_test) EXECUTE FUNCTION count_unlock();

-- Stays when its unlock is deleted: each conversion unlocks once, for good.
ALTER TABLE locker_unlock_conversions DROP CONSTRAINT locker_unlock_conversions_unlock_id_fkey;

ALTER TABLE locker_proofs DROP CONSTRAINT locker_proofs_unlock_id_fkey;
ALTER TABLE locker_proofs ADD FOREIGN KEY (unlock_id) REFERENCES locker_unlocks ON DELETE CASCADE;

CREATE INDEX locker_unlocks_expires ON locker_unlocks (expires_at);
CREATE INDEX locker_proofs_expires ON locker_proofs (expires_at) WHERE redeemed_at IS NULL;
CREATE INDEX locker_reports_closed ON locker_reports (closed_at) WHERE closed_at IS NOT NULL;
