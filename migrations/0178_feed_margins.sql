-- What the operator keeps of each goal of a feed can have bounds.
UPDATE feeds SET settings = settings || '{"minMarginMicros": null, "maxMarginMicros": null}' WHERE NOT settings ? 'minMarginMicros';
