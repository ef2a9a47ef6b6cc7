-- What is wrong with a feed is mailed to the operator, once a day while it lasts.
ALTER TABLE feeds
  ADD troubled_at timestamptz, -- since when its runs fail or are refused
  ADD mailed_at timestamptz;

-- Which kinds of mail there are is for the code to say: a node takes those that it knows.
ALTER TABLE mails DROP CONSTRAINT mails_kind_check;
ALTER TABLE mails ADD CONSTRAINT mails_kind_check CHECK (kind ~ '^[a-z_]{1,40}$');
