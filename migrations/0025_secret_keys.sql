-- Which SECRET_KEY this database is used with, by its id, which tells nothing about it: a server with another one would
-- refuse every secret. Two while one takes the place of the other.
CREATE TABLE secret_keys (
  key_id      text PRIMARY KEY,
  added_at    timestamptz NOT NULL DEFAULT now(),
  retired_at  timestamptz
);
