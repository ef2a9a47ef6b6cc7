-- concurrently

ALTER TABLE conversions VALIDATE CONSTRAINT conversions_status_reason_check;
ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_account_check;

-- A goal that is gone may have had any name.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS goals_name ON goals (offer_id, name) WHERE NOT is_retired;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS goals_external_id ON goals (offer_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS goals_offer ON goals (offer_id);
ALTER TABLE goals DROP CONSTRAINT IF EXISTS goals_offer_id_name_key;

-- What is reversed leaves its place, too: whether it may be done again is decided by its row.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS conversions_standing ON conversions (app_id, user_id, offer_id, goal_id, is_test)
  WHERE status IN ('pending', 'approved') AND NOT is_repeatable;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_user_undone ON conversions (app_id, user_id, offer_id, conversion_id)
  WHERE status IN ('rejected', 'reversed');
DROP INDEX CONCURRENTLY IF EXISTS conversions_once;

-- To find a conversion whose click is gone, or by the advertiser's transaction alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_click ON conversions (click_id) WHERE click_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_rejected_transaction ON conversions (advertiser_id, advertiser_transaction_id)
  WHERE status = 'rejected' AND advertiser_transaction_id IS NOT NULL;

CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_unconfirmed ON conversions (confirm_by) WHERE status = 'pending' AND confirm_by IS NOT NULL;

-- Reports of before get a week at least. In short transactions: each locks what it changes.
DO $$ DECLARE last uuid := '00000000-0000-0000-0000-000000000000'; changed uuid; BEGIN
  LOOP
    WITH due AS (SELECT conversion_id FROM conversions WHERE status = 'pending' AND NOT is_test AND conversion_id > last ORDER BY conversion_id LIMIT 1000), done AS (
        UPDATE conversions c SET confirm_by = greatest(created_at + interval '30 days', now() + interval '7 days') FROM due
        WHERE c.conversion_id = due.conversion_id AND status = 'pending' AND source = 'publisher' AND confirmed_at IS NULL AND advertiser_transaction_id IS NULL AND confirm_by IS NULL)
      SELECT max(conversion_id::text)::uuid INTO changed FROM due; EXIT WHEN changed IS NULL; last := changed; COMMIT; END LOOP; END $$;

-- What operators took back or turned down as fraud stays so.
UPDATE conversions SET bars_redo = true
  WHERE status IN ('rejected', 'reversed') AND status_reason = 'fraud' AND actor = 'operator' AND NOT is_repeatable AND NOT bars_redo;
