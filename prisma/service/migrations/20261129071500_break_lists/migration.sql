-- migrate: outside a transaction
-- The breaks of a state in the order of a list, with what its filters and its other orders ask for.
DROP INDEX CONCURRENTLY IF EXISTS "break_list";
CREATE INDEX CONCURRENTLY "break_list" ON "break" ("account_id", "state", "id", "kind",
  "amount_cents", "opened_day", "opened_at");
