-- The close of a month: the limits of an account, what people decided about a month, and the report
-- that each close stored.
CREATE TYPE "month_action" AS ENUM ('accept', 'prepare', 'approve', 'reopen');

CREATE TABLE "month_policy" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "max_breaks" INTEGER NOT NULL,
  "max_break_cents" BIGINT NOT NULL,
  "max_pending_lines" INTEGER NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "month_policy_pkey" PRIMARY KEY ("account_id", "version"),
  CONSTRAINT "month_policy_limits" CHECK (
    "version" > 0 AND "max_breaks" >= 0 AND "max_break_cents" >= 0 AND "max_pending_lines" >= 0
  ),
  CONSTRAINT "month_policy_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "month_policy_is_append_only" BEFORE UPDATE OR DELETE
  ON "month_policy" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "month_decision" (
  "account_id" INTEGER NOT NULL,
  "month" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL,
  "action" "month_action" NOT NULL,
  "item" TEXT,
  "item_count" INTEGER,
  "cents" BIGINT,
  "seen" TEXT,
  "holder" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "month_decision_pkey" PRIMARY KEY ("account_id", "month", "sequence"),
  CONSTRAINT "month_decision_month" CHECK ("month" ~ '^\d{4}-\d{2}$' AND "sequence" > 0),
  -- What was accepted, or which report was signed.
  CONSTRAINT "month_decision_seen" CHECK (("action" = 'reopen') = ("seen" IS NULL)),
  CONSTRAINT "month_decision_item" CHECK (
    ("action" = 'accept') = ("item" IS NOT NULL) AND ("item" IS NULL) = ("item_count" IS NULL)
    AND ("item" IS NULL) = ("cents" IS NULL)
  ),
  CONSTRAINT "month_decision_reason" CHECK (
    "reason" IS NOT NULL OR "action" IN ('prepare', 'approve')
  ),
  CONSTRAINT "month_decision_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "month_decision_is_append_only" BEFORE UPDATE OR DELETE
  ON "month_decision" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "month_close" (
  "account_id" INTEGER NOT NULL,
  "month" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "approval" INTEGER NOT NULL,
  "report" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "last_arrival" BIGINT NOT NULL,
  "outcome_sequence" BIGINT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "month_close_pkey" PRIMARY KEY ("account_id", "month", "revision"),
  CONSTRAINT "month_close_revision" CHECK ("revision" > 0),
  CONSTRAINT "month_close_approval_fkey" FOREIGN KEY ("account_id", "month", "approval")
    REFERENCES "month_decision" ("account_id", "month", "sequence")
);
CREATE UNIQUE INDEX "month_close_account_id_month_approval_key"
  ON "month_close" ("account_id", "month", "approval");
CREATE TRIGGER "month_close_is_append_only" BEFORE UPDATE OR DELETE
  ON "month_close" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- Up to where the amendments of a closed month were announced.
CREATE TABLE "month_notice" (
  "account_id" INTEGER NOT NULL,
  "month" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "last_arrival" BIGINT NOT NULL,
  "outcome_sequence" BIGINT NOT NULL,

  CONSTRAINT "month_notice_pkey" PRIMARY KEY ("account_id", "month", "revision"),
  CONSTRAINT "month_notice_close_fkey" FOREIGN KEY ("account_id", "month", "revision")
    REFERENCES "month_close" ("account_id", "month", "revision")
);
