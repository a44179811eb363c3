-- One action on the breaks that a filter selected. A person sees the totals, and confirms with a
-- reason; then each break is decided on its own, unless it is no longer as it was selected.
CREATE TABLE "decision_batch" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "action" TEXT NOT NULL,
  "author" TEXT NOT NULL,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "decision_batch_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "decision_batch_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE INDEX "decision_batch_draft" ON "decision_batch" ("account_id", "created_at")
  WHERE ("reason" IS NULL);

CREATE TABLE "batched_decision" (
  "account_id" INTEGER NOT NULL,
  "batch_id" UUID NOT NULL,
  "number" INTEGER NOT NULL,
  "break_id" UUID NOT NULL,
  "version" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "amount_cents" BIGINT,
  "outcome" TEXT,
  "code" TEXT,

  CONSTRAINT "batched_decision_pkey" PRIMARY KEY ("account_id", "batch_id", "number"),
  CONSTRAINT "batched_decision_account_id_batch_id_fkey" FOREIGN KEY ("account_id", "batch_id")
    REFERENCES "decision_batch" ("account_id", "id") ON DELETE CASCADE,
  CONSTRAINT "batched_decision_account_id_break_id_fkey" FOREIGN KEY ("account_id", "break_id")
    REFERENCES "break" ("account_id", "id")
);
CREATE INDEX "batched_decision_open" ON "batched_decision" ("account_id", "batch_id", "number")
  WHERE ("outcome" IS NULL);
CREATE INDEX "batched_decision_account_id_break_id_idx"
  ON "batched_decision" ("account_id", "break_id");
