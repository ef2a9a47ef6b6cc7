-- Caps on revenue: what the advertiser pays for an offer, a day and in total. Of offers that are capped already, revenue is
-- counted when such a cap is set (cap-counts.ts), from their conversions.
ALTER TABLE offers
  ADD daily_revenue_cap_micros bigint CHECK (daily_revenue_cap_micros > 0),
  ADD total_revenue_cap_micros bigint CHECK (total_revenue_cap_micros > 0),
  DROP is_capped;
ALTER TABLE offers
  ADD is_capped boolean GENERATED ALWAYS AS (
    coalesce(daily_click_cap, total_click_cap, daily_conversion_cap, total_conversion_cap, daily_payout_cap_micros,
      total_payout_cap_micros, daily_revenue_cap_micros, total_revenue_cap_micros) IS NOT NULL) STORED;
ALTER TABLE offer_usage ADD revenue_micros bigint NOT NULL DEFAULT 0;
