-- What happened on the walls of an app, by day of UTC. Live traffic only.
CREATE TABLE wall_days (
  app_id bigint NOT NULL REFERENCES apps,
  day date NOT NULL,
  views bigint NOT NULL DEFAULT 0,
  opened bigint NOT NULL DEFAULT 0,
  started bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (app_id, day)
);
CREATE INDEX wall_days_day ON wall_days (day); -- for deleting old ones
