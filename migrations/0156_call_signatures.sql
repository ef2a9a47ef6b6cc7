-- How an advertiser signs its callbacks; null: it does not.
ALTER TABLE advertisers
  ADD signature jsonb,
  ADD signature_secret bytea, -- sealed
  ADD CHECK ((signature IS NULL) = (signature_secret IS NULL));
