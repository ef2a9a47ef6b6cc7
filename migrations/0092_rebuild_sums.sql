-- Sums could miss an entry whose transaction was still open while they were brought up to date, where no later
-- transaction had ended. Nothing of the entries is lost, so the sums are built anew from them by the worker; until it
-- is done, balances are right, and slower.
SELECT pg_advisory_xact_lock(267583494); -- that of rolling up: whoever is at it ends first
TRUNCATE ledger_days, ledger_balances, network_days;
UPDATE ledger_rollup SET entry_id = 0;
