-- Uploaded images, in the database so that every node serves them. The name says what the content is: images never change.
CREATE TABLE images (
  name       text PRIMARY KEY CHECK (name ~ '^[0-9a-f]{32}\.(png|jpg|webp|gif)$'),
  content    bytea NOT NULL CHECK (length(content) BETWEEN 1 AND 1048576),
  created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE images ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed already
