-- How a person sees the dashboard. A time zone or locale of NULL means the browser's.
ALTER TABLE people
  ADD COLUMN time_zone text CHECK (length(time_zone) BETWEEN 1 AND 100),
  ADD COLUMN locale    text CHECK (length(locale) BETWEEN 2 AND 35),
  ADD COLUMN theme     text NOT NULL DEFAULT 'system' CHECK (theme IN ('system', 'light', 'dark'));
