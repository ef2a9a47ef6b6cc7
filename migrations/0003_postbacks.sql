-- Postbacks: what publishers are told about their conversions, and how that went.
--
-- A postback is made by the trigger that keeps the history of conversions, in the conversion's own transaction: the row
-- is the job. Its states:
--
--   queued ---> sending ---> delivered
--     ^            |-------> dead          no more tries; can be replayed
--     +------------+                       to be tried again, or its worker died
--
-- Each app is a lane of its own: how wide it is, and whether it is open, is a row that conversions never touch.

ALTER TABLE publishers ADD email text;                                    -- where notices go; null: nowhere

ALTER TABLE credentials
  ADD old_signing_secret_sealed     bytea,                                -- the one before, while its grace lasts
  ADD old_signing_secret_expires_at timestamptz;

CREATE TABLE postback_settings (
  app_id             bigint PRIMARY KEY REFERENCES apps,
  method             text NOT NULL CHECK (method IN ('GET', 'POST')),
  url                text NOT NULL,                                       -- with macros
  events             text[] NOT NULL DEFAULT '{approved,reversed}'
                       CHECK (events <@ ARRAY['pending', 'approved', 'rejected', 'reversed']),
  headers_sealed     bytea,                                               -- custom headers: they may hold secrets
  timeout_ms         integer NOT NULL DEFAULT 15000 CHECK (timeout_ms BETWEEN 1000 AND 15000),
  success            text NOT NULL DEFAULT '2xx' CHECK (success IN ('2xx', 'body')), -- body: it must begin with 1, OK or DUP
  negative_reversals boolean NOT NULL DEFAULT true,
  updated_at         timestamptz NOT NULL DEFAULT now()
);
INSERT INTO postback_settings (app_id, method, url) SELECT app_id, 'GET', postback_url FROM apps WHERE postback_url IS NOT NULL;
ALTER TABLE apps DROP postback_url;

CREATE TABLE postback_lanes (
  app_id        bigint PRIMARY KEY REFERENCES apps,
  publisher_id  bigint NOT NULL,
  width         integer NOT NULL DEFAULT 4,                               -- so many at once; grows with success
  failures      integer NOT NULL DEFAULT 0,                               -- in a row
  failing_since timestamptz,                                              -- nothing but failures since then
  open_until    timestamptz,                                              -- the circuit is open: then one probe
  paused_at     timestamptz,
  pause_reason  text CHECK (pause_reason IN ('gone', 'failing', 'operator', 'no address')),
  CHECK ((paused_at IS NULL) = (pause_reason IS NULL))
) WITH (fillfactor = 50);
INSERT INTO postback_lanes (app_id, publisher_id) SELECT app_id, publisher_id FROM postback_settings JOIN apps USING (app_id);

CREATE TABLE postbacks (
  postback_id   uuid PRIMARY KEY,                                         -- its event's: the same in every try
  app_id        bigint NOT NULL,
  is_test       boolean NOT NULL,
  conversion_id uuid NOT NULL,
  sequence      integer NOT NULL,                                         -- later ones of a conversion wait for earlier ones
  status        text NOT NULL,                                            -- what the conversion became
  state         text NOT NULL CHECK (state IN ('queued', 'sending', 'delivered', 'dead')),
  priority      smallint NOT NULL DEFAULT 0,                              -- 0: live; 1: replayed in bulk, when nothing else is due; 2: of a replay that was cancelled
  due_at        timestamptz NOT NULL,
  attempts      integer NOT NULL DEFAULT 0,                               -- counted when it is claimed
  tries         integer NOT NULL DEFAULT 0,                               -- of those, since it was queued or replayed
  claim_id      uuid,                                                     -- who sends it; nobody else may say what came of it
  lease_until   timestamptz,
  created_at    timestamptz NOT NULL,
  settled_at    timestamptz,
  last_status   integer,
  last_error    text,
  replay_id     bigint,                                                   -- and what it was before, should that be cancelled
  replayed_state text,
  replayed_settled_at timestamptz,
  test_id       uuid,                                                     -- of a test send: which run, which scenario, what it tells
  scenario      text,
  content       json,
  CHECK ((state = 'sending') = (claim_id IS NOT NULL)),
  CHECK ((claim_id IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX postbacks_due ON postbacks (app_id, priority, due_at) WHERE state = 'queued';
CREATE INDEX postbacks_sending ON postbacks (app_id, lease_until) WHERE state = 'sending';
CREATE INDEX postbacks_conversion ON postbacks (conversion_id, sequence);
CREATE INDEX postbacks_app ON postbacks (app_id, is_test, postback_id);
CREATE INDEX postbacks_dead ON postbacks (app_id, postback_id) WHERE state = 'dead';
CREATE INDEX postbacks_test ON postbacks (test_id) WHERE test_id IS NOT NULL;

-- Every try, in full. Partitioned by the id, a day each, like clicks.
CREATE TABLE postback_attempts (
  postback_id    uuid NOT NULL,
  attempt_id     uuid NOT NULL,
  attempt        integer NOT NULL,                                        -- counts from 1
  started_at     timestamptz NOT NULL,
  duration_ms    integer NOT NULL,
  ok             boolean NOT NULL,
  phase          text,                                                    -- where it ended; null: the response was read whole
  status         integer,
  error          text,
  remote_address inet,
  request        text NOT NULL,                                           -- as sent, secrets masked
  response       text NOT NULL,                                           -- up to 8 KiB
  PRIMARY KEY (postback_id, attempt_id)
) PARTITION BY RANGE (attempt_id);

-- Replays in bulk: durable, go on where they stopped.
CREATE TABLE postback_replays (
  replay_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id       bigint NOT NULL REFERENCES apps,
  filter       jsonb NOT NULL,
  state        text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled')),
  after        uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000', -- has come so far
  queued       bigint NOT NULL DEFAULT 0,
  created_at   timestamptz NOT NULL DEFAULT now(),
  finished_at  timestamptz
);

-- What a publisher must know: that its address is paused, say. Mailed where there is a mail server.
CREATE TABLE notices (
  notice_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id     bigint NOT NULL REFERENCES apps,
  kind       text NOT NULL,
  message    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  mailed_at  timestamptz,
  mail_tries integer NOT NULL DEFAULT 0                                   -- that failed
);
CREATE INDEX notices_app ON notices (app_id, notice_id);
CREATE INDEX notices_unmailed ON notices (notice_id) WHERE mailed_at IS NULL;

-- The history as before, and with it the postbacks, of those apps that want them.
CREATE OR REPLACE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH kept AS (
    INSERT INTO conversion_events
    SELECT c.conversion_id, c.sequence, c.event_id, c.app_id, c.is_test, c.actor,
      coalesce(c.reversed_at, c.rejected_at, c.approved_at, c.created_at), c.status, c.status_reason,
      c.publisher_transaction_id, c.payout_micros, c.revenue_micros, c.currency, c.rate_micros,
      c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4, c.click_id, c.click_at, c.ip, c.country, c.device, c.hold_until,
      c.approved_at, c.rejected_at, c.reversed_at
    FROM changed c
    ON CONFLICT DO NOTHING -- an update that is no move has kept its sequence
    RETURNING conversion_id, sequence, app_id, is_test, event_id, status, created_at
  ), queued AS (
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, due_at, created_at)
    SELECT k.event_id, k.app_id, k.is_test, k.conversion_id, k.sequence, k.status, 'queued', k.created_at, k.created_at
    FROM kept k JOIN postback_settings s ON s.app_id = k.app_id AND k.status = ANY (s.events)
  )
  INSERT INTO waiting_events (conversion_id, sequence, app_id, is_test)
  SELECT conversion_id, sequence, app_id, is_test FROM kept;
  RETURN NULL;
END $$;
