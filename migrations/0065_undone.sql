-- concurrently
-- What was refused or taken back and may still decide what comes next: of what is done once, the last ones; of what repeats,
-- those of a transaction; and always what is over for good. Many refusals of one kind must not hide another.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_undone_once ON conversions (app_id, user_id, offer_id, conversion_id)
  WHERE status IN ('rejected', 'reversed') AND NOT is_repeatable;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_over ON conversions (app_id, user_id, offer_id, conversion_id) WHERE bars_redo;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_refused_report
  ON conversions (app_id, user_id, offer_id, publisher_transaction_id, conversion_id)
  WHERE status = 'rejected' AND is_repeatable AND publisher_transaction_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS conversions_user_undone;
