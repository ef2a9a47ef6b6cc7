-- concurrently
-- Publishers look for a sub-ID in any of its four places: newest first, without going through everything of their app.
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_aff_sub ON conversions (app_id, aff_sub, conversion_id) WHERE aff_sub IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_aff_sub2 ON conversions (app_id, aff_sub2, conversion_id) WHERE aff_sub2 IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_aff_sub3 ON conversions (app_id, aff_sub3, conversion_id) WHERE aff_sub3 IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS conversions_aff_sub4 ON conversions (app_id, aff_sub4, conversion_id) WHERE aff_sub4 IS NOT NULL;
