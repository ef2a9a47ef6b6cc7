-- concurrently
-- What waits behind an earlier event: nearly nothing, so that looking for it after every delivery costs nearly nothing.
CREATE INDEX CONCURRENTLY IF NOT EXISTS postback_queue_behind ON postback_queue (conversion_id, sequence) WHERE state = 'behind';
