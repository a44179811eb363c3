-- migrate: outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "operator_sso_hash_key";
DROP INDEX CONCURRENTLY IF EXISTS "operator_session_break_glass";
CREATE UNIQUE INDEX CONCURRENTLY "operator_sso_hash_key" ON "operator" ("sso_hash");
CREATE INDEX CONCURRENTLY "operator_session_break_glass" ON "operator_session" ("created_at")
  WHERE (is_break_glass);
