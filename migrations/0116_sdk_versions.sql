-- Every version of the SDK that a page may have been told to load: such a page keeps working after an upgrade.
CREATE TABLE sdk_versions (
  hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{16}$'),
  content    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
