-- A ban of a user who was erased holds for the pseudonym, too, for as long as the ban itself.
ALTER TABLE banned_users ADD of_ban_id bigint REFERENCES banned_users ON DELETE CASCADE; -- the ban that it follows from
CREATE INDEX banned_users_following ON banned_users (of_ban_id) WHERE of_ban_id IS NOT NULL;
DROP INDEX banned_users_once;
CREATE UNIQUE INDEX banned_users_once ON banned_users (user_id, coalesce(app_id, 0), coalesce(of_ban_id, 0));
