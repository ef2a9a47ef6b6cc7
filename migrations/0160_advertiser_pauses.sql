-- Offers that their advertiser paused, and may resume. A row ends with any other change of the offer's status, so that
-- an advertiser never undoes a pause by the operator.
CREATE TABLE advertiser_pauses (
  offer_id  bigint PRIMARY KEY REFERENCES offers,
  paused_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION end_advertiser_pause() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM advertiser_pauses WHERE offer_id = NEW.offer_id;
  RETURN NULL;
END $$;
CREATE TRIGGER end_advertiser_pause AFTER UPDATE OF status ON offers FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION end_advertiser_pause();
