-- What one unit of another currency is worth in US dollars, from a day on.
CREATE TABLE currency_rates (
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$' AND currency <> 'USD'),
  day date NOT NULL,
  usd numeric(20, 10) NOT NULL CHECK (usd > 0),
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (currency, day)
);

-- What the transaction ID of a reversal begins with; the rest is that of what is reversed.
ALTER TABLE advertisers ADD reversal_prefix text NOT NULL DEFAULT '';
