-- concurrently
-- The catalogue reads the goals of all offers at every start, in this order: without it, each page is sorted.
CREATE INDEX CONCURRENTLY IF NOT EXISTS goals_in_order ON goals (offer_id, place, goal_id);
DROP INDEX CONCURRENTLY IF EXISTS goals_offer;
