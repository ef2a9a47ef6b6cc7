-- Offers of several networks for one product: one of them is listed, the others wait behind it.
ALTER TABLE offers
  ADD product text,           -- what it advertises, such as android:com.example.game
  ADD behind_offer_id bigint; -- the one that is listed in its place (see offers/products)

ALTER TABLE network_settings
  ADD product_rule text NOT NULL DEFAULT 'highest_payout' CHECK (product_rule IN ('highest_payout', 'best_epc', 'fixed_order', 'all')),
  ADD product_order double precision[] NOT NULL DEFAULT '{}'; -- advertisers, for fixed_order
