-- A call that was too long is kept in part, and says so: half a call must never be processed as a whole one.
ALTER TABLE inbound_calls ADD COLUMN is_cut boolean NOT NULL DEFAULT false;
