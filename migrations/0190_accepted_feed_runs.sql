-- A run that was refused because too many offers would be paused can be applied once, on purpose.
ALTER TABLE feed_runs
  ADD gone integer, -- offers that it would pause; null: it did not come to that
  ADD accepted_gone integer; -- as many may go, whatever the feed's bound is
