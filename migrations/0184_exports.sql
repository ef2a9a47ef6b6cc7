-- How far clicks and events of conversions are exported (features/exports), to each target: one that is new begins with
-- the first row, and one that is used again goes on.
CREATE TABLE export_positions (
  target        text NOT NULL,                                            -- as it is shown, without secrets
  kind          text NOT NULL CHECK (kind ~ '^[a-z_]{1,40}$'),
  through       bigint NOT NULL DEFAULT 0,                                -- the position up to which rows are in files
  planned       bigint,                                                   -- up to which they are being written
  old_through   uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000', -- the same for clicks without a number, by ID
  old_planned   uuid,
  files         bigint NOT NULL DEFAULT 0,
  rows          bigint NOT NULL DEFAULT 0,
  listed        bigint NOT NULL DEFAULT 0,                                -- of the files, those in a manifest
  manifest_bytes bigint NOT NULL DEFAULT 0,                               -- of the manifest with the last of those
  due_at        timestamptz NOT NULL DEFAULT now(),
  created_at    timestamptz NOT NULL DEFAULT now(),
  caught_up_at  timestamptz,                                              -- everything of before this time is exported; null: not yet
  failures      integer NOT NULL DEFAULT 0,                               -- in a row
  failing_since timestamptz,
  failure       text,
  mailed_at     timestamptz,
  lost_rows     bigint NOT NULL DEFAULT 0,                                -- deleted by retention before they were exported
  PRIMARY KEY (target, kind)
);

-- The files of the latest manifests, in their order.
CREATE TABLE export_files (
  target         text NOT NULL,
  kind           text NOT NULL,
  file_no        bigint NOT NULL,                                         -- counts the files of a kind from 1
  path           text NOT NULL,
  day            date NOT NULL,
  rows           integer NOT NULL,
  bytes          bigint NOT NULL,
  sha256         text NOT NULL,
  first_position bigint,
  last_position  bigint,
  schema_version integer NOT NULL,
  exported_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (target, kind, file_no),
  UNIQUE (target, path)
);
