-- concurrently
-- From a request to what it did. A call of an advertiser has its own ID in that of its request, and so does a click.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversion_events_request ON conversion_events (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_request ON audit_log (request_id) WHERE request_id IS NOT NULL;
