-- Reward apps, and the balances of their users.
ALTER TABLE apps
  ADD kind          text NOT NULL DEFAULT 'reward' CHECK (kind IN ('reward', 'tracking')), -- tracking: server only, without a wall
  ADD keeps_balance boolean NOT NULL DEFAULT false;                       -- rewards are added to a balance of each user

-- What a payout is worth in an app's currency, in ten thousandths of a unit: the same as rewardSteps in the program.
-- `rounding` is down, nearest or up, and how many decimals; null: down to four.
CREATE FUNCTION reward_steps(payout_micros bigint, rate_micros bigint, rounding text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN rounding IS NULL THEN div(payout_micros::numeric * rate_micros, 100000000) ELSE (
    SELECT div(payout_micros::numeric * rate_micros
      + CASE left(rounding, -1) WHEN 'up' THEN size - 1 WHEN 'nearest' THEN div(size, 2) ELSE 0 END, size) * div(size, 100000000)
    FROM (SELECT (ARRAY[1000000000000, 100000000000, 10000000000, 1000000000, 100000000])[right(rounding, 1)::integer + 1]::numeric AS size) unit
  ) END
$$;

-- A user's balance is the sum of these. No row holds the sum: conversions would wait for each other, and for debits, on it.
-- Kept for good, like the conversions that most of them are of. No references, as for conversions.
CREATE TABLE user_entries (
  entry_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id        bigint NOT NULL,
  is_test       boolean NOT NULL,
  user_id       text NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('reward', 'reversal', 'debit')),
  amount_steps  bigint NOT NULL CHECK ((kind = 'reward') = (amount_steps > 0) AND amount_steps <> 0), -- ten thousandths of the app's currency
  conversion_id uuid,
  key           text,                                                     -- the Idempotency-Key of a debit
  note          text,
  created_at    timestamptz NOT NULL,
  CHECK ((kind = 'debit') = (conversion_id IS NULL)),
  CHECK ((kind = 'debit') = (key IS NOT NULL))
);
CREATE INDEX user_entries_user ON user_entries (app_id, user_id, is_test, entry_id) INCLUDE (amount_steps);
-- A conversion is approved once and reversed once: neither counts twice.
CREATE UNIQUE INDEX user_entries_conversion ON user_entries (conversion_id, kind) WHERE conversion_id IS NOT NULL;
CREATE UNIQUE INDEX user_entries_key ON user_entries (app_id, is_test, key) WHERE key IS NOT NULL;
CREATE TRIGGER user_entries_kept BEFORE UPDATE OR DELETE ON user_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER user_entries_not_emptied BEFORE TRUNCATE ON user_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Every event of a conversion passes here, in the transaction of its change. A reversal takes back what its approval gave,
-- whatever the app is set to since; what was approved while the app kept no balances is not taken from one.
CREATE FUNCTION keep_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, conversion_id, created_at)
  SELECT c.app_id, c.is_test, c.user_id, 'reward', least(reward_steps(c.payout_micros, c.rate_micros, NULL), 9007199254740991),
    c.conversion_id, e.created_at
  FROM added e JOIN apps a ON a.app_id = e.app_id JOIN conversions c ON c.conversion_id = e.conversion_id
  WHERE e.status = 'approved' AND a.keeps_balance AND reward_steps(c.payout_micros, c.rate_micros, NULL) > 0;
  INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, conversion_id, created_at)
  SELECT r.app_id, r.is_test, r.user_id, 'reversal', -r.amount_steps, r.conversion_id, e.created_at
  FROM added e JOIN user_entries r ON r.conversion_id = e.conversion_id AND r.kind = 'reward'
  WHERE e.status = 'reversed';
  RETURN NULL;
END $$;
CREATE TRIGGER conversion_events_balance AFTER INSERT ON conversion_events
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_balances();
