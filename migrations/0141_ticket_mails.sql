-- Mails about tickets: to the publisher's people when one waits for them, and to users when one is answered.
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind IN (
  'invitation', 'password_reset', 'email_verification', 'security_alert', 'notice', 'ticket', 'ticket_answer'));

ALTER TABLE tickets ADD lang text;               -- of the wall it was opened on; answers are mailed in it
ALTER TABLE ticket_messages ADD emailed_to text; -- an answer that is also mailed

-- How much is mailed in a day is limited: to a mailbox, whatever follows a + in its name, and for an app.
CREATE INDEX ticket_messages_mailbox ON ticket_messages (lower(regexp_replace(emailed_to, '[+][^@]*@', '@')), created_at)
  WHERE emailed_to IS NOT NULL;
CREATE INDEX tickets_with_email ON tickets (app_id, updated_at) WHERE email IS NOT NULL;
