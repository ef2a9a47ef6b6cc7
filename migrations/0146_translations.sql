-- The texts of offers and goals in other languages, for walls: JSON by language, empty without any. As text, which is
-- compared and copied as it is.
ALTER TABLE offers ADD COLUMN translations text NOT NULL DEFAULT '' CHECK (translations = '' OR translations::jsonb IS NOT NULL);
ALTER TABLE goals ADD COLUMN translations text NOT NULL DEFAULT '' CHECK (translations = '' OR translations::jsonb IS NOT NULL);
