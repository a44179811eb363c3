-- migrate: outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS "pix_lookup_payee";
DROP INDEX CONCURRENTLY IF EXISTS "pix_lookup_payee_key_id";
CREATE INDEX CONCURRENTLY "pix_lookup_payee" ON "pix_lookup" ("looked_up_at")
  WHERE payee IS NOT NULL;
CREATE INDEX CONCURRENTLY "pix_lookup_payee_key_id" ON "pix_lookup" (left("payee", 8))
  WHERE payee IS NOT NULL;
