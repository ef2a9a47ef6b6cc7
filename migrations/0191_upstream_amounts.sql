-- What the upstream itself pays for an offer, before rates, shares and margins: whether that has changed by much must not
-- depend on what the operator sets.
ALTER TABLE feed_staging ADD paid jsonb; -- {"currency", "micros"}; the currency is empty where the upstream names none
ALTER TABLE feed_offers ADD paid jsonb; -- null: applied before this was kept
