-- The app that an advertiser's test clicks belong to: no publisher sees them. Created when it is first needed.
CREATE TABLE tester_app (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  app_id  bigint NOT NULL REFERENCES apps
);
