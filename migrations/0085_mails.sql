-- One queue for every mail. A row says what a mail is about, never what it says: the text, and a link with its secret, are
-- written for each attempt, and of the link only a keyed hash is stored. Rows stay as a log until RETENTION_DAYS.
CREATE TABLE mails (
  mail_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind       text NOT NULL CHECK (kind IN ('invitation', 'password_reset', 'email_verification', 'security_alert', 'notice')),
  about      text NOT NULL,                                               -- the ID of the invitation, person, audit entry or notice
  recipient  text,                                                        -- null until the first attempt
  status     text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sent', 'failed')),
  attempts   integer NOT NULL DEFAULT 0,
  due_at     timestamptz NOT NULL DEFAULT now(),                          -- the next attempt; a claim moves it on: the lease
  expires_at timestamptz NOT NULL,                                        -- no attempt is made later
  failure    text,                                                        -- of the latest attempt: a code, never what a server wrote
  created_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz
);
CREATE INDEX mails_due ON mails (due_at) WHERE status = 'queued';
CREATE INDEX mails_failed ON mails (settled_at) WHERE status = 'failed';
CREATE INDEX mails_about ON mails (kind, about);
CREATE INDEX mails_created ON mails (created_at);

INSERT INTO mails (kind, about, attempts, due_at, expires_at, created_at)
  SELECT 'security_alert', audit_id::text, tries, due_at, created_at + interval '3 days', created_at FROM security_alerts;
DROP TABLE security_alerts CASCADE;
CREATE OR REPLACE FUNCTION queue_security_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mails (kind, about, expires_at) VALUES ('security_alert', NEW.audit_id::text, now() + interval '3 days');
  RETURN NULL;
END $$;

INSERT INTO mails (kind, about, recipient, status, attempts, due_at, expires_at, created_at, settled_at)
  SELECT 'notice', notice_id::text, CASE WHEN mailed_at IS NOT NULL THEN email END,
         CASE WHEN mailed_at IS NULL THEN 'queued' ELSE 'sent' END, mail_tries, now(),
         notices.created_at + interval '1 day', notices.created_at, mailed_at
  FROM notices JOIN apps USING (app_id) JOIN publishers USING (publisher_id)
  WHERE mailed_at IS NOT NULL OR notices.created_at > now() - interval '1 day';
DROP INDEX notices_unmailed;
ALTER TABLE notices DROP mailed_at, DROP mail_tries;
-- Whoever gets an address today is not mailed last month's notices.
CREATE FUNCTION queue_notice_mail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mails (kind, about, created_at, due_at, expires_at)
  VALUES ('notice', NEW.notice_id::text, NEW.created_at, NEW.created_at, NEW.created_at + interval '1 day');
  RETURN NULL;
END $$;
CREATE TRIGGER notices_mailed AFTER INSERT ON notices FOR EACH ROW EXECUTE FUNCTION queue_notice_mail();

INSERT INTO mails (kind, about, recipient, status, attempts, due_at, expires_at, failure, created_at, settled_at)
  SELECT 'invitation', invitation_id::text, email,
         CASE WHEN mail_failure = 'refused' THEN 'failed' WHEN mail_due_at IS NULL THEN 'sent' ELSE 'queued' END,
         mail_attempts, coalesce(mail_due_at, now()), expires_at, mail_failure, created_at,
         CASE WHEN mail_due_at IS NULL THEN coalesce(mailed_at, created_at) END
  FROM invitations WHERE mailed AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > now();
DROP INDEX invitations_mail_due;
ALTER TABLE invitations DROP mail_due_at, DROP mail_attempts, DROP mailed_at, DROP mail_failure;
