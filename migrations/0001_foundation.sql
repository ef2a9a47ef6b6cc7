-- Publishers, their apps and credentials; advertisers, their offers and goals; what a user's last request carried.
--
-- Money is integer micro-USD. Times that publishers see have whole seconds, so that an order by time and the printed
-- times never disagree.
--
-- changed_xid: every API process keeps apps and offers in memory and asks a few times a second for the rows whose
-- changed_xid is not older than the oldest transaction still running at its previous look. A counter would skip rows
-- of a transaction that took its number early and committed late; the transaction's own id cannot.

CREATE FUNCTION stamp_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_xid := pg_current_xact_id();
  RETURN NEW;
END $$;

CREATE TABLE publishers (
  publisher_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text NOT NULL UNIQUE CHECK (name <> ''),
  created_at   timestamptz NOT NULL DEFAULT date_trunc('second', now())
);

CREATE TABLE apps (
  app_id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  publisher_id         bigint NOT NULL REFERENCES publishers,
  name                 text NOT NULL CHECK (name <> ''),
  currency             text NOT NULL CHECK (currency <> ''),
  rate_micros          bigint NOT NULL CHECK (rate_micros > 0),           -- millionths of the currency for one dollar
  rate_limit           integer NOT NULL CHECK (rate_limit > 0),           -- requests a minute, for each API key
  postback_url         text,
  blocked_categories   text[] NOT NULL DEFAULT '{}',
  blocked_keywords     text[] NOT NULL DEFAULT '{}',
  payment_offers       boolean NOT NULL DEFAULT true,                     -- may show offers that require a payment
  secret_leaked_at     timestamptz,                                       -- last time a secret came from a browser
  secret_leaked_origin text,
  created_at           timestamptz NOT NULL DEFAULT date_trunc('second', now()),
  changed_xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  UNIQUE (publisher_id, name)
);
CREATE INDEX apps_changed ON apps (changed_xid);
CREATE TRIGGER apps_stamp BEFORE INSERT OR UPDATE ON apps FOR EACH ROW EXECUTE FUNCTION stamp_change();

-- An app has two: live and test.
CREATE TABLE credentials (
  api_key               text PRIMARY KEY,
  app_id                bigint NOT NULL REFERENCES apps,
  is_test               boolean NOT NULL,
  signing_secret_sealed bytea NOT NULL,                                   -- encrypted under SECRET_KEY
  expires_at            timestamptz,
  revoked_at            timestamptz,
  created_at            timestamptz NOT NULL DEFAULT date_trunc('second', now()),
  UNIQUE (app_id, is_test)
);

-- Two of one key are live while a rotation's grace lasts.
CREATE TABLE api_secrets (
  api_secret_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  api_key       text NOT NULL REFERENCES credentials,
  hash          text NOT NULL UNIQUE,                                     -- keyed; the secret itself is not kept
  expires_at    timestamptz,
  created_at    timestamptz NOT NULL DEFAULT date_trunc('second', now())
);
CREATE INDEX api_secrets_key ON api_secrets (api_key);

CREATE TABLE advertisers (
  advertiser_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name          text NOT NULL UNIQUE CHECK (name <> ''),
  created_at    timestamptz NOT NULL DEFAULT date_trunc('second', now())
);

CREATE TABLE offers (
  offer_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  advertiser_id    bigint NOT NULL REFERENCES advertisers,
  external_id      text NOT NULL CHECK (external_id <> ''),               -- the advertiser's own name for it
  name             text NOT NULL CHECK (name <> ''),
  description      text NOT NULL,
  category         text NOT NULL CHECK (category IN ('survey', 'app', 'game', 'video')),
  payout_micros    bigint NOT NULL CHECK (payout_micros >= 0),            -- the sum over its goals
  revenue_micros   bigint NOT NULL CHECK (revenue_micros >= 0),
  countries        text[] NOT NULL,                                       -- empty: everywhere
  platforms        text[] NOT NULL CHECK (cardinality(platforms) > 0 AND platforms <@ '{web,android,ios}'),
  destination_url  text NOT NULL,
  image_url        text,                                                  -- one that starts with / is this server's
  difficulty       text NOT NULL CHECK (difficulty IN ('easy', 'medium', 'hard')),
  time_estimate    text NOT NULL,
  requirements     text NOT NULL,
  payment_required boolean NOT NULL,
  conversion_type  text NOT NULL CHECK (conversion_type IN ('cpa', 'cpi', 'cpe', 'cpl', 'survey')),
  status           text NOT NULL CHECK (status IN ('active', 'paused')),
  starts_at        timestamptz,
  ends_at          timestamptz,
  popularity       integer NOT NULL DEFAULT 0 CHECK (popularity >= 0),
  created_at       timestamptz NOT NULL DEFAULT date_trunc('second', now()),
  updated_at       timestamptz NOT NULL DEFAULT date_trunc('second', now()),
  changed_xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
  UNIQUE (advertiser_id, external_id)
);
CREATE INDEX offers_changed ON offers (changed_xid, offer_id);
CREATE TRIGGER offers_stamp BEFORE INSERT OR UPDATE ON offers FOR EACH ROW EXECUTE FUNCTION stamp_change();

CREATE TABLE goals (
  goal_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  offer_id       bigint NOT NULL REFERENCES offers,
  place          integer NOT NULL CHECK (place >= 1),                     -- order within the offer
  name           text NOT NULL CHECK (name <> ''),
  description    text NOT NULL,
  payout_micros  bigint NOT NULL CHECK (payout_micros >= 0),
  revenue_micros bigint NOT NULL CHECK (revenue_micros >= 0),
  is_optional    boolean NOT NULL,
  is_retired     boolean NOT NULL DEFAULT false,                          -- gone from the offer, kept for its history
  UNIQUE (offer_id, name)
);

CREATE TABLE conversions (
  conversion_id uuid PRIMARY KEY,
  app_id        bigint NOT NULL REFERENCES apps,
  user_id       text NOT NULL,
  offer_id      bigint NOT NULL REFERENCES offers,
  goal_id       bigint NOT NULL REFERENCES goals,
  status        text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'reversed')),
  is_test       boolean NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX conversions_recent ON conversions (created_at, offer_id);

-- The sub-IDs of a user's latest request that carried any. No reference to apps: it would cost a look-up for every
-- row of the busiest write there is, and an app is never deleted.
CREATE TABLE user_contexts (
  app_id   bigint NOT NULL,
  is_test  boolean NOT NULL,
  user_id  text NOT NULL,
  aff_sub  text,
  aff_sub2 text,
  aff_sub3 text,
  aff_sub4 text,
  seen_at  timestamptz NOT NULL,
  PRIMARY KEY (app_id, user_id, is_test)
) WITH (fillfactor = 85);
