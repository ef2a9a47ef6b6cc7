-- concurrently
-- Those of a day are counted with each new one (src/features/accounts/invitation-limits.ts).
CREATE INDEX CONCURRENTLY IF NOT EXISTS invitations_created ON invitations (created_at);
