-- Who was suspended before a payment run was created is in it by name; who is suspended afterwards must not be paid by it
-- without a second look.
ALTER TABLE payment_run_lines ADD was_suspended boolean NOT NULL DEFAULT false; -- when the run was created
UPDATE payment_run_lines l SET was_suspended = true FROM publishers p
WHERE p.publisher_id = l.publisher_id AND p.status = 'suspended' AND l.status = 'due';
