-- How often a call was repeated that is kept only once more, and when it was last. Null: never; versions before know neither.
ALTER TABLE inbound_calls ADD COLUMN repeats integer, ADD COLUMN repeated_at timestamptz;
