-- concurrently
-- Offers for one product are found together.
CREATE INDEX CONCURRENTLY IF NOT EXISTS offers_product ON offers (product) WHERE product IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS offers_behind ON offers (behind_offer_id) WHERE behind_offer_id IS NOT NULL;
