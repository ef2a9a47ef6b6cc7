-- concurrently
-- A publisher finds a conversion by its own transaction ID. Confirmations carry none, so most rows cost nothing here.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_publisher_transaction
  ON conversions (app_id, publisher_transaction_id, conversion_id) WHERE publisher_transaction_id IS NOT NULL;
