-- What publishers' servers asked of the API, for their own log of it: every request of a quiet app, a sample of a busy
-- one's. Kept for days, dropped by the day.
CREATE TABLE api_requests (
  logged_id     uuid PRIMARY KEY,                       -- UUIDv7: its order is that of time
  app_id        bigint NOT NULL,
  is_test       boolean NOT NULL,
  request_id    text NOT NULL,
  method        text NOT NULL,
  path          text NOT NULL,
  parameters    jsonb NOT NULL,                         -- of the query, secrets masked: name to value, or to an array of values
  body          text,                                   -- secrets masked, cut
  status        smallint NOT NULL,
  error_code    text,
  error_message text,
  error_details jsonb,
  duration_us   integer NOT NULL,
  is_verified   boolean NOT NULL,                       -- false: it named the key, and did not know the secret
  skipped       integer NOT NULL                        -- requests like it that came before it and are not in the log
) PARTITION BY RANGE (logged_id);
CREATE INDEX api_requests_app ON api_requests (app_id, is_test, logged_id);
CREATE INDEX api_requests_errors ON api_requests (app_id, is_test, logged_id) WHERE status >= 400;
CREATE INDEX api_requests_successes ON api_requests (app_id, is_test, logged_id) WHERE status < 400;
CREATE INDEX api_requests_request ON api_requests (request_id);
