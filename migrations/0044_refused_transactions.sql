-- concurrently
-- What an advertiser refused of a user, by its transaction: any number of users may have been refused under the same one.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_refused
  ON conversions (app_id, user_id, offer_id, advertiser_transaction_id, conversion_id)
  WHERE status = 'rejected' AND is_repeatable AND advertiser_transaction_id IS NOT NULL;
