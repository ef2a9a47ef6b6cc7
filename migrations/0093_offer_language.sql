-- The language of an offer, an ISO 639-1 code, for publishers to show. Existing offers have none, so nothing is validated.
ALTER TABLE offers
  ADD COLUMN language text,
  ADD CONSTRAINT offers_language CHECK (language ~ '^[a-z]{2}$') NOT VALID;
