-- Counts of old clicks lose their sub-IDs, of which there may be as many as clicks: see compactClickCounts.
ALTER TABLE click_counts ADD is_compact boolean NOT NULL DEFAULT false;
