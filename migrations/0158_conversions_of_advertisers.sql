-- concurrently
-- An advertiser's people list their own conversions, however few these are among all.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_advertiser ON conversions (advertiser_id, is_test, conversion_id);
