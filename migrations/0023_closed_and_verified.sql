-- What the operator closed, only the operator opens; and whose address is proven.

ALTER TABLE people ADD disabled_by_operator boolean NOT NULL DEFAULT false;
UPDATE people SET disabled_by_operator = true
FROM (
  SELECT DISTINCT ON (subject) subject, person_id FROM audit_log
  WHERE action = 'person.change' AND details->>'disabled' = 'true' ORDER BY subject, audit_id DESC
) last
JOIN people doer ON doer.id = last.person_id AND doer.publisher_id IS NULL
WHERE people.id::text = last.subject AND people.publisher_id IS NOT NULL AND people.disabled_at IS NOT NULL;

ALTER TABLE credentials ADD expiry_by_operator boolean NOT NULL DEFAULT false; -- then a publisher may not put it off

-- Until now the link of an invitation was shown to whoever made it, so an account proves nothing about its address.
UPDATE people SET email_verified = false WHERE email_verified;
ALTER TABLE invitations ADD mailed boolean NOT NULL DEFAULT false;        -- to its address and to nobody else: whoever opens it has proven the address
