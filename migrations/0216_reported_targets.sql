-- A publisher may change where a link leads between a report and its review.
ALTER TABLE locker_reports ADD target_url text; -- where the link led; null: reported by an earlier version
