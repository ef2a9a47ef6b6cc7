-- The queue of postbacks gets a narrow table of its own: `postbacks` is the record of what was sent and what came of it,
-- `postback_queue` holds only what is still to be sent. The protocol is at the top of src/features/postbacks/queue.ts.
--
-- A row of `postbacks` is queued by the trigger below, whoever inserts it. Its `state` says what came of it: 'queued' until
-- it was delivered or given up for the first time. While it is sent again, it keeps what came of it before.

CREATE TABLE postback_queue (
  app_id        bigint NOT NULL,
  postback_id   uuid NOT NULL,
  conversion_id uuid NOT NULL,
  sequence      integer NOT NULL,                                         -- later ones of a conversion wait for earlier ones
  status        text NOT NULL,
  is_test       boolean NOT NULL,
  scenario      text,                                                     -- of a test send
  state         text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'later', 'behind', 'sending')),
  priority      smallint NOT NULL DEFAULT 0,                              -- -1: test send; 0: live; 1: replayed in bulk
  due_at        timestamptz NOT NULL DEFAULT now(),
  attempts      integer NOT NULL DEFAULT 0,                               -- counted when it is claimed
  tries         integer NOT NULL DEFAULT 0,                               -- of those, since it was queued or replayed
  claim_id      uuid,                                                     -- the fence: only this claim may say what came of it
  lease_until   timestamptz,
  is_replay     boolean NOT NULL DEFAULT false,
  replay_id     bigint,                                                   -- the replay in bulk that queued it
  on_failure    text CHECK (on_failure IN ('restart', 'forget')),         -- null: as the schedule says
  PRIMARY KEY (app_id, postback_id),
  CHECK ((state = 'sending') = (claim_id IS NOT NULL)),
  CHECK ((claim_id IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
CREATE INDEX postback_queue_ready ON postback_queue (app_id, priority, due_at) WHERE state = 'ready';
CREATE INDEX postback_queue_later ON postback_queue (due_at) WHERE state = 'later';
CREATE INDEX postback_queue_sending ON postback_queue (app_id) WHERE state = 'sending';
CREATE INDEX postback_queue_conversion ON postback_queue (conversion_id, sequence);
CREATE INDEX postback_queue_replayed ON postback_queue (app_id, replay_id) WHERE replay_id IS NOT NULL;

CREATE FUNCTION queue_postbacks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO postback_queue (app_id, postback_id, conversion_id, sequence, status, is_test, scenario, priority)
  SELECT app_id, postback_id, conversion_id, sequence, status, is_test, scenario, CASE WHEN scenario IS NULL THEN 0 ELSE -1 END
  FROM added WHERE state = 'queued';
  RETURN NULL;
END $$;

-- From here on nobody else writes postbacks until this is committed, so none is left out. What a worker of the version
-- before was sending is due when its lease ends.
LOCK TABLE postbacks IN ACCESS EXCLUSIVE MODE;
CREATE TRIGGER queue_postbacks AFTER INSERT ON postbacks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_postbacks();
INSERT INTO postback_queue (app_id, postback_id, conversion_id, sequence, status, is_test, scenario, state, priority, due_at,
  attempts, tries, is_replay, replay_id)
SELECT app_id, postback_id, conversion_id, sequence, status, is_test, scenario,
  CASE WHEN coalesce(lease_until, due_at) <= now() THEN 'ready' ELSE 'later' END,
  CASE WHEN scenario IS NULL THEN priority ELSE -1 END, coalesce(lease_until, due_at), attempts, tries,
  replay_id IS NOT NULL, CASE WHEN priority = 1 THEN replay_id END
FROM postbacks WHERE state = 'queued' OR (state = 'sending' AND priority < 2);
UPDATE postbacks SET state = coalesce(replayed_state, 'queued'), claim_id = NULL, lease_until = NULL,
  settled_at = CASE WHEN replayed_state IS NOT NULL THEN replayed_settled_at END
WHERE state = 'sending' OR (state = 'queued' AND replayed_state IS NOT NULL);
ALTER TABLE postbacks DROP priority, DROP tries, DROP claim_id, DROP lease_until, DROP replay_id, DROP replayed_state,
  DROP replayed_settled_at, ALTER due_at SET DEFAULT now();
COMMENT ON COLUMN postbacks.due_at IS 'of its first attempt; the queue knows the next one';

ALTER TABLE postback_lanes
  ADD settings_version integer NOT NULL DEFAULT 1,                        -- results of attempts with older settings do not count
  ADD last_failure_at  timestamptz,
  ADD is_sifted        boolean NOT NULL DEFAULT true;                     -- nothing is queued that its app no longer wants

ALTER TABLE postback_replays ADD skipped bigint NOT NULL DEFAULT 0;        -- a later event of the conversion was delivered
UPDATE postback_lanes SET last_failure_at = failing_since WHERE failing_since IS NOT NULL;
