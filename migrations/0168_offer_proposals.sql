-- What advertisers propose: new offers, and changes of their own. Nothing of it is in the catalogue until an operator
-- approves it.
CREATE TABLE offer_proposals (
  proposal_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  advertiser_id bigint NOT NULL REFERENCES advertisers,
  offer_id      bigint REFERENCES offers,                                 -- null: a new one, until it is approved
  is_new        boolean NOT NULL,
  external_id   text NOT NULL,                                            -- of the offer
  fields        jsonb NOT NULL,                                           -- by name, as an import takes them
  before        jsonb NOT NULL,                                           -- the same fields, as they were then
  status        text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'approved', 'refused', 'withdrawn')),
  proposed_by   text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  decided_by    text,
  decided_at    timestamptz,
  reason        text,                                                     -- of a refusal, as the advertiser reads it
  CHECK ((status = 'waiting') = (decided_at IS NULL)),
  CHECK (is_new OR offer_id IS NOT NULL)
);
-- One at a time for each offer, so that an operator never has to put two together.
CREATE UNIQUE INDEX offer_proposals_waiting ON offer_proposals (advertiser_id, external_id) WHERE status = 'waiting';
CREATE INDEX offer_proposals_status ON offer_proposals (status, proposal_id);
CREATE INDEX offer_proposals_advertiser ON offer_proposals (advertiser_id, status, proposal_id);
CREATE INDEX offer_proposals_decided ON offer_proposals (decided_at) WHERE decided_at IS NOT NULL;
