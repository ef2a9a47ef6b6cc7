-- Balances are kept as sums of all entries up to one, which is seldom more than some seconds old. They used to be sums of days, and
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

-- The entries that are not in the sums yet, as the calling statement sees both. A function, because PostgreSQL would take a
-- third of all entries for behind the last one, and go through everything that a party ever had instead.
CREATE FUNCTION open_entries() RETURNS SETOF ledger_entries LANGUAGE plpgsql STABLE ROWS 100 AS $$
DECLARE last bigint;
BEGIN
  SELECT r.entry_id INTO last FROM ledger_rollup r;
  RETURN QUERY SELECT * FROM ledger_entries e WHERE e.entry_id > last;
END $$;

-- Summed up anew, by the worker.
DELETE FROM ledger_days;
