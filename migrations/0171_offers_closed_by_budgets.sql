-- concurrently

CREATE INDEX CONCURRENTLY IF NOT EXISTS offers_budget ON offers (offer_id) WHERE budget_until IS NOT NULL;
