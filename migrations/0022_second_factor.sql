-- Each code of a second factor is good once.
ALTER TABLE two_factors ADD last_step bigint;                             -- of the latest code that was used, in half minutes since 1970

-- Wrong passwords and codes, counted by account in the present hour: the audit log has the first, the tenth, the
-- hundredth… of them, so that nobody can fill it.
CREATE TABLE failed_tries (
  account  text NOT NULL,                                                 -- a person's id, or 'unknown' for all addresses that are nobody's
  kind     text NOT NULL CHECK (kind IN ('password', 'code')),
  since    timestamptz NOT NULL,
  failures integer NOT NULL,
  PRIMARY KEY (account, kind)
);
