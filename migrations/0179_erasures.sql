-- Erasures of users. What money hangs on stays, under a pseudonym; what names the person goes. A worker does it
-- (src/features/users/erase.ts).
CREATE TABLE erasures (
  erasure_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  app_id       bigint NOT NULL REFERENCES apps,
  is_test      boolean NOT NULL,
  user_id      text,                                                      -- until it is done
  user_hash    text,                                                      -- keyed: finds what arrives late (apps/erased-users.ts)
  pseudonym    text NOT NULL UNIQUE CHECK (pseudonym ~ '^erased-[0-9a-f-]{36}$'),
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL,
  due_at       timestamptz NOT NULL,                                      -- when to look at it next
  erased_at    timestamptz,                                               -- all that was there is erased
  done_at      timestamptz,                                               -- and so is what arrived meanwhile
  passes       smallint NOT NULL DEFAULT 0,
  more_pseudonyms text[] NOT NULL DEFAULT '{}',                           -- for what came back too soon (users/erase-money.ts)
  counts       jsonb NOT NULL DEFAULT '{}',
  CHECK ((user_id IS NULL) = (done_at IS NOT NULL)),
  CHECK (done_at IS NULL OR erased_at IS NOT NULL)
);
CREATE UNIQUE INDEX erasures_open ON erasures (app_id, is_test, user_id) WHERE done_at IS NULL;
CREATE INDEX erasures_due ON erasures (due_at) WHERE done_at IS NULL;
CREATE INDEX erasures_app ON erasures (app_id, erasure_id);
CREATE INDEX erasures_hash ON erasures (user_hash) WHERE user_hash IS NOT NULL;

-- Counts the transactions that gave a user's clicks and conversions a pseudonym. Commands that found their user before such a
-- transaction find it again (conversions/apply-commands.ts), and processes forget what they remember of users.
CREATE TABLE erasure_moves (moves bigint NOT NULL);
CREATE UNIQUE INDEX erasure_moves_one ON erasure_moves ((true));
INSERT INTO erasure_moves VALUES (0);

-- How far addresses of old conversions were deleted (users/old-addresses.ts).
CREATE TABLE address_retention (conversion_id uuid NOT NULL);
CREATE UNIQUE INDEX address_retention_one ON address_retention ((true));
INSERT INTO address_retention VALUES ('00000000-0000-0000-0000-000000000000');

-- Whether a change of a row that never changes is an erasure and nothing else: the transaction names an erasure that is not
-- done, the row is of its user, and only what names the person changes, to nothing or to a pseudonym.
CREATE FUNCTION only_erases(of_table text, before jsonb, after jsonb) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  mode text := current_setting('offerdeck.erasure', true);
  one erasures;
  personal text[];
BEGIN
  IF mode IS NULL OR mode = '' THEN RETURN false; END IF;
  IF mode = 'addresses' THEN
    RETURN of_table = 'conversion_events' AND after->'ip' = 'null' AND before - 'ip' = after - 'ip';
  END IF;
  SELECT * INTO one FROM erasures WHERE erasure_id = mode::bigint AND done_at IS NULL;
  IF NOT FOUND THEN RETURN false; END IF;
  IF of_table = 'audit_log' THEN
    IF before->>'action' IN ('user.ban', 'user.unban') THEN
      RETURN before->>'subject' = one.user_id AND after->>'subject' = one.pseudonym AND before - 'subject' = after - 'subject';
    END IF;
    RETURN starts_with(before->>'action', 'ticket.') AND before->'details'->>'user_id' = one.user_id
      AND after = before || jsonb_build_object('details', (before->'details') || jsonb_build_object('user_id', one.pseudonym));
  END IF;
  IF (before->>'app_id')::bigint <> one.app_id OR (before->>'is_test')::boolean <> one.is_test THEN RETURN false; END IF;
  IF of_table = 'conversion_events' THEN
    IF NOT EXISTS (SELECT FROM conversions c WHERE c.conversion_id = (before->>'conversion_id')::uuid AND c.user_id ~ '^erased-')
    THEN RETURN false; END IF;
    personal := ARRAY['ip', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'];
  ELSIF of_table IN ('conversions', 'user_entries') THEN
    IF before->>'user_id' <> one.user_id OR after->>'user_id' !~ '^erased-[0-9a-f-]{36}$' THEN RETURN false; END IF;
    personal := CASE of_table WHEN 'user_entries' THEN ARRAY['note'] ELSE ARRAY['ip', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'] END;
  ELSE
    RETURN false;
  END IF;
  RETURN before - personal - 'user_id' = after - personal - 'user_id'
    AND NOT EXISTS (SELECT FROM unnest(personal) AS name WHERE after->>name IS NOT NULL);
END $$;

CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND only_erases(TG_TABLE_NAME, to_jsonb(OLD), to_jsonb(NEW)) THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'Rows of % are never changed or deleted.', TG_TABLE_NAME USING ERRCODE = 'OD001';
END $$;

-- As before, but for the user of an erasure.
CREATE OR REPLACE FUNCTION check_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'A conversion is never deleted.' USING ERRCODE = 'OD001'; END IF;
  IF TG_OP = 'INSERT' THEN
    RAISE EXCEPTION 'A conversion begins as pending, approved or rejected.' USING ERRCODE = 'OD001';
  END IF;
  IF NEW.user_id <> OLD.user_id AND only_erases('conversions', to_jsonb(OLD), to_jsonb(NEW)) THEN RETURN NEW; END IF;
  IF (NEW.conversion_id, NEW.app_id, NEW.publisher_id, NEW.advertiser_id, NEW.offer_id, NEW.goal_id, NEW.user_id, NEW.is_test, NEW.is_repeatable, NEW.created_at)
    IS DISTINCT FROM (OLD.conversion_id, OLD.app_id, OLD.publisher_id, OLD.advertiser_id, OLD.offer_id, OLD.goal_id, OLD.user_id, OLD.is_test, OLD.is_repeatable, OLD.created_at)
  THEN RAISE EXCEPTION 'A conversion stays what it is of.' USING ERRCODE = 'OD001'; END IF;
  IF OLD.status <> 'pending' AND (NEW.payout_micros, NEW.revenue_micros, NEW.rate_micros, NEW.currency, NEW.rounding, NEW.multiplier_ppm)
    IS DISTINCT FROM (OLD.payout_micros, OLD.revenue_micros, OLD.rate_micros, OLD.currency, OLD.rounding, OLD.multiplier_ppm)
  THEN RAISE EXCEPTION 'The worth of a conversion is settled once it is no longer pending.' USING ERRCODE = 'OD001'; END IF;
  IF OLD.status <> 'pending' AND OLD.locker_id IS NOT NULL AND NEW.locker_id IS DISTINCT FROM OLD.locker_id
  THEN RAISE EXCEPTION 'The locker of a conversion is settled once it is no longer pending.' USING ERRCODE = 'OD001'; END IF;
  IF NEW.status = OLD.status THEN
    IF NEW.sequence <> OLD.sequence OR NEW.event_id <> OLD.event_id THEN
      RAISE EXCEPTION 'A conversion that stays % has no new event.', OLD.status USING ERRCODE = 'OD001';
    END IF;
  ELSIF (OLD.status, NEW.status) NOT IN (('pending', 'approved'), ('pending', 'rejected'), ('approved', 'reversed')) THEN
    RAISE EXCEPTION 'A conversion cannot go from % to %.', OLD.status, NEW.status USING ERRCODE = 'OD001';
  ELSIF NEW.sequence <> OLD.sequence + 1 OR NEW.event_id = OLD.event_id THEN
    RAISE EXCEPTION 'Every move has an event of its own.' USING ERRCODE = 'OD001';
  END IF;
  RETURN NEW;
END $$;
