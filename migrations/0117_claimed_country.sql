-- A signal of fraud: the page that showed the offers named another country than that of its visitor.
ALTER TABLE fraud_rules DROP CONSTRAINT fraud_rules_signal_check,
  ADD CONSTRAINT fraud_rules_signal_check
    CHECK (signal IN ('too_fast', 'ip_users', 'geo_mismatch', 'listed_ip', 'user_velocity', 'bot', 'claimed_country'));
INSERT INTO fraud_rules (signal, threshold, action) VALUES ('claimed_country', NULL, 'flag');
