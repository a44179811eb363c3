-- migrate: outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "webhook_counterparty_name_part";
DROP INDEX CONCURRENTLY IF EXISTS "expected_payment_name_part";
DROP INDEX CONCURRENTLY IF EXISTS "expected_payment_reference_prefix";
CREATE INDEX CONCURRENTLY "webhook_counterparty_name_part" ON "webhook_counterparty"
  USING gin ("account_id", plain_name("left"("name", 100)) gin_trgm_ops) WHERE (name IS NOT NULL);
CREATE INDEX CONCURRENTLY "expected_payment_name_part" ON "expected_payment"
  USING gin ("account_id", plain_name("left"("counterparty_name", 100)) gin_trgm_ops)
  WHERE (counterparty_name IS NOT NULL);
-- An id is found by how it begins, whatever the locale.
CREATE INDEX CONCURRENTLY "expected_payment_reference_prefix" ON "expected_payment_reference"
  ("account_id", "value" text_pattern_ops);
DROP INDEX CONCURRENTLY IF EXISTS "webhook_counterparty_name";
DROP INDEX CONCURRENTLY IF EXISTS "expected_payment_name";
