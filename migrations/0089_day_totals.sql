-- concurrently
-- A year of an app's days from a few pages: in the table each of them is on a page of its own, among those of all others.
CREATE INDEX CONCURRENTLY IF NOT EXISTS stats_days_totals ON stats_days (app_id, day)
  INCLUDE (clicks, pending, approved, rejected, reversed, payout_micros, local_steps) WHERE dims = 0;
