-- Calls that came to nothing so far, beside the log of all calls: what waits for its click, and what needs the operator.
-- Small, and without partitions: looking for what waits costs the same however long the log is.
CREATE TABLE open_calls (
  inbound_id      uuid PRIMARY KEY,
  advertiser_id   bigint NOT NULL,
  click_id        uuid,
  outcome         text NOT NULL CHECK (outcome IN ('unmatched', 'invalid', 'refused')),
  next_attempt_at timestamptz                                             -- null: nothing happens by itself any more
);
CREATE INDEX open_calls_due ON open_calls (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX open_calls_waiting ON open_calls (click_id, inbound_id) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX open_calls_advertiser ON open_calls (advertiser_id, inbound_id);

INSERT INTO open_calls (inbound_id, advertiser_id, click_id, outcome, next_attempt_at)
SELECT inbound_id, advertiser_id, click_id::uuid, outcome, next_attempt_at FROM inbound_calls
WHERE next_attempt_at IS NOT NULL AND advertiser_id IS NOT NULL AND outcome = 'unmatched';

DROP INDEX inbound_calls_due;
DROP INDEX inbound_calls_waiting;
ALTER TABLE inbound_calls DROP COLUMN next_attempt_at;
