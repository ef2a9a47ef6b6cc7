-- concurrently
-- Erasures find the bans of a user here; a user ID may also be what many other entries are about, such as "1".
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_bans ON audit_log (subject) WHERE action IN ('user.ban', 'user.unban');
