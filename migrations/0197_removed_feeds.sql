-- A feed that was removed is kept for the offers and runs that it had. Its name is free again.
ALTER TABLE feeds ADD removed_at timestamptz;
CREATE UNIQUE INDEX feeds_current_name ON feeds (name) WHERE removed_at IS NULL;
ALTER TABLE feeds DROP CONSTRAINT feeds_name_key;
