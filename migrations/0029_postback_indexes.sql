-- concurrently
-- Delivering a postback for the first time changes no column that an index has, so that its row stays where it is (HOT):
-- what failed is found by its error. The events of a conversion are found by conversion_events, which have the same ids.
CREATE INDEX CONCURRENTLY IF NOT EXISTS postbacks_failed ON postbacks (app_id, postback_id) WHERE last_error IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS postbacks_dead;
DROP INDEX CONCURRENTLY IF EXISTS postbacks_conversion;
