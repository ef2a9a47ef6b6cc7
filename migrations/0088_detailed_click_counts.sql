-- concurrently
-- Where the oldest counts are that still have their sub-IDs.
CREATE INDEX CONCURRENTLY IF NOT EXISTS click_counts_detailed ON click_counts (quarter) WHERE NOT is_compact;
