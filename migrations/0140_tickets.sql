-- Questions of a wall's signed users, answered by the publisher's people.
CREATE TABLE tickets (
  ticket_id  uuid PRIMARY KEY,                                  -- UUIDv7
  app_id     bigint NOT NULL REFERENCES apps,
  is_test    boolean NOT NULL,
  user_id    text NOT NULL,
  submit_key uuid NOT NULL,                                     -- of the page: a repeated submit is the same ticket
  kind       text NOT NULL CHECK (kind IN ('not_credited', 'question', 'other')),
  offer_id   bigint REFERENCES offers,                          -- which the user has started or completed
  click_id   uuid,                                              -- the user's latest of that offer; the click itself goes earlier
  email      text,                                              -- where the user wants answers, too
  country    text,
  device     text,
  os         text,
  status     text NOT NULL CHECK (status IN ('open', 'answered', 'closed')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (app_id, is_test, user_id, submit_key)
);
CREATE INDEX tickets_app ON tickets (app_id, is_test, ticket_id);
CREATE INDEX tickets_user ON tickets (app_id, is_test, user_id, ticket_id);
CREATE INDEX tickets_status ON tickets (app_id, is_test, status, ticket_id);
CREATE INDEX tickets_updated ON tickets (updated_at);

CREATE TABLE ticket_messages (
  message_id uuid PRIMARY KEY,                                  -- UUIDv7
  ticket_id  uuid NOT NULL REFERENCES tickets ON DELETE CASCADE,
  submit_key uuid NOT NULL,
  author     text,                                              -- the email address of a person; null: the user
  text       text NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
  created_at timestamptz NOT NULL,
  UNIQUE (ticket_id, submit_key)
);
CREATE INDEX ticket_messages_ticket ON ticket_messages (ticket_id, message_id);

-- Private, unlike those in images.
CREATE TABLE ticket_images (
  message_id uuid PRIMARY KEY REFERENCES ticket_messages ON DELETE CASCADE,
  type       text NOT NULL,
  content    bytea NOT NULL CHECK (length(content) BETWEEN 1 AND 1048576),
  created_at timestamptz NOT NULL
);
CREATE INDEX ticket_images_created ON ticket_images (created_at);
ALTER TABLE ticket_images ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed already
