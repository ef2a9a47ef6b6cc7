-- Sign-up of publishers, which the operator opens: who may apply, what is asked, and what became of it.
ALTER TABLE network_settings ADD sign_up jsonb NOT NULL DEFAULT '{}';

CREATE TABLE applications (
  application_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  status         text NOT NULL DEFAULT 'unverified' CHECK (status IN ('unverified', 'waiting', 'approved', 'refused')),
  name           text NOT NULL,                                           -- of the person
  email          text NOT NULL,
  password_hash  text,                                                    -- until there is an account
  company        text NOT NULL,
  website        text NOT NULL,
  answers        jsonb NOT NULL,                                          -- with their questions, as they were asked
  terms_version  text,                                                    -- accepted with the form; null: there were none
  ip             text,
  token_hash     text UNIQUE,                                             -- of the latest emailed link
  publisher_id   bigint UNIQUE REFERENCES publishers,
  person_id      uuid REFERENCES people,
  created_at     timestamptz NOT NULL,
  verified_at    timestamptz,
  decided_at     timestamptz,
  decided_by     text,
  reason         text,                                                    -- of a refusal, as the applicant reads it
  CHECK ((status = 'unverified') = (publisher_id IS NULL) AND (status = 'unverified') = (password_hash IS NOT NULL))
);
CREATE INDEX applications_created ON applications (created_at);
CREATE INDEX applications_status ON applications (status, application_id);
-- How much is mailed in a day is limited to a mailbox, whatever follows a + in its name.
CREATE INDEX applications_mailbox ON applications (lower(regexp_replace(email, '[+][^@]*@', '@')), created_at);

-- Terms of service that a publisher accepted. Their text is in the audit log, where they were set.
CREATE TABLE accepted_service_terms (
  publisher_id bigint NOT NULL REFERENCES publishers,
  version      text NOT NULL,
  accepted_at  timestamptz NOT NULL,
  accepted_by  uuid NOT NULL REFERENCES people,
  ip           text,
  PRIMARY KEY (publisher_id, version)
);
CREATE INDEX accepted_service_terms_version ON accepted_service_terms (version);

-- Which kinds of mail there are is for the code to say: a node takes those that it knows.
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind ~ '^[a-z_]{1,40}$');
