-- Clicks get a number when they are written, so that an export can read on where it stopped: their IDs are of the time at
-- which they were made, and one out of a spool comes days after younger ones.
--
-- A transaction gets its own ID before the first of its clicks gets its number (db/settled-ids.ts), and no session keeps
-- numbers for later: a number that was taken is written, or never will be, once the transactions of that time have ended.
CREATE SEQUENCE click_numbers AS bigint CACHE 1;
ALTER TABLE clicks ADD click_no bigint;                                   -- null: from before there were numbers
ALTER SEQUENCE click_numbers OWNED BY clicks.click_no;
ALTER TABLE clicks ALTER click_no SET DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('click_numbers') END;

-- The last of the clicks without a number; null: there were none.
CREATE TABLE unnumbered_clicks (last_id uuid);
INSERT INTO unnumbered_clicks VALUES ((SELECT click_id FROM clicks ORDER BY click_id DESC LIMIT 1));
