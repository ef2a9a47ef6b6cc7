-- How an app's wall looks, and who may show it. An app without a row has the defaults.
CREATE TABLE walls (
  app_id   bigint PRIMARY KEY REFERENCES apps,
  settings jsonb NOT NULL
);
