-- Debits of which somebody may be notified, and what an account declares about them.
CREATE TABLE "noted_debit" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "evidence" JSONB NOT NULL,
  "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "noted_debit_pkey" PRIMARY KEY ("account_id", "nsu"),
  CONSTRAINT "noted_debit_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "noted_debit_account_id_found_at_idx" ON "noted_debit" ("account_id", "found_at");

ALTER TABLE "payment_control" ADD COLUMN "alarm_above_cents" BIGINT,
  ADD COLUMN "declared_debits" JSONB NOT NULL DEFAULT '[]';
ALTER TYPE "alert_condition_kind" ADD VALUE 'unrequested_debit';
