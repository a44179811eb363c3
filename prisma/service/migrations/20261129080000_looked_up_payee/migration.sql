-- Whom the look-up of a Pix key names, so that an approver sees whom a transfer by key pays.
ALTER TABLE "pix_lookup" ADD COLUMN "payee" text;
CREATE INDEX "pix_lookup_payee" ON "pix_lookup" ("looked_up_at") WHERE payee IS NOT NULL;
CREATE INDEX "pix_lookup_payee_key_id" ON "pix_lookup" (left("payee", 8)) WHERE payee IS NOT NULL;
