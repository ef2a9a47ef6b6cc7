-- concurrently
-- Entries by their time. A BRIN index has no summaries of the newest pages until they are vacuumed, so that whatever asked
-- for the last days read everything since.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_entries_at ON ledger_entries (created_at);
DROP INDEX CONCURRENTLY IF EXISTS ledger_entries_time;
