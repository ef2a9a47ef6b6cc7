-- People: who signs in to the dashboard, what they may do, and what they did.
--
-- people, sessions, sign_ins, verifications and two_factors belong to better-auth, under names of ours. It finds rows by
-- their `id`.

CREATE TABLE people (
  id                 uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name               text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  email              text NOT NULL UNIQUE CHECK (email = lower(email)),
  email_verified     boolean NOT NULL DEFAULT false,
  image              text,
  role               text NOT NULL CHECK (role IN ('operator', 'operator_reader', 'publisher_owner', 'publisher_member')),
  publisher_id       bigint REFERENCES publishers,                        -- of publisher's people only
  two_factor_enabled boolean NOT NULL DEFAULT false,
  disabled_at        timestamptz,                                         -- may not sign in any more
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  CHECK ((role IN ('publisher_owner', 'publisher_member')) = (publisher_id IS NOT NULL))
);
CREATE INDEX people_publisher ON people (publisher_id);

CREATE TABLE sessions (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  token      text NOT NULL UNIQUE,
  person_id  uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_person ON sessions (person_id);

CREATE TABLE sign_ins (                                                   -- ways to sign in: the password
  id                       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  account_id               text NOT NULL,
  provider_id              text NOT NULL,
  person_id                uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  password                 text,                                          -- hashed
  access_token             text,
  refresh_token            text,
  id_token                 text,
  access_token_expires_at  timestamptz,
  refresh_token_expires_at timestamptz,
  scope                    text,
  created_at               timestamptz NOT NULL DEFAULT now(),
  updated_at               timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider_id, account_id)
);
CREATE INDEX sign_ins_person ON sign_ins (person_id);

CREATE TABLE verifications (                                              -- things sent out to come back: reset links
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  identifier text NOT NULL,
  value      text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX verifications_identifier ON verifications (identifier);

CREATE TABLE two_factors (
  id                        uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  secret                    text NOT NULL,                                -- encrypted
  backup_codes              text NOT NULL,                                -- encrypted
  person_id                 uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  verified                  boolean,
  failed_verification_count integer,
  locked_until              timestamptz
);
CREATE INDEX two_factors_person ON two_factors (person_id);
CREATE INDEX two_factors_secret ON two_factors (secret);

-- The way in for new people. The first one is the operator's, printed when the server starts.
CREATE TABLE invitations (
  invitation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  token_hash    text NOT NULL UNIQUE,
  email         text,                                                     -- null: whoever has the link says which
  role          text NOT NULL CHECK (role IN ('operator', 'operator_reader', 'publisher_owner', 'publisher_member')),
  publisher_id  bigint REFERENCES publishers,
  invited_by    uuid REFERENCES people,                                   -- null: the command line
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  accepted_at   timestamptz,
  revoked_at    timestamptz,
  CHECK ((role IN ('publisher_owner', 'publisher_member')) = (publisher_id IS NOT NULL))
);
CREATE INDEX invitations_publisher ON invitations (publisher_id);

-- For programs that use the management API in somebody's name.
CREATE TABLE access_tokens (
  token_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  person_id    uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  token_hash   text NOT NULL UNIQUE,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz
);
CREATE INDEX access_tokens_person ON access_tokens (person_id);

-- Every change by every person. Only ever added to.
CREATE TABLE audit_log (
  audit_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at   timestamptz NOT NULL DEFAULT now(),
  person_id    uuid,                                                      -- null: nobody was signed in
  who          text NOT NULL,                                             -- the e-mail address then
  action       text NOT NULL,                                             -- noun.verb
  subject      text NOT NULL,                                             -- the noun's id
  publisher_id bigint,                                                    -- whom it concerns; null: the network
  details      jsonb NOT NULL DEFAULT '{}',
  ip           inet,
  part_of      bigint                                                     -- the deed on many that this is one of, such as an import
);
CREATE INDEX audit_log_whole ON audit_log (audit_id) WHERE part_of IS NULL;
CREATE INDEX audit_log_publisher ON audit_log (publisher_id, audit_id) WHERE publisher_id IS NOT NULL;
CREATE INDEX audit_log_subject ON audit_log (action text_pattern_ops, subject, audit_id);
CREATE TRIGGER audit_log_kept BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- When an API key was used: for the first-run checklist, and to see which keys nobody uses any more.
CREATE TABLE credential_uses (
  api_key       text PRIMARY KEY,
  first_used_at timestamptz NOT NULL,
  last_used_at  timestamptz NOT NULL
);

-- Which of an app's keys a secret belonged to that came from a browser. Of those before it is not known: both are warned of.
ALTER TABLE credentials
  ADD secret_leaked_at     timestamptz,                                   -- last time
  ADD secret_leaked_origin text;
UPDATE credentials SET secret_leaked_at = apps.secret_leaked_at, secret_leaked_origin = apps.secret_leaked_origin
  FROM apps WHERE apps.app_id = credentials.app_id AND apps.secret_leaked_at IS NOT NULL;
ALTER TABLE apps DROP secret_leaked_at, DROP secret_leaked_origin;

-- What the operator allows.

ALTER TABLE publishers
  ADD status             text NOT NULL DEFAULT 'active' CHECK (status IN ('pending', 'active', 'suspended')), -- pending: test keys only
  ADD only_listed_offers boolean NOT NULL DEFAULT false,                  -- or all but those that are listed as not allowed
  ADD share_ppm          integer NOT NULL DEFAULT 1000000 CHECK (share_ppm BETWEEN 0 AND 1000000); -- of what offers pay; the rest is the network's
ALTER TABLE clicks ADD share_ppm integer;                                 -- as it was then; null: all of it

CREATE TABLE publisher_offers (
  publisher_id bigint NOT NULL REFERENCES publishers,
  offer_id     bigint NOT NULL REFERENCES offers,
  is_allowed   boolean NOT NULL,
  PRIMARY KEY (publisher_id, offer_id)
);

-- Users who are shown nothing and paid nothing.
CREATE TABLE banned_users (
  ban_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id     bigint REFERENCES apps,                                      -- null: in every app
  user_id    text NOT NULL CHECK (user_id <> ''),
  reason     text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX banned_users_once ON banned_users (user_id, coalesce(app_id, 0));
CREATE INDEX banned_users_app ON banned_users (app_id);

-- The operator's queue and flags.
CREATE INDEX conversions_pending ON conversions (conversion_id) WHERE status = 'pending' AND NOT is_test;
CREATE INDEX conversions_flagged ON conversions (conversion_id) WHERE signals <> '{}';

-- The log of one advertiser, newest first: a quiet one's would else be looked for in everybody's.
CREATE INDEX inbound_calls_advertiser ON inbound_calls (advertiser_id, inbound_id);

-- Processes that run now, for whoever looks after them. Each says every few seconds that it is there.
CREATE TABLE nodes (
  node_id    uuid PRIMARY KEY,
  host       text NOT NULL,
  pid        integer NOT NULL,
  part       text NOT NULL CHECK (part IN ('api', 'worker')),
  version    text NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL
);
