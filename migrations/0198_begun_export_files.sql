-- A second attempt at a range may read other contents than the first, so that its files have other names: what the first one
-- left is found by these.
ALTER TABLE export_positions ADD begun text[] NOT NULL DEFAULT '{}';      -- paths of files that are being written, or were in vain
