-- Lists of tickets are in the order of creation times, which only these indexes have. In the order of IDs, PostgreSQL may
-- walk the primary key, through the tickets of every other app.
DROP INDEX tickets_app;
DROP INDEX tickets_user;
DROP INDEX tickets_status;
CREATE INDEX tickets_app ON tickets (app_id, is_test, created_at, ticket_id);
CREATE INDEX tickets_user ON tickets (app_id, is_test, user_id, created_at, ticket_id);
CREATE INDEX tickets_status ON tickets (app_id, is_test, status, created_at, ticket_id);
