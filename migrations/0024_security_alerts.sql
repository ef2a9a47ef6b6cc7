-- Entries of the audit log that people are mailed about. The trigger queues them in the transaction of the change, whoever
-- makes it; a worker sends them and takes them out.
CREATE TABLE security_alerts (
  audit_id   bigint PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  tries      integer NOT NULL DEFAULT 0,
  due_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX security_alerts_due ON security_alerts (due_at);

CREATE FUNCTION queue_security_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO security_alerts (audit_id) VALUES (NEW.audit_id);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_log_alerts AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action IN ('password.change', 'password.reset', 'two_factor.enable', 'two_factor.disable', 'user.reset_two_factor',
                       'token.create', 'app.rotate_secret', 'app.rotate_signing_secret', 'app.set_postback', 'postback_settings.remove',
                       'advertiser.rotate_token')
        OR (NEW.action = 'session.start' AND NEW.details @> '{"new_place": true}')
        OR (NEW.action = 'postback_settings.save' AND NEW.details @> '{"address_changed": true}'))
  EXECUTE FUNCTION queue_security_alert();

-- Where somebody has signed in from: networks, the latest few of each person.
CREATE TABLE sign_in_places (
  person_id uuid NOT NULL REFERENCES people ON DELETE CASCADE,
  network   text NOT NULL,
  seen_at   timestamptz NOT NULL,
  PRIMARY KEY (person_id, network)
);
INSERT INTO sign_in_places (person_id, network, seen_at)
  SELECT person_id, network, max(updated_at)
  FROM (
    SELECT person_id, updated_at,
           text(network(set_masklen(ip_address::inet, CASE family(ip_address::inet) WHEN 4 THEN 24 ELSE 48 END))) AS network
    FROM sessions WHERE ip_address IS NOT NULL AND ip_address ~ '^[0-9a-fA-F.:]+$'
  ) known GROUP BY person_id, network;

-- Whether a code of the second factor was given for a session: those without are over once their person has one.
ALTER TABLE sessions ADD with_code boolean NOT NULL DEFAULT false;
UPDATE sessions SET with_code = true FROM people WHERE people.id = person_id AND people.two_factor_enabled;
