-- The signing secrets that others have taken the place of, while their grace lasts: as many as there were rotations.

CREATE TABLE old_signing_secrets (
  api_key    text NOT NULL REFERENCES credentials,
  sealed     bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (api_key, sealed)
);
INSERT INTO old_signing_secrets (api_key, sealed, expires_at)
SELECT api_key, old_signing_secret_sealed, old_signing_secret_expires_at FROM credentials
WHERE old_signing_secret_sealed IS NOT NULL AND old_signing_secret_expires_at > now();
ALTER TABLE credentials DROP old_signing_secret_sealed, DROP old_signing_secret_expires_at;
