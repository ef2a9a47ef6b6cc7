-- concurrently
-- Repeatable conversions of a user that wait for the other side's word: a user may have very many conversions.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_adoptable ON conversions (app_id, user_id, offer_id, conversion_id)
  WHERE is_repeatable AND status IN ('pending', 'approved') AND (publisher_transaction_id IS NULL OR advertiser_transaction_id IS NULL);
