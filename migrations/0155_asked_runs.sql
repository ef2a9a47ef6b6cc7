-- Runs and previews that a person asked for wait here until a worker takes them.
ALTER TABLE feed_runs
  ADD asked_by jsonb, -- null: the schedule
  ADD audit_id bigint,
  ADD taken_at timestamptz DEFAULT now(); -- null: it waits
CREATE UNIQUE INDEX feed_runs_previewing ON feed_runs (feed_id) WHERE ended_at IS NULL AND is_preview;
CREATE INDEX feed_runs_waiting ON feed_runs (run_id) WHERE ended_at IS NULL AND taken_at IS NULL;
CREATE INDEX feed_changes_kind ON feed_changes (run_id, kind, external_id);
CREATE INDEX feed_offers_held ON feed_offers (feed_id, external_id) WHERE held_hash IS NOT NULL;
ALTER TABLE feed_offers ADD held_payout jsonb; -- before and after
