-- People of advertisers sign in, too: a third kind of team, beside operators and those of publishers.
ALTER TABLE people ADD COLUMN advertiser_id bigint REFERENCES advertisers; -- of an advertiser's people only
ALTER TABLE people DROP CONSTRAINT people_role, DROP CONSTRAINT people_team;
ALTER TABLE people
  ADD CONSTRAINT people_role CHECK (role IN ('operator', 'operator_reader', 'publisher_owner', 'publisher_developer',
    'publisher_finance', 'publisher_viewer', 'advertiser')),
  ADD CONSTRAINT people_team CHECK ((role LIKE 'publisher\_%') = (publisher_id IS NOT NULL)
    AND (role = 'advertiser') = (advertiser_id IS NOT NULL));
CREATE INDEX people_advertiser ON people (advertiser_id) WHERE advertiser_id IS NOT NULL;

ALTER TABLE invitations ADD COLUMN advertiser_id bigint REFERENCES advertisers;
ALTER TABLE invitations DROP CONSTRAINT invitations_role, DROP CONSTRAINT invitations_team;
ALTER TABLE invitations
  ADD CONSTRAINT invitations_role CHECK (role IN ('operator', 'operator_reader', 'publisher_owner',
    'publisher_developer', 'publisher_finance', 'publisher_viewer', 'advertiser')),
  ADD CONSTRAINT invitations_team CHECK ((role LIKE 'publisher\_%') = (publisher_id IS NOT NULL)
    AND (role = 'advertiser') = (advertiser_id IS NOT NULL));
CREATE INDEX invitations_advertiser ON invitations (advertiser_id) WHERE advertiser_id IS NOT NULL;

-- What an advertiser's people see of the publishers behind clicks and conversions.
ALTER TABLE advertisers ADD COLUMN sees_publishers text NOT NULL DEFAULT 'nothing'
  CHECK (sees_publishers IN ('nothing', 'id', 'name'));
