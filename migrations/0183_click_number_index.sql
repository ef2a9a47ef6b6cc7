-- concurrently
-- Day by day, each in a transaction of its own, so that no day is locked for longer than it takes to read it. A BRIN index
-- would be smaller, but PostgreSQL reads the whole day in its place.
DO $$ DECLARE day regclass; BEGIN FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'clicks'::regclass ORDER BY 1 LOOP EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %s (click_no) WHERE click_no IS NOT NULL', day || '_click_no_idx', day); COMMIT; END LOOP; END $$;
-- Takes those over, and is in every day to come.
CREATE INDEX IF NOT EXISTS clicks_no ON clicks (click_no) WHERE click_no IS NOT NULL;
