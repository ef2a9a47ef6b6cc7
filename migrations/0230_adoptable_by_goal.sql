-- concurrently
-- Repeatable conversions of a user that wait for the other side's word, by goal and by what they wait for: many of one kind
-- must not hide another.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_unreported ON conversions (app_id, user_id, offer_id, goal_id, is_test, conversion_id)
  WHERE is_repeatable AND status IN ('pending', 'approved') AND publisher_transaction_id IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_unconfirmed_repeats ON conversions (app_id, user_id, offer_id, goal_id, is_test, conversion_id)
  WHERE is_repeatable AND status IN ('pending', 'approved') AND advertiser_transaction_id IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS conversions_adoptable;
