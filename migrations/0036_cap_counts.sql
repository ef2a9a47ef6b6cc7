-- Offers whose caps changed and whose conversions are still to be counted. No lock is held meanwhile: the count is taken
-- of one moment, compared with what the usage said then, and the difference added.
CREATE TABLE cap_counts (
  offer_id  bigint PRIMARY KEY,
  asked_xid xid8 NOT NULL DEFAULT pg_current_xact_id()                    -- by the transaction that changed the caps
);
