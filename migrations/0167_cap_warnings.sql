-- Offers that have used 80 % of a cap, so that each is told once: on a day (day 0: of a total cap).
CREATE TABLE cap_warnings (
  offer_id  bigint NOT NULL REFERENCES offers,
  day       integer NOT NULL,
  warned_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (offer_id, day)
);
