-- concurrently
ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_kind_check;
ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_reason_check;
-- A posting is voided once.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ledger_entries_voids ON ledger_entries (voids, account, party_id)
  WHERE voids IS NOT NULL;
-- Payments and adjustments are few among the entries of conversions: found by their id, and listed newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_entries_posting ON ledger_entries (posting_id) WHERE kind <> 'conversion';
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_entries_movements ON ledger_entries (entry_id)
  WHERE kind <> 'conversion' AND party_id <> 0;
