-- What the order `recommended` rests on: what clicks earned, the rankings made of it, and the operator's wishes.

-- Only `recommended` heeds them. An excluded offer comes last.
ALTER TABLE offers
  ADD boost_percent smallint NOT NULL DEFAULT 100 CHECK (boost_percent BETWEEN 10 AND 1000),
  ADD pin_position smallint CHECK (pin_position BETWEEN 1 AND 100),
  ADD is_excluded boolean NOT NULL DEFAULT false;

-- Live clicks of people, and what they earned, by the day of UTC of the click. Deleted after some weeks.
CREATE TABLE ranking_days (
  day date NOT NULL,
  offer_id bigint NOT NULL,
  country text NOT NULL,                                                  -- '': not known
  platform text NOT NULL,                                                 -- '': not known
  clicks bigint NOT NULL DEFAULT 0,
  approved bigint NOT NULL DEFAULT 0,                                     -- conversions that are approved now
  earned_micros bigint NOT NULL DEFAULT 0,                                -- what they pay
  PRIMARY KEY (day, offer_id, country, platform)
);

-- How far clicks and events are counted. Clicks before `since` are not, and neither is what they earned.
CREATE TABLE ranking_progress (
  since timestamptz NOT NULL,
  clicks_through timestamptz NOT NULL,
  event_seq bigint NOT NULL
);

-- The latest ones. Every process takes a ranking up before it takes effect, and holds the one before for pages that began with it.
CREATE TABLE rankings (
  ranking_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  computed_at timestamptz NOT NULL,
  effective_at timestamptz NOT NULL,
  means jsonb NOT NULL,                                                   -- of the network, categories and segments
  offer_ids double precision[] NOT NULL,                                  -- ascending; the others are of these offers, in this order
  clicks double precision[] NOT NULL,
  seen double precision[] NOT NULL,
  expected double precision[] NOT NULL
);

-- What offers earn otherwise in one country on one platform: a factor for each.
CREATE TABLE ranking_segments (
  ranking_id bigint NOT NULL REFERENCES rankings ON DELETE CASCADE,
  country text NOT NULL,
  platform text NOT NULL,
  offer_ids double precision[] NOT NULL,                                  -- ascending
  clicks double precision[] NOT NULL,
  factors double precision[] NOT NULL,
  PRIMARY KEY (ranking_id, country, platform)
);
