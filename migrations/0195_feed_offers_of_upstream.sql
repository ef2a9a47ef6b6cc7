-- The offers that come from one offer of an upstream which pays by country: 18, and 18:FR.
CREATE INDEX feed_offers_upstream ON feed_offers (feed_id, split_part(external_id, ':', 1));
