-- Balances of users as sums of all entries up to one, which is seldom more than some seconds old: reading a balance costs the
-- same however long the user has been there.
CREATE TABLE user_balances (
  app_id       bigint NOT NULL,
  user_id      text NOT NULL,
  is_test      boolean NOT NULL,
  amount_steps numeric NOT NULL,                                          -- ten thousandths of the app's currency
  PRIMARY KEY (app_id, user_id, is_test)
);
CREATE TABLE user_balances_rollup (
  entry_id bigint NOT NULL                                                -- the last entry that is in the sums above
);
CREATE UNIQUE INDEX user_balances_rollup_one ON user_balances_rollup ((true));
INSERT INTO user_balances_rollup VALUES (0);                              -- the worker adds what is there

-- As the calling statement sees the sum and the entries behind it. A function with a plan for each call, because PostgreSQL would
-- take a third of the user's entries for behind the last one.
CREATE FUNCTION user_balance(of_app bigint, of_user text, of_test boolean) RETURNS bigint LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan AS $$
DECLARE last bigint;
BEGIN
  SELECT entry_id INTO last FROM user_balances_rollup;
  RETURN least(9007199254740991, greatest(-9007199254740991,              -- what the program can count to, as for each entry
    coalesce((SELECT amount_steps FROM user_balances WHERE app_id = of_app AND user_id = of_user AND is_test = of_test), 0)
    + coalesce((SELECT sum(amount_steps) FROM user_entries
        WHERE app_id = of_app AND user_id = of_user AND is_test = of_test AND entry_id > last), 0)));
END $$;

-- A transaction gets its ID before its entries get theirs, which the sums rely on: see src/db/settled-ids.ts.
CREATE FUNCTION take_transaction_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_current_xact_id();
  RETURN NULL;
END $$;
CREATE TRIGGER user_entries_transaction BEFORE INSERT ON user_entries
  FOR EACH STATEMENT EXECUTE FUNCTION take_transaction_id();
