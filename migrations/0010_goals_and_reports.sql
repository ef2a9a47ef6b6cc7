-- Goals keep their identity when they are renamed or moved; conversions outlive their clicks; reports that no advertiser
-- confirms expire, and stand apart in the ledger. What must be built on large tables is in the next file.

ALTER TABLE goals ADD external_id text CHECK (external_id <> '');         -- the advertiser's own id of it

ALTER TABLE offers
  ADD confirm_within_s    integer NOT NULL DEFAULT 2592000 CHECK (confirm_within_s BETWEEN 3600 AND 31536000), -- or a report expires
  ADD redo_after_reversal boolean NOT NULL DEFAULT true;                  -- unless the reversal was for fraud

-- As before, and with it everything by which a confirmation names a goal: the order, the names, what may be repeated.
-- Terms of before have none of that.
CREATE OR REPLACE FUNCTION renew_terms(ids bigint[]) RETURNS void LANGUAGE sql AS $$
  WITH present AS (
    SELECT o.offer_id, o.attribution_s, o.terms_id, jsonb_object_agg(g.goal_id, jsonb_build_object(
      'payout_micros', g.payout_micros, 'revenue_micros', g.revenue_micros,
      'payout_ppm', g.payout_ppm, 'revenue_ppm', g.revenue_ppm,
      'place', g.place, 'name', g.name, 'external_id', g.external_id, 'is_repeatable', g.is_repeatable)) AS goals
    FROM offers o JOIN goals g USING (offer_id)
    WHERE o.offer_id = ANY (ids) AND NOT g.is_retired
    GROUP BY o.offer_id
  ), made AS (
    INSERT INTO terms (offer_id, attribution_s, goals)
    SELECT p.offer_id, p.attribution_s, p.goals FROM present p LEFT JOIN terms t ON t.terms_id = p.terms_id
    WHERE (p.attribution_s, p.goals) IS DISTINCT FROM (t.attribution_s, t.goals)
    ORDER BY p.offer_id
    RETURNING offer_id, terms_id
  )
  UPDATE offers SET terms_id = made.terms_id FROM made WHERE offers.offer_id = made.offer_id
$$;

ALTER TABLE conversions
  ADD terms_id       bigint,                                              -- of its click, else of its offer then; null: made before this was kept
  ADD share_ppm      integer,                                             -- the publisher's, as it was then; null: all of it
  ADD told_at        timestamptz,                                         -- when its advertiser first told of it
  ADD confirm_by     timestamptz,                                         -- while only the publisher has told of it: then it expires
  ADD bars_redo      boolean NOT NULL DEFAULT false,                      -- rejected or reversed for good: the user cannot complete the goal again
  ADD is_unconfirmed boolean NOT NULL DEFAULT false,                      -- the ledger has its revenue as unconfirmed
  ADD is_first_goal  boolean NOT NULL DEFAULT false,                      -- its goal was the first one then: what a report without a goal means
  DROP CONSTRAINT conversions_status_reason_check,
  ADD CONSTRAINT conversions_status_reason_check CHECK (status_reason IN ('cap_exceeded', 'click_expired', 'not_eligible',
    'geo_mismatch', 'fraud', 'unconfirmed', 'advertiser_rejected', 'advertiser_reversed', 'operator')) NOT VALID;

ALTER TABLE ledger_entries
  DROP CONSTRAINT ledger_entries_account_check,
  ADD CONSTRAINT ledger_entries_account_check CHECK (account IN ('publisher_pending', 'publisher_payable',
    'advertiser_receivable', 'advertiser_unconfirmed', 'network_margin', 'cash')) NOT VALID;
