-- Balances are kept as sums of all entries up to one, which is seldom more than two minutes old. They used to be sums of days, and
-- whoever asked also read two or three days of the whole network's entries.

ALTER TABLE ledger_rollup ADD COLUMN entry_id bigint NOT NULL DEFAULT 0;  -- the last entry that is in the sums below
COMMENT ON COLUMN ledger_rollup.through IS 'the last closed day: nothing is posted for it any more';

CREATE TABLE ledger_balances (
  account       text NOT NULL,
  party_id      bigint NOT NULL,
  amount_micros bigint NOT NULL,
  PRIMARY KEY (account, party_id)
);

-- What conversions moved on a day (UTC), over the whole network.
CREATE TABLE network_days (
  day           date PRIMARY KEY,
  payout_micros bigint NOT NULL,
  margin_micros bigint NOT NULL
);

-- Summed up anew, by the worker.
DELETE FROM ledger_days;
