-- migrate: outside a transaction
-- What was open on a past day is what is open now, and what was resolved since: few of all breaks.
DROP INDEX CONCURRENTLY IF EXISTS "break_resolved";
CREATE INDEX CONCURRENTLY "break_resolved" ON "break"
  ("account_id", "resolved_at", "opened_day", "opened_at", "amount_cents")
  WHERE (state = 'resolved');
