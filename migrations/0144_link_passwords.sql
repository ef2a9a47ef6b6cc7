-- How often each network entered a wrong password of a link today. An attempt is counted before it is checked, and the right
-- password deletes the row.
CREATE TABLE locker_wrong_passwords (
  day       date NOT NULL,           -- UTC, by the database's clock
  locker_id bigint NOT NULL REFERENCES lockers,
  network   text NOT NULL,           -- an IPv4 address or an IPv6 /48
  attempts  integer NOT NULL,
  PRIMARY KEY (day, locker_id, network)
);
