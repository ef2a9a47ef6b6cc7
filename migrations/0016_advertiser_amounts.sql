-- How an advertiser writes amounts, where that is not plain by itself.
ALTER TABLE advertisers
  ADD COLUMN negative_amount text NOT NULL DEFAULT 'refuse' CHECK (negative_amount IN ('refuse', 'reversal', 'ignore')),
  ADD COLUMN decimal_mark    text NOT NULL DEFAULT 'detect' CHECK (decimal_mark IN ('detect', 'point', 'comma'));
