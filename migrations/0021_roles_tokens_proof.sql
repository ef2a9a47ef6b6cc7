-- Roles that fit a publisher's people, tokens that may do less than their person, and sessions that know when somebody
-- last proved who they are.

-- A member could do what a developer may, except change the rate and see the balance.
ALTER TABLE people DROP CONSTRAINT people_role_check, DROP CONSTRAINT people_check;
UPDATE people SET role = 'publisher_developer' WHERE role = 'publisher_member';
ALTER TABLE people
  ADD CONSTRAINT people_role CHECK (role IN
    ('operator', 'operator_reader', 'publisher_owner', 'publisher_developer', 'publisher_finance', 'publisher_viewer')),
  ADD CONSTRAINT people_team CHECK ((role LIKE 'publisher\_%') = (publisher_id IS NOT NULL));

ALTER TABLE invitations DROP CONSTRAINT invitations_role_check, DROP CONSTRAINT invitations_check;
UPDATE invitations SET role = 'publisher_developer' WHERE role = 'publisher_member';
ALTER TABLE invitations
  ADD CONSTRAINT invitations_role CHECK (role IN
    ('operator', 'operator_reader', 'publisher_owner', 'publisher_developer', 'publisher_finance', 'publisher_viewer')),
  ADD CONSTRAINT invitations_team CHECK ((role LIKE 'publisher\_%') = (publisher_id IS NOT NULL));

-- Tokens made before keep every scope, and get an end: a year from now where they had none.
ALTER TABLE access_tokens
  ADD scopes      text[] NOT NULL DEFAULT '{}',
  ADD allowed_ips text[] NOT NULL DEFAULT '{}';                           -- addresses and CIDRs; empty: from anywhere
UPDATE access_tokens SET
  scopes = '{read,apps,postbacks,offers,conversions,reports,money,advertisers,publishers,fraud,people,system}',
  expires_at = least(coalesce(expires_at, 'infinity'), now() + interval '365 days');
ALTER TABLE access_tokens
  ALTER expires_at SET NOT NULL,
  ADD CONSTRAINT access_tokens_scopes CHECK (cardinality(scopes) > 0) NOT VALID;
ALTER TABLE access_tokens VALIDATE CONSTRAINT access_tokens_scopes;

-- When the password or a code of the second factor was given last in this session. Those that are open now have to prove
-- it again before anything sensitive.
ALTER TABLE sessions ADD proven_at timestamptz NOT NULL DEFAULT 'epoch';
ALTER TABLE sessions ALTER proven_at SET DEFAULT now();

ALTER TABLE audit_log ADD via text;                                       -- the token that was used; null: a session, or the command line
