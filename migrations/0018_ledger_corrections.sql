-- Corrections of the ledger (voids and adjustments, always postings of their own) and payment runs.

-- A void is a posting of the kind that it voids, with every sign turned round, so that sums of a kind are right by
-- themselves. An adjustment is a credit or a debit of a party against the network's margin.
ALTER TABLE ledger_entries
  ADD voids  uuid,                                                        -- the posting that this one undoes
  ADD reason text,                                                        -- of a void or an adjustment
  DROP CONSTRAINT ledger_entries_kind_check;
ALTER TABLE ledger_entries
  ADD CONSTRAINT ledger_entries_kind_check CHECK (kind IN ('conversion', 'payout', 'receipt', 'adjustment')) NOT VALID,
  ADD CONSTRAINT ledger_entries_reason_check
    CHECK ((reason IS NOT NULL) = (kind = 'adjustment' OR voids IS NOT NULL) AND NOT (kind = 'conversion' AND voids IS NOT NULL)) NOT VALID;

-- A payment run: who is to be paid how much, as it stood when the run was created.
CREATE TABLE payment_runs (
  run_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  status         text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'exported', 'paid', 'cancelled')),
  minimum_micros bigint NOT NULL CHECK (minimum_micros >= 0),
  created_by     text NOT NULL,
  created_at     timestamptz NOT NULL,
  exported_at    timestamptz,
  closed_at      timestamptz,                                             -- when no line was due any more
  CHECK ((closed_at IS NOT NULL) = (status IN ('paid', 'cancelled')))
);

CREATE TABLE payment_run_lines (
  run_id         bigint NOT NULL REFERENCES payment_runs,
  publisher_id   bigint NOT NULL REFERENCES publishers,
  name           text NOT NULL,
  email          text,
  payable_micros bigint NOT NULL,                                         -- the balance when the run was created
  amount_micros  bigint NOT NULL CHECK (amount_micros BETWEEN 1 AND payable_micros),
  status         text NOT NULL DEFAULT 'due' CHECK (status IN ('due', 'paid', 'cancelled')),
  reason         text,                                                    -- why it was cancelled
  posting_id     uuid,                                                    -- of the payout
  settled_at     timestamptz,
  PRIMARY KEY (run_id, publisher_id),
  CHECK ((posting_id IS NOT NULL) = (status = 'paid')),
  CHECK ((settled_at IS NOT NULL) = (status <> 'due'))
);
-- Two runs never pay the same balance: a publisher is due in one of them.
CREATE UNIQUE INDEX payment_run_lines_due ON payment_run_lines (publisher_id) WHERE status = 'due';
CREATE INDEX payment_run_lines_publisher ON payment_run_lines (publisher_id, run_id);

-- A line is paid or cancelled once, and says for good what it said when the run was created.
CREATE FUNCTION keep_run_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> 'due' OR (NEW.run_id, NEW.publisher_id, NEW.name, NEW.email, NEW.payable_micros, NEW.amount_micros)
    IS DISTINCT FROM (OLD.run_id, OLD.publisher_id, OLD.name, OLD.email, OLD.payable_micros, OLD.amount_micros)
  THEN RAISE EXCEPTION 'A line of a payment run is never changed.' USING ERRCODE = 'OD001'; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payment_run_lines_kept BEFORE UPDATE ON payment_run_lines FOR EACH ROW EXECUTE FUNCTION keep_run_line();
CREATE TRIGGER payment_run_lines_not_deleted BEFORE DELETE ON payment_run_lines FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payment_runs_not_deleted BEFORE DELETE ON payment_runs FOR EACH ROW EXECUTE FUNCTION refuse_change();
