-- How an app's receiver expects postbacks: words, formats, answers and a signature of its own, with the secret for it.
ALTER TABLE postback_settings
  ADD dialect jsonb, -- null: Offerdeck's own
  ADD receiver_secret_sealed bytea;
