-- concurrently
-- What a conversion posts without an event, such as another amount while it is pending, is found by the conversion: no
-- time of the conversion says when that was. These are few; the others are found by their time.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_entries_corrections ON ledger_entries (conversion_id)
  WHERE kind = 'conversion' AND reference IS NOT NULL;
