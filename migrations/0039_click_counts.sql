-- concurrently
-- What is left of dropped clicks, by time: for rolling it up.
CREATE INDEX CONCURRENTLY IF NOT EXISTS click_counts_quarter ON click_counts (quarter);
