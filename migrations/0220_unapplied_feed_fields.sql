-- What a feed has not written yet is kept beside what it has, so that an edit that is taken back, a pin that is released and
-- an approval never skip a change of the network.
ALTER TABLE feed_offers
  ADD unapplied jsonb,     -- fields as the feed has them now, where they stay otherwise for an edit or an approval; null: none
  ADD held_paid jsonb,     -- what the network pays in the change that waits
  ADD approved_paid jsonb; -- what it may pay without waiting, once; approved_hash is for nodes of before
CREATE INDEX feed_offers_unapplied ON feed_offers (feed_id) WHERE unapplied IS NOT NULL;
ALTER TABLE feed_staging ADD split_from jsonb; -- of the offer that this one was a part of: {"paid", "goals", "payout"}

-- Which fields stayed so far is not known: the next run looks at every offer. Where edited goals stayed, "paid" has moved on
-- without them, and what changes is compared with them instead.
UPDATE feed_offers SET hash = '', held_hash = NULL, held_payout = NULL,
  paid = CASE WHEN (applied ->> 'revenue')::numeric IS NOT DISTINCT FROM
    (SELECT sum((goal ->> 'revenue')::numeric) FROM jsonb_array_elements(applied -> 'goals') goal) THEN paid END;
UPDATE feeds SET validators = '{}' WHERE removed_at IS NULL;
