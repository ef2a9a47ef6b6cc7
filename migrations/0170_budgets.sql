-- Budgets: what an advertiser may spend over all its offers, a day and a month (UTC) and in total from when that was set. While
-- one is used up, its offers are closed (src/features/ledger/budgets).
CREATE TABLE advertiser_budgets (
  advertiser_id  bigint PRIMARY KEY REFERENCES advertisers,
  daily_micros   bigint CHECK (daily_micros > 0),
  monthly_micros bigint CHECK (monthly_micros > 0),
  total_micros   bigint CHECK (total_micros > 0),
  total_since    timestamptz,
  spent_before   bigint,       -- what it had spent until then
  CHECK ((total_micros IS NULL) = (total_since IS NULL) AND (total_micros IS NULL) = (spent_before IS NULL))
);
CREATE TABLE budget_warnings (
  advertiser_id bigint NOT NULL REFERENCES advertisers,
  period        text NOT NULL CHECK (period IN ('daily', 'monthly', 'total')),
  starts_on     date NOT NULL, -- the period that it is about
  percent       smallint NOT NULL,
  PRIMARY KEY (advertiser_id, period, percent)
);
ALTER TABLE offers ADD budget_until timestamptz;
COMMENT ON COLUMN offers.budget_until IS 'closed until then: a budget of its advertiser is used up';
