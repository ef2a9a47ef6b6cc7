-- The path of money: advertisers' tokens, caps and terms of offers, clicks, conversions with their history, the ledger.
--
-- Clicks and inbound calls have time-ordered ids (UUIDv7) and are partitioned by them, a partition a day: whoever knows
-- an id knows its partition, and retention drops a partition whole. The program makes partitions ahead of time.

-- Advertisers: how they sign in and what words they use.

ALTER TABLE advertisers
  ADD allowed_ips text[] NOT NULL DEFAULT '{}',                           -- addresses and CIDRs; empty: from anywhere
  ADD status_map  jsonb NOT NULL DEFAULT '{}',                            -- their word: our status
  ADD aliases     jsonb NOT NULL DEFAULT '{}';                            -- our parameter: [their names]

-- Two of one advertiser are live while a rotation's grace lasts.
CREATE TABLE advertiser_tokens (
  hash          text PRIMARY KEY,                                         -- keyed; the token itself is not kept
  advertiser_id bigint NOT NULL REFERENCES advertisers,
  expires_at    timestamptz,
  created_at    timestamptz NOT NULL DEFAULT date_trunc('second', now())
);
CREATE INDEX advertiser_tokens_advertiser ON advertiser_tokens (advertiser_id);

-- Offers: caps, and what a click promises.

ALTER TABLE goals
  ADD is_repeatable boolean NOT NULL DEFAULT false,
  ADD payout_ppm    integer CHECK (payout_ppm BETWEEN 0 AND 1000000),     -- of the amount confirmed, in millionths
  ADD revenue_ppm   integer CHECK (revenue_ppm BETWEEN 0 AND 1000000);

-- What an offer promised from some time on. Never changed: a click names the terms it was made under.
CREATE TABLE terms (
  terms_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  offer_id      bigint NOT NULL REFERENCES offers,
  attribution_s integer NOT NULL,
  goals         jsonb NOT NULL,                                           -- goal_id: payout, revenue, shares
  created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX terms_offer ON terms (offer_id, attribution_s);

ALTER TABLE offers
  ADD daily_click_cap         bigint CHECK (daily_click_cap > 0),         -- days are of UTC
  ADD total_click_cap         bigint CHECK (total_click_cap > 0),
  ADD daily_conversion_cap    bigint CHECK (daily_conversion_cap > 0),
  ADD total_conversion_cap    bigint CHECK (total_conversion_cap > 0),
  ADD daily_payout_cap_micros bigint CHECK (daily_payout_cap_micros > 0),
  ADD total_payout_cap_micros bigint CHECK (total_payout_cap_micros > 0),
  ADD over_cap                text NOT NULL DEFAULT 'honour' CHECK (over_cap IN ('honour', 'reject')),
  ADD attribution_s           integer NOT NULL DEFAULT 2592000 CHECK (attribution_s BETWEEN 60 AND 31536000),
  ADD hold_s                  integer NOT NULL DEFAULT 0 CHECK (hold_s BETWEEN 0 AND 31536000),
  ADD full_until              timestamptz,                                -- closed by its caps until then
  ADD terms_id                bigint REFERENCES terms,
  ADD is_capped               boolean GENERATED ALWAYS AS (
    coalesce(daily_click_cap, total_click_cap, daily_conversion_cap, total_conversion_cap,
      daily_payout_cap_micros, total_payout_cap_micros) IS NOT NULL) STORED;

-- What capped offers have used. Whoever adds to it holds the row's lock until commit, so a cap is never passed by two at
-- once. Day 0 stands for all days together, other days are counted from 1970-01-01.
CREATE TABLE offer_usage (
  offer_id      bigint NOT NULL,
  day           integer NOT NULL,
  clicks        bigint NOT NULL DEFAULT 0,
  conversions   bigint NOT NULL DEFAULT 0,                                -- neither rejected nor reversed
  payout_micros bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (offer_id, day)
) WITH (fillfactor = 50);

-- Gives these offers new terms where what they promise has changed.
CREATE FUNCTION renew_terms(ids bigint[]) RETURNS void LANGUAGE sql AS $$
  WITH present AS (
    SELECT o.offer_id, o.attribution_s, o.terms_id, jsonb_object_agg(g.goal_id, jsonb_build_object(
      'payout_micros', g.payout_micros, 'revenue_micros', g.revenue_micros,
      'payout_ppm', g.payout_ppm, 'revenue_ppm', g.revenue_ppm)) AS goals
    FROM offers o JOIN goals g USING (offer_id)
    WHERE o.offer_id = ANY (ids) AND NOT g.is_retired
    GROUP BY o.offer_id
  ), made AS (
    INSERT INTO terms (offer_id, attribution_s, goals)
    SELECT p.offer_id, p.attribution_s, p.goals FROM present p LEFT JOIN terms t ON t.terms_id = p.terms_id
    WHERE (p.attribution_s, p.goals) IS DISTINCT FROM (t.attribution_s, t.goals)
    ORDER BY p.offer_id
    RETURNING offer_id, terms_id
  )
  UPDATE offers SET terms_id = made.terms_id FROM made WHERE offers.offer_id = made.offer_id
$$;
SELECT renew_terms(ARRAY(SELECT offer_id FROM offers));

-- Clicks. No references: they would cost a look-up for every row, and neither apps nor offers are ever deleted.

CREATE TABLE clicks (
  click_id    uuid PRIMARY KEY,
  clicked_at  timestamptz NOT NULL,
  app_id      bigint NOT NULL,
  is_test     boolean NOT NULL,
  user_id     text NOT NULL,
  offer_id    bigint NOT NULL,
  terms_id    bigint NOT NULL,
  currency    text NOT NULL,                                              -- the app's, frozen with its rate
  rate_micros bigint NOT NULL,
  request_id  text NOT NULL,                                              -- of the list that the link came from
  aff_sub     text,
  aff_sub2    text,
  aff_sub3    text,
  aff_sub4    text,
  ip          inet,
  country     text,
  device      text,
  os          text,
  signals     text[]                                                      -- why it is suspected; null: it is not
) PARTITION BY RANGE (click_id);
CREATE INDEX clicks_user ON clicks (app_id, user_id, click_id);

-- The lowest id that can be made at a time, in Unix milliseconds: the same as uuid7Floor in the program.
CREATE FUNCTION uuid7_floor(ms bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(greatest(ms, 0)), 12, '0') || '00000000000000000000')::uuid
$$;

-- Inserts those of a batch whose offers are not capped, and returns the ids of the rest, for the careful way; `offers` are
-- those of its live clicks. A function, because each of its statements sees what was committed before it: whoever caps an
-- offer holds the lock exclusively, so no click slips past a cap that is being set. 267583492 = 0x0ff30004.
CREATE FUNCTION add_clicks(batch json, offers bigint[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE capped bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(267583492);
  SELECT array_agg(o.offer_id) INTO capped FROM offers o WHERE o.offer_id = ANY (add_clicks.offers) AND o.is_capped;
  IF capped IS NULL THEN
    INSERT INTO clicks SELECT * FROM json_populate_recordset(NULL::clicks, batch) ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO clicks SELECT * FROM json_populate_recordset(NULL::clicks, batch) c
      WHERE c.is_test OR c.offer_id <> ALL (capped) ON CONFLICT DO NOTHING;
    RETURN QUERY SELECT c.click_id FROM json_populate_recordset(NULL::clicks, batch) c
      WHERE NOT c.is_test AND c.offer_id = ANY (capped);
  END IF;
END $$;

-- What is left of clicks when their partition is dropped: how many there were, in quarters of an hour, so that days can
-- be told in any time zone.
CREATE TABLE click_counts (
  app_id   bigint NOT NULL,
  quarter  timestamptz NOT NULL,
  offer_id bigint NOT NULL,
  country  text,
  aff_sub  text,
  aff_sub2 text,
  aff_sub3 text,
  aff_sub4 text,
  clicks   bigint NOT NULL
);
CREATE INDEX click_counts_app ON click_counts (app_id, quarter);

-- Conversions. The table of before had no way to be filled. No references, as for clicks: what they would point to is never
-- deleted, the program reads it under lock, and nine look-ups would cost half of what the rest of an insert does.

DROP TABLE conversions;

CREATE TABLE conversions (
  conversion_id             uuid PRIMARY KEY,
  app_id                    bigint NOT NULL,
  publisher_id              bigint NOT NULL,
  advertiser_id             bigint NOT NULL,
  offer_id                  bigint NOT NULL,
  goal_id                   bigint NOT NULL,
  user_id                   text NOT NULL,
  is_test                   boolean NOT NULL,
  is_repeatable             boolean NOT NULL,                             -- its goal was, when it was made
  status                    text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'reversed')),
  status_reason             text CHECK (status_reason IN ('cap_exceeded', 'click_expired', 'not_eligible', 'geo_mismatch',
                              'fraud', 'advertiser_rejected', 'advertiser_reversed', 'operator')),
  source                    text NOT NULL CHECK (source IN ('publisher', 'advertiser')), -- who told first
  publisher_transaction_id  text,
  advertiser_transaction_id text,
  payout_micros             bigint NOT NULL CHECK (payout_micros >= 0),
  revenue_micros            bigint NOT NULL CHECK (revenue_micros >= 0),
  currency                  text NOT NULL,
  rate_micros               bigint NOT NULL,
  aff_sub                   text,
  aff_sub2                  text,
  aff_sub3                  text,
  aff_sub4                  text,
  click_id                  uuid,
  click_at                  timestamptz,
  ip                        inet,
  country                   text,
  device                    text,
  signals                   text[] NOT NULL DEFAULT '{}',                 -- of fraud; the publisher does not see them
  confirmed_at              timestamptz,                                  -- the advertiser said yes
  hold_until                timestamptz,
  created_at                timestamptz NOT NULL,
  approved_at               timestamptz,
  rejected_at               timestamptz,
  reversed_at               timestamptz,
  -- Its latest move: the triggers below make the history of it.
  sequence                  integer NOT NULL,
  event_id                  uuid NOT NULL,
  actor                     text NOT NULL,                                -- publisher, advertiser, operator or system
  CHECK (status IN ('pending', 'approved') OR status_reason IS NOT NULL),
  CHECK (hold_until IS NULL OR confirmed_at IS NOT NULL),                 -- only a confirmation sets it
  CHECK ((status = 'rejected') = (rejected_at IS NOT NULL)),
  CHECK ((status = 'reversed') = (reversed_at IS NOT NULL)),
  CHECK ((status IN ('approved', 'reversed')) = (approved_at IS NOT NULL)),
  CHECK (NOT is_repeatable OR publisher_transaction_id IS NOT NULL OR advertiser_transaction_id IS NOT NULL)
) WITH (fillfactor = 85);

-- What must not be paid twice.
CREATE UNIQUE INDEX conversions_once ON conversions (app_id, user_id, offer_id, goal_id, is_test)
  WHERE status <> 'rejected' AND NOT is_repeatable;
CREATE UNIQUE INDEX conversions_once_by_publisher ON conversions (app_id, user_id, offer_id, goal_id, is_test, publisher_transaction_id)
  WHERE status <> 'rejected' AND is_repeatable AND publisher_transaction_id IS NOT NULL;
CREATE UNIQUE INDEX conversions_once_by_advertiser ON conversions (advertiser_id, advertiser_transaction_id, offer_id, goal_id, is_test)
  WHERE status <> 'rejected' AND advertiser_transaction_id IS NOT NULL;
CREATE INDEX conversions_user ON conversions (app_id, user_id, conversion_id);
CREATE INDEX conversions_app ON conversions (app_id, is_test, conversion_id);
CREATE INDEX conversions_undone ON conversions (app_id, status, conversion_id) WHERE status IN ('rejected', 'reversed'); -- few among many
CREATE INDEX conversions_offer ON conversions (offer_id, created_at) WHERE NOT is_test AND status IN ('pending', 'approved');
CREATE INDEX conversions_ip ON conversions (ip, created_at) WHERE ip IS NOT NULL AND NOT is_test;
CREATE INDEX conversions_held ON conversions (hold_until) WHERE status = 'pending' AND hold_until IS NOT NULL;

-- The history: a row for every move, with all that was not always so. Written by trigger, so no move goes without one.
CREATE TABLE conversion_events (
  conversion_id            uuid NOT NULL,
  sequence                 integer NOT NULL,                              -- counts the conversion's events from 1
  event_id                 uuid NOT NULL,                                 -- new for every event
  app_id                   bigint NOT NULL,
  is_test                  boolean NOT NULL,
  actor                    text NOT NULL,
  created_at               timestamptz NOT NULL,
  -- The conversion as it was then.
  status                   text NOT NULL,
  status_reason            text,
  publisher_transaction_id text,
  payout_micros            bigint NOT NULL,
  revenue_micros           bigint NOT NULL,
  currency                 text NOT NULL,
  rate_micros              bigint NOT NULL,
  aff_sub                  text,
  aff_sub2                 text,
  aff_sub3                 text,
  aff_sub4                 text,
  click_id                 uuid,
  click_at                 timestamptz,
  ip                       inet,
  country                  text,
  device                   text,
  hold_until               timestamptz,
  approved_at              timestamptz,
  rejected_at              timestamptz,
  reversed_at              timestamptz,
  PRIMARY KEY (conversion_id, sequence)
);

-- The feed: events get their place in it after they are committed, one after the other. Those that have none yet wait.
CREATE TABLE waiting_events (
  event_no      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,          -- ascends within a conversion
  conversion_id uuid NOT NULL,
  sequence      integer NOT NULL,
  app_id        bigint NOT NULL,
  is_test       boolean NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

CREATE TABLE event_feed (
  seq           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversion_id uuid NOT NULL,
  sequence      integer NOT NULL,
  app_id        bigint NOT NULL,
  is_test       boolean NOT NULL
);
CREATE INDEX event_feed_app ON event_feed (app_id, is_test, seq);

CREATE FUNCTION check_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'A conversion is never deleted.' USING ERRCODE = 'OD001'; END IF;
  IF TG_OP = 'INSERT' THEN
    RAISE EXCEPTION 'A conversion begins as pending, approved or rejected.' USING ERRCODE = 'OD001';
  END IF;
  IF (NEW.conversion_id, NEW.app_id, NEW.publisher_id, NEW.advertiser_id, NEW.offer_id, NEW.goal_id, NEW.user_id, NEW.is_test, NEW.is_repeatable, NEW.created_at)
    IS DISTINCT FROM (OLD.conversion_id, OLD.app_id, OLD.publisher_id, OLD.advertiser_id, OLD.offer_id, OLD.goal_id, OLD.user_id, OLD.is_test, OLD.is_repeatable, OLD.created_at)
  THEN RAISE EXCEPTION 'A conversion stays what it is of.' USING ERRCODE = 'OD001'; END IF;
  IF OLD.status <> 'pending' AND (NEW.payout_micros, NEW.revenue_micros, NEW.rate_micros, NEW.currency)
    IS DISTINCT FROM (OLD.payout_micros, OLD.revenue_micros, OLD.rate_micros, OLD.currency)
  THEN RAISE EXCEPTION 'The worth of a conversion is settled once it is no longer pending.' USING ERRCODE = 'OD001'; END IF;
  IF NEW.status = OLD.status THEN
    IF NEW.sequence <> OLD.sequence OR NEW.event_id <> OLD.event_id THEN
      RAISE EXCEPTION 'A conversion that stays % has no new event.', OLD.status USING ERRCODE = 'OD001';
    END IF;
  ELSIF (OLD.status, NEW.status) NOT IN (('pending', 'approved'), ('pending', 'rejected'), ('approved', 'reversed')) THEN
    RAISE EXCEPTION 'A conversion cannot go from % to %.', OLD.status, NEW.status USING ERRCODE = 'OD001';
  ELSIF NEW.sequence <> OLD.sequence + 1 OR NEW.event_id = OLD.event_id THEN
    RAISE EXCEPTION 'Every move has an event of its own.' USING ERRCODE = 'OD001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER conversions_begin BEFORE INSERT ON conversions FOR EACH ROW
  WHEN (NEW.status = 'reversed' OR NEW.sequence <> 1) EXECUTE FUNCTION check_move();
CREATE TRIGGER conversions_check BEFORE UPDATE OR DELETE ON conversions FOR EACH ROW EXECUTE FUNCTION check_move();

CREATE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH kept AS (
    INSERT INTO conversion_events
    SELECT c.conversion_id, c.sequence, c.event_id, c.app_id, c.is_test, c.actor,
      coalesce(c.reversed_at, c.rejected_at, c.approved_at, c.created_at), c.status, c.status_reason, c.publisher_transaction_id, c.payout_micros, c.revenue_micros, c.currency, c.rate_micros,
      c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4, c.click_id, c.click_at, c.ip, c.country, c.device, c.hold_until,
      c.approved_at, c.rejected_at, c.reversed_at
    FROM changed c
    ON CONFLICT DO NOTHING -- an update that is no move has kept its sequence
    RETURNING conversion_id, sequence, app_id, is_test
  )
  INSERT INTO waiting_events (conversion_id, sequence, app_id, is_test) SELECT * FROM kept;
  RETURN NULL;
END $$;
CREATE TRIGGER conversions_made AFTER INSERT ON conversions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_history();
CREATE TRIGGER conversions_moved AFTER UPDATE ON conversions
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_history();

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Rows of % are never changed or deleted.', TG_TABLE_NAME USING ERRCODE = 'OD001';
END $$;
CREATE TRIGGER conversion_events_kept BEFORE UPDATE OR DELETE ON conversion_events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_feed_kept BEFORE UPDATE OR DELETE ON event_feed FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TRIGGER conversions_not_emptied BEFORE TRUNCATE ON conversions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER conversion_events_not_emptied BEFORE TRUNCATE ON conversion_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_feed_not_emptied BEFORE TRUNCATE ON event_feed FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A publisher's own word, kept for 24 h: the same key with another request is a mistake.
CREATE TABLE idempotency_keys (
  app_id        bigint NOT NULL,
  is_test       boolean NOT NULL,
  key           text NOT NULL,
  request       text NOT NULL,
  conversion_id uuid NOT NULL,
  created_at    timestamptz NOT NULL,
  PRIMARY KEY (app_id, key, is_test)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Offers for which the operator takes an app's word.
CREATE TABLE trusted_offers (
  app_id     bigint NOT NULL REFERENCES apps,
  offer_id   bigint NOT NULL REFERENCES offers,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (app_id, offer_id)
);

-- What is done about a signal of fraud, for all offers or for one.
CREATE TABLE fraud_rules (
  fraud_rule_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  offer_id      bigint REFERENCES offers,                                 -- null: all offers without a rule of their own
  signal        text NOT NULL CHECK (signal IN ('too_fast', 'ip_users', 'geo_mismatch', 'listed_ip', 'user_velocity', 'bot')),
  threshold     integer CHECK (threshold > 0),
  action        text NOT NULL CHECK (action IN ('flag', 'hold', 'reject')),
  created_at    timestamptz NOT NULL DEFAULT now(),
  CHECK ((signal IN ('too_fast', 'ip_users', 'user_velocity')) = (threshold IS NOT NULL))
);
CREATE UNIQUE INDEX fraud_rules_once ON fraud_rules (signal, coalesce(offer_id, 0));
-- To begin with, signals are recorded and nothing is done about them.
INSERT INTO fraud_rules (signal, threshold, action) VALUES
  ('too_fast', 3, 'flag'),       -- seconds from click to conversion
  ('ip_users', 10, 'flag'),      -- users who converted from one address within a day
  ('user_velocity', 30, 'flag'), -- conversions of one user within an hour
  ('geo_mismatch', NULL, 'flag'), ('listed_ip', NULL, 'flag'), ('bot', NULL, 'flag');

-- What advertisers sent us, word for word but for secrets.
CREATE TABLE inbound_calls (
  inbound_id      uuid PRIMARY KEY,
  received_at     timestamptz NOT NULL,
  advertiser_id   bigint,                                                 -- whose token it carried; null: nobody's
  method          text NOT NULL,
  query           text NOT NULL,
  body            text NOT NULL,
  ip              inet,
  click_id        text,
  outcome         text NOT NULL,                                          -- approved, pending, rejected, reversed, duplicate, unmatched, invalid, refused
  reason          text,
  conversion_id   uuid,
  attempts        integer NOT NULL DEFAULT 1,
  next_attempt_at timestamptz,                                            -- for what matched no click yet
  settled_at      timestamptz
) PARTITION BY RANGE (inbound_id);
CREATE INDEX inbound_calls_due ON inbound_calls (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX inbound_calls_waiting ON inbound_calls (click_id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX inbound_calls_click ON inbound_calls (click_id);

-- The ledger: double entry. The lines of a posting are written in one statement and sum to zero, which a trigger sees
-- to. Positive amounts are debits, negative ones credits.
CREATE TABLE ledger_entries (
  entry_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  posting_id    uuid NOT NULL,                                            -- a conversion's event, or a payment
  kind          text NOT NULL CHECK (kind IN ('conversion', 'payout', 'receipt')),
  account       text NOT NULL CHECK (account IN ('publisher_pending', 'publisher_payable', 'advertiser_receivable', 'network_margin', 'cash')),
  party_id      bigint NOT NULL,                                          -- publisher or advertiser; 0: the network
  amount_micros bigint NOT NULL CHECK (amount_micros <> 0),
  conversion_id uuid,
  reference     text,                                                     -- of a payment
  created_at    timestamptz NOT NULL
);
-- A payment is posted once. What a conversion posts goes with its event, of which there is one.
CREATE UNIQUE INDEX ledger_entries_payment ON ledger_entries (party_id, account, posting_id) WHERE kind <> 'conversion';
-- What publishers are owed is asked for all the time; other balances go through the open days, by their time.
CREATE INDEX ledger_entries_publisher ON ledger_entries (party_id, account, created_at)
  WHERE account IN ('publisher_pending', 'publisher_payable');
CREATE INDEX ledger_entries_time ON ledger_entries USING brin (created_at);

CREATE FUNCTION check_posting() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wrong uuid;
BEGIN
  SELECT posting_id INTO wrong FROM added GROUP BY posting_id HAVING sum(amount_micros) <> 0 LIMIT 1;
  IF FOUND THEN RAISE EXCEPTION 'Posting % does not sum to zero.', wrong USING ERRCODE = 'OD002'; END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER ledger_entries_balance AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_posting();
CREATE TRIGGER ledger_entries_kept BEFORE UPDATE OR DELETE ON ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_entries_not_emptied BEFORE TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Sums of past days, so that a balance need not read every entry there ever was.
CREATE TABLE ledger_days (
  account       text NOT NULL,
  party_id      bigint NOT NULL,
  day           date NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (account, party_id, day)
);
CREATE TABLE ledger_rollup (
  through date NOT NULL                                                   -- the last day that ledger_days holds
);
CREATE UNIQUE INDEX ledger_rollup_one ON ledger_rollup ((true));
INSERT INTO ledger_rollup VALUES ('2000-01-01');
