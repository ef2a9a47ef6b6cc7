-- What was accepted as a version of the terms: a hash of it (src/features/accounts/sign-up/terms-hash.ts). Null: not known.
ALTER TABLE applications ADD terms_hash text;
ALTER TABLE accepted_service_terms ADD terms_hash text;

-- Terms are in the audit log since they were set.
WITH given AS MATERIALIZED (
  SELECT audit_id, created_at, terms ->> 'version' AS version,
         encode(sha256(convert_to(CASE WHEN terms ->> 'url' IS NULL THEN 'text:' || (terms ->> 'text') ELSE 'url:' || (terms ->> 'url') END, 'UTF8')), 'hex') AS terms_hash
  FROM audit_log CROSS JOIN LATERAL (SELECT details #> '{terms,after}' AS terms) AS change
  WHERE action = 'sign_up.set' AND part_of IS NULL AND jsonb_typeof(terms) = 'object'
), applied AS (
  UPDATE applications a SET terms_hash = (SELECT g.terms_hash FROM given g WHERE g.version = a.terms_version
    AND g.created_at <= a.created_at ORDER BY audit_id DESC LIMIT 1)
  WHERE terms_version IS NOT NULL
)
UPDATE accepted_service_terms a SET terms_hash = (SELECT g.terms_hash FROM given g WHERE g.version = a.version
  AND g.created_at <= a.accepted_at ORDER BY audit_id DESC LIMIT 1);
