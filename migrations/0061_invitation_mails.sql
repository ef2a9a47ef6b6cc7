-- Mails of invitations are queued with the invitation, tried again, and shown to whoever invited. The link is made when its
-- mail is sent: only its hash is kept.
ALTER TABLE invitations
  ADD mail_due_at   timestamptz,                                          -- when it is sent, or tried again; null: not any more
  ADD mail_attempts integer NOT NULL DEFAULT 0,
  ADD mailed_at     timestamptz,                                          -- when a mail server accepted it
  ADD mail_failure  text CHECK (mail_failure IN ('unreachable', 'refused'));
UPDATE invitations SET mailed_at = created_at WHERE mailed;
CREATE INDEX invitations_mail_due ON invitations (mail_due_at) WHERE mail_due_at IS NOT NULL;
