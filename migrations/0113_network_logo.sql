-- What is set for the whole network, in one row.
CREATE TABLE network_settings (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  logo     text REFERENCES images (name)
);
INSERT INTO network_settings DEFAULT VALUES;
