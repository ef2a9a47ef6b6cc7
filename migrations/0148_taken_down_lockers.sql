-- Few among many: for the operator's list.
CREATE INDEX lockers_taken_down ON lockers (locker_id) WHERE taken_down_at IS NOT NULL;
