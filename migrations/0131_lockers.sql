-- Lockers: content and links that open once their visitor has completed offers.
CREATE TABLE lockers (
  locker_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id            bigint NOT NULL REFERENCES apps,
  kind              text NOT NULL CHECK (kind IN ('content', 'link')),
  slug              text UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9-]{2,62}[a-z0-9]$'),  -- the end of a link's URL
  settings          jsonb NOT NULL,
  password_hash     text,
  opened            integer NOT NULL DEFAULT 0,   -- how often a link was opened
  views             bigint NOT NULL DEFAULT 0,
  taken_down_at     timestamptz,
  taken_down_reason text,
  created_at        timestamptz NOT NULL DEFAULT now(),
  CHECK ((kind = 'link') = (slug IS NOT NULL)),
  CHECK ((taken_down_at IS NULL) = (taken_down_reason IS NULL))
);
CREATE INDEX lockers_app ON lockers (app_id, locker_id);

-- A visitor's way in, for a time. Times are the database's: no other clock decides.
CREATE TABLE locker_unlocks (
  unlock_id   uuid PRIMARY KEY,
  locker_id   bigint NOT NULL REFERENCES lockers,
  is_test     boolean NOT NULL,
  visitor_id  text NOT NULL,
  unlocked_at timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL,
  opened_at   timestamptz                          -- of a link, which an unlock opens once
);
CREATE INDEX locker_unlocks_visitor ON locker_unlocks (locker_id, visitor_id, unlock_id);

-- Each conversion unlocks once.
CREATE TABLE locker_unlock_conversions (
  conversion_id uuid PRIMARY KEY,
  unlock_id     uuid NOT NULL REFERENCES locker_unlocks
);

CREATE TABLE locker_proofs (
  proof_id    uuid PRIMARY KEY,
  unlock_id   uuid NOT NULL REFERENCES locker_unlocks,
  expires_at  timestamptz NOT NULL,
  redeemed_at timestamptz
);
CREATE INDEX locker_proofs_unlock ON locker_proofs (unlock_id);

-- What visitors report of links, for the operator.
CREATE TABLE locker_reports (
  report_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  locker_id  bigint NOT NULL REFERENCES lockers,
  reason     text NOT NULL,
  details    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  closed_at  timestamptz
);
CREATE INDEX locker_reports_open ON locker_reports (locker_id, report_id) WHERE closed_at IS NULL;
