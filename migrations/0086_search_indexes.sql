-- concurrently
-- The audit log by who did it, by what was done (each action by itself: see listDeeds), and by what it was done to.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_who ON audit_log (who, audit_id) WHERE part_of IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_action ON audit_log (action, audit_id) WHERE part_of IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_about ON audit_log (subject, audit_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_log_subject;
-- An operator finds an offer by the ID that its advertiser gave it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS offers_external_id ON offers (external_id, offer_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS offers_advertiser ON offers (advertiser_id, offer_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS offers_paused ON offers (offer_id) WHERE status = 'paused';
-- Few among many; the others are found on the way.
CREATE INDEX CONCURRENTLY IF NOT EXISTS postbacks_undone ON postbacks (app_id, status, postback_id) WHERE status IN ('rejected', 'reversed');
