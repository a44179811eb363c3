-- AlterTable
ALTER TABLE "break" ADD COLUMN     "resolution" TEXT,
ADD COLUMN     "resolution_reason" TEXT,
ADD COLUMN     "resolved_by" TEXT;

-- AlterTable
ALTER TABLE "classification" ADD COLUMN     "category" TEXT NOT NULL DEFAULT 'opening',
ADD COLUMN     "evidence" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "reason" TEXT,
ADD COLUMN     "rule_id" UUID,
ADD COLUMN     "rule_version" INTEGER;

-- AlterTable
ALTER TABLE "deferred_line" ALTER COLUMN "deferred_at" SET DEFAULT clock_timestamp();

-- AlterTable
ALTER TABLE "expected_payment" ADD COLUMN     "counterparty_document" TEXT;

-- AlterTable
ALTER TABLE "match" ADD COLUMN     "made_by" TEXT,
ADD COLUMN     "reason" TEXT,
ADD COLUMN     "rule_id" UUID,
ADD COLUMN     "rule_version" INTEGER,
ADD COLUMN     "unlink_reason" TEXT,
ADD COLUMN     "unlinked_by" TEXT;

-- AlterTable
ALTER TABLE "reconciliation_state" ADD COLUMN     "charges_reviewed_at" TIMESTAMPTZ(3),
ADD COLUMN     "looked_nsu" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "missing_checked_at" TIMESTAMPTZ(3),
ADD COLUMN     "missing_due_until" TEXT,
ADD COLUMN     "reviewed_payment_id" UUID;

-- AlterTable
ALTER TABLE "statement_state" ADD COLUMN     "balance_differs_since" TIMESTAMPTZ(3),
ADD COLUMN     "broken_since" TIMESTAMPTZ(3),
ADD COLUMN     "hole_since" TIMESTAMPTZ(3),
ADD COLUMN     "live_balance_at" TIMESTAMPTZ(3),
ADD COLUMN     "live_balance_cents" BIGINT,
ADD COLUMN     "poll_interval_ms" INTEGER;

-- AlterTable
ALTER TABLE "transaction" ADD COLUMN     "counterparty_document" TEXT;

-- AlterTable
ALTER TABLE "unreadable_line" ADD COLUMN     "resolution" TEXT,
ADD COLUMN     "resolved_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "day_close" (
    "account_id" INTEGER NOT NULL,
    "sequence" INTEGER NOT NULL,
    "date" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "opening_cents" BIGINT NOT NULL,
    "credit_cents" BIGINT NOT NULL,
    "debit_cents" BIGINT NOT NULL,
    "closing_cents" BIGINT NOT NULL,
    "line_count" INTEGER NOT NULL,
    "certificate" TEXT NOT NULL,
    "lines_hash" TEXT NOT NULL,
    "previous_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "day_close_pkey" PRIMARY KEY ("account_id","sequence")
);

-- CreateTable
CREATE TABLE "day_close_state" (
    "account_id" INTEGER NOT NULL,
    "next_date" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "day_close_state_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "line_seal" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "date" TEXT NOT NULL,
    "commitment" TEXT NOT NULL,
    "line_hash" TEXT NOT NULL,

    CONSTRAINT "line_seal_pkey" PRIMARY KEY ("account_id","nsu")
);

-- CreateTable
CREATE TABLE "line_salt" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "salt" TEXT NOT NULL,

    CONSTRAINT "line_salt_pkey" PRIMARY KEY ("account_id","nsu")
);

-- CreateTable
CREATE TABLE "break_entry" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "sequence" BIGSERIAL NOT NULL,
    "break_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "actor" TEXT,
    "reason" TEXT,
    "detail" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "break_entry_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "rule" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "origin" TEXT NOT NULL DEFAULT 'api',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "rule_version" (
    "account_id" INTEGER NOT NULL,
    "rule_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "made_by" TEXT,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "activated_at" TIMESTAMPTZ(3),
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "rule_version_pkey" PRIMARY KEY ("account_id","rule_id","version")
);

-- CreateTable
CREATE TABLE "rule_trial" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "rule_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "from" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "result" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rule_trial_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "refund_policy" (
    "account_id" INTEGER NOT NULL,
    "break_kind" TEXT NOT NULL,
    "is_on" BOOLEAN NOT NULL,
    "max_cents" BIGINT,
    "changed_by" TEXT,
    "reason" TEXT,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refund_policy_pkey" PRIMARY KEY ("account_id","break_kind")
);

-- CreateTable
CREATE TABLE "reconciliation_run" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "trigger" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "requested_by" TEXT,
    "window_from" TIMESTAMPTZ(3),
    "window_until" TIMESTAMPTZ(3),
    "counts" JSONB NOT NULL DEFAULT '{}',
    "error" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliation_run_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "reconciliation_schedule" (
    "account_id" INTEGER NOT NULL,
    "cron" TEXT,
    "timezone" TEXT NOT NULL DEFAULT 'America/Sao_Paulo',
    "next_run_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reconciliation_schedule_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "day_close_account_id_date_revision_key" ON "day_close"("account_id", "date", "revision");

-- CreateIndex
CREATE INDEX "line_seal_account_id_date_idx" ON "line_seal"("account_id", "date");

-- CreateIndex
CREATE INDEX "break_entry_account_id_break_id_idx" ON "break_entry"("account_id", "break_id");

-- CreateIndex
CREATE UNIQUE INDEX "break_entry_account_id_sequence_key" ON "break_entry"("account_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "rule_account_id_name_key" ON "rule"("account_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "rule_version_active" ON "rule_version"("account_id", "rule_id") WHERE (state = 'active');

-- CreateIndex
CREATE INDEX "rule_trial_account_id_rule_id_version_idx" ON "rule_trial"("account_id", "rule_id", "version");

-- CreateIndex
CREATE INDEX "reconciliation_run_running" ON "reconciliation_run"("account_id") WHERE (state = 'running');

-- CreateIndex
CREATE INDEX "reconciliation_schedule_due" ON "reconciliation_schedule"("next_run_at") WHERE (next_run_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "expected_payment_due" ON "expected_payment"("account_id", "due_date") WHERE (due_date IS NOT NULL);

-- CreateIndex
CREATE INDEX "expected_payment_account_id_created_at_idx" ON "expected_payment"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "expected_payment_document" ON "expected_payment"("account_id", "counterparty_document") WHERE (counterparty_document IS NOT NULL);

-- CreateIndex
CREATE INDEX "transaction_document" ON "transaction"("account_id", "counterparty_document", "occurred_at") WHERE (counterparty_document IS NOT NULL);



-- What Prisma does not know.
ALTER TABLE "unreadable_line"
  ADD CONSTRAINT "unreadable_line_resolution" CHECK (("resolved_at" IS NULL) = ("resolution" IS NULL)
    AND "resolution" IN ('read', 'as_it_was', 'erased'));
ALTER TABLE "classification"
  ADD CONSTRAINT "classification_category" CHECK
    ("category" IN ('opening', 'fee', 'tariff', 'own_transfer', 'ignored', 'accepted', 'refunded')),
  ADD CONSTRAINT "classification_rule" CHECK (("rule_id" IS NULL) = ("rule_version" IS NULL));
ALTER TABLE "match"
  ADD CONSTRAINT "match_rule" CHECK (("rule_id" IS NULL) = ("rule_version" IS NULL)),
  ADD CONSTRAINT "match_hand" CHECK (("rule" = 'hand') = ("made_by" IS NOT NULL));
ALTER TABLE "rule_version"
  ADD CONSTRAINT "rule_version_state" CHECK ("state" IN ('draft', 'active', 'retired')),
  ADD CONSTRAINT "rule_version_action" CHECK ("action" IN ('classify', 'match'));
ALTER TABLE "refund_policy"
  ADD CONSTRAINT "refund_policy_kind" CHECK
    ("break_kind" IN ('duplicate_payment', 'overpaid', 'paid_after_void', 'paid_after_expiry')),
  ADD CONSTRAINT "refund_policy_max" CHECK ("max_cents" > 0);
ALTER TABLE "reconciliation_run"
  ADD CONSTRAINT "reconciliation_run_state" CHECK ("state" IN ('running', 'finished', 'failed')),
  ADD CONSTRAINT "reconciliation_run_end" CHECK (("state" = 'running') = ("finished_at" IS NULL)),
  ADD CONSTRAINT "reconciliation_run_trigger" CHECK ("trigger" IN ('request', 'schedule'));
ALTER TABLE "day_close"
  ADD CONSTRAINT "day_close_adds_up" CHECK ("opening_cents" + "credit_cents" - "debit_cents" = "closing_cents"),
  ADD CONSTRAINT "day_close_place" CHECK ("sequence" >= 1 AND "revision" >= 1);
ALTER TABLE "statement_state" ADD CONSTRAINT "statement_state_poll_interval" CHECK ("poll_interval_ms" > 0);
ALTER TABLE "api_key" DROP CONSTRAINT "api_key_scopes", ADD CONSTRAINT "api_key_scopes" CHECK
  ("scopes" <@ ARRAY['read', 'charge', 'transfer', 'pay', 'refund', 'onboard', 'reconcile']);

-- A break is settled by something, and each change of its state or amount is written down where nobody can change it.
UPDATE "break" SET "resolution" = 'itself' WHERE "state" = 'resolved';
-- The trail of breaks of before begins where theirs did.
INSERT INTO "break_entry" ("account_id", "break_id", "action", "detail", "created_at")
  SELECT "account_id", "id", 'opened', jsonb_build_object('evidence', "evidence"), "opened_at" FROM "break"
  ORDER BY "account_id", "opened_at", "id";
INSERT INTO "break_entry" ("account_id", "break_id", "action", "detail", "created_at")
  SELECT "account_id", "id", 'resolved', jsonb_build_object('resolution', "resolution"), "resolved_at" FROM "break"
  WHERE "state" = 'resolved' ORDER BY "account_id", "resolved_at", "id";
ALTER TABLE "break" ADD CONSTRAINT "break_resolution" CHECK
  (("state" = 'resolved') = ("resolution" IS NOT NULL) AND ("state" = 'resolved') = ("resolved_at" IS NOT NULL));
CREATE FUNCTION "break_is_settled_by_something"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state = 'open' THEN
    NEW.resolution := NULL; NEW.resolved_by := NULL; NEW.resolution_reason := NULL; NEW.resolved_at := NULL;
  ELSE
    NEW.resolution := COALESCE(NEW.resolution, 'itself');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "break_is_settled_by_something" BEFORE INSERT OR UPDATE ON "break" FOR EACH ROW
  EXECUTE FUNCTION "break_is_settled_by_something"();
CREATE FUNCTION "break_is_written_down"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO break_entry (account_id, break_id, action, actor, reason, detail)
  VALUES (NEW.account_id, NEW.id,
    CASE WHEN TG_OP = 'UPDATE' AND OLD.state = NEW.state THEN 'revised' WHEN NEW.state = 'resolved' THEN 'resolved'
         WHEN TG_OP = 'INSERT' THEN 'opened' ELSE 'reopened' END,
    NEW.resolved_by, NEW.resolution_reason,
    jsonb_strip_nulls(jsonb_build_object('resolution', NEW.resolution,
      'evidence', CASE WHEN NEW.state = 'open' THEN NEW.evidence END,
      'fromCents', CASE WHEN OLD.amount_cents <> NEW.amount_cents THEN OLD.amount_cents::text END,
      'toCents', CASE WHEN OLD.amount_cents <> NEW.amount_cents THEN NEW.amount_cents::text END)));
  RETURN NULL;
END $$;
CREATE TRIGGER "break_is_written_down_at_first" AFTER INSERT ON "break" FOR EACH ROW
  EXECUTE FUNCTION "break_is_written_down"();
CREATE TRIGGER "break_is_written_down" AFTER UPDATE ON "break" FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.amount_cents IS DISTINCT FROM NEW.amount_cents
    OR OLD.evidence->'jumps' IS DISTINCT FROM NEW.evidence->'jumps')
  EXECUTE FUNCTION "break_is_written_down"();

-- What is written down stays.
CREATE FUNCTION "is_only_added_to"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is only added to', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "break_entry_is_only_added_to" BEFORE UPDATE OR DELETE ON "break_entry" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "break_is_kept" BEFORE DELETE ON "break" FOR EACH ROW EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "day_close_is_only_added_to" BEFORE UPDATE OR DELETE ON "day_close" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "line_seal_is_only_added_to" BEFORE UPDATE OR DELETE ON "line_seal" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "rule_trial_is_only_added_to" BEFORE UPDATE OR DELETE ON "rule_trial" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();

-- What a rule said when it was declared is what it says.
CREATE FUNCTION "rule_version_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'version % of rule % is fixed', OLD.version, OLD.rule_id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "rule_version_is_fixed" BEFORE UPDATE ON "rule_version" FOR EACH ROW
  WHEN (OLD.definition <> NEW.definition OR OLD.action <> NEW.action OR OLD.priority <> NEW.priority)
  EXECUTE FUNCTION "rule_version_is_fixed"();

-- AlterTable
ALTER TABLE "reconciliation_state" ADD COLUMN     "rules_changed_at" TIMESTAMPTZ(3),
ADD COLUMN     "rules_looked_at" TIMESTAMPTZ(3),
ADD COLUMN     "rules_reviewed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "rule_entry" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "rule_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "actor" TEXT,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "rule_entry_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE INDEX "rule_entry_account_id_rule_id_created_at_idx" ON "rule_entry"("account_id", "rule_id", "created_at");

-- CreateIndex
CREATE INDEX "expected_payment_withdrawn" ON "expected_payment"("account_id", "withdrawn_at") WHERE (withdrawn_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "classification_declared" ON "classification"("account_id", "nsu") WHERE (rule = 'declared');

-- CreateIndex
CREATE INDEX "match_declared" ON "match"("account_id", "nsu") WHERE (rule = 'declared' AND unlinked_at IS NULL);

-- CreateIndex
CREATE INDEX "match_return" ON "match"("account_id", "expected_payment_id") WHERE (role = 'return' AND unlinked_at IS NULL);

-- CreateIndex
CREATE INDEX "transaction_account_id_external_id_idx" ON "transaction"("account_id", "external_id") WHERE (external_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "match_unlinked_by_hand" ON "match"("account_id", "nsu") WHERE (unlinked_by IS NOT NULL);



-- What Prisma does not know.
ALTER TABLE "rule_entry" ADD CONSTRAINT "rule_entry_action" CHECK
  ("action" IN ('declared', 'tried', 'activated', 'retired'));
CREATE TRIGGER "rule_entry_is_only_added_to" BEFORE UPDATE OR DELETE ON "rule_entry" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();

-- CreateIndex
CREATE INDEX "charge_ended" ON "charge"("account_id", "checked_at") WHERE (cancelled_at IS NOT NULL OR expired_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "transaction_movement" ON "transaction"("account_id", "movement_id") WHERE (movement_id IS NOT NULL);

-- AlterTable
ALTER TABLE "break" ADD COLUMN     "opened_day" TEXT;

-- CreateTable
CREATE TABLE "refund_policy_entry" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "sequence" BIGSERIAL NOT NULL,
    "break_kind" TEXT NOT NULL,
    "is_on" BOOLEAN NOT NULL,
    "max_cents" BIGINT,
    "actor" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "refund_policy_entry_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE INDEX "break_entry_refund" ON "break_entry"("account_id", "break_id") WHERE (action = 'refund');

-- CreateIndex
CREATE UNIQUE INDEX "refund_policy_entry_account_id_sequence_key" ON "refund_policy_entry"("account_id", "sequence");



-- What Prisma does not know.
CREATE TRIGGER "refund_policy_entry_is_only_added_to" BEFORE UPDATE OR DELETE ON "refund_policy_entry" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();

-- AlterTable
ALTER TABLE "reconciliation_run" ADD COLUMN     "after_arrival" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "reconciliation_state" ADD COLUMN     "missing_bank_time" TIMESTAMPTZ(3);

-- DropIndex
DROP INDEX "reconciliation_run_running";

-- CreateIndex
CREATE UNIQUE INDEX "reconciliation_run_running" ON "reconciliation_run"("account_id") WHERE (state = 'running');


-- CreateIndex
CREATE INDEX "match_unlinked" ON "match"("account_id", "unlinked_at") WHERE (unlinked_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "operation_ended" ON "operation"("account_id", "ended_at") WHERE (ended_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "charge_due_otherwise" ON "charge"("account_id", "bank_due_date") WHERE (bank_due_date <> due_date);

-- AlterTable
ALTER TABLE "statement_state" ADD COLUMN     "balance_differs_cents" BIGINT,
ADD COLUMN     "balance_differs_nsu" BIGINT,
ADD COLUMN     "closing_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "closing_next_at" TIMESTAMPTZ(3),
ADD COLUMN     "hole_after_nsu" BIGINT,
ADD COLUMN     "hole_balance_cents" BIGINT,
ADD COLUMN     "hole_full_reads" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "hole_nsu" BIGINT,
ADD COLUMN     "import_started_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_balance_off" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "live_balance_next_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "unreadable_line_open" ON "unreadable_line"("account_id", "nsu") WHERE (resolved_at IS NULL);

-- AlterTable
ALTER TABLE "day_close_state" ADD COLUMN     "amend_from" TEXT,
ADD COLUMN     "seen_arrival" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "line_erasure" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "line_erasure_pkey" PRIMARY KEY ("account_id","nsu")
);



-- What Prisma does not know.
CREATE TRIGGER "line_erasure_is_only_added_to" BEFORE UPDATE OR DELETE ON "line_erasure" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();

-- Nor is any of it emptied at once.
CREATE TRIGGER "break_entry_is_not_emptied" BEFORE TRUNCATE ON "break_entry" FOR EACH STATEMENT
  EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "day_close_is_not_emptied" BEFORE TRUNCATE ON "day_close" FOR EACH STATEMENT
  EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "line_seal_is_not_emptied" BEFORE TRUNCATE ON "line_seal" FOR EACH STATEMENT
  EXECUTE FUNCTION "is_only_added_to"();
CREATE TRIGGER "line_salt_is_not_emptied" BEFORE TRUNCATE ON "line_salt" FOR EACH STATEMENT
  EXECUTE FUNCTION "is_only_added_to"();

-- A line is written once; what is personal in it may be erased, all at once, where it is written down why.
CREATE OR REPLACE FUNCTION "transaction_is_written_once"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  personal CONSTANT text[] := ARRAY['content', 'content_hash', 'notes', 'counterparty', 'counterparty_document'];
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.content = '' AND NEW.content_hash = '' AND NEW.notes IS NULL
    AND NEW.counterparty IS NULL AND NEW.counterparty_document IS NULL
    AND to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
    AND EXISTS (SELECT 1 FROM "line_erasure" e WHERE e.account_id = OLD.account_id AND e.nsu = OLD.nsu)
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'line % of account % is written once', OLD.nsu, OLD.account_id USING ERRCODE = 'check_violation';
END $$;

-- AlterTable
ALTER TABLE "statement_state" ADD COLUMN     "first_clock_offset_ms" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "webhook_event" ADD COLUMN     "told_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;
UPDATE "webhook_event" e SET "told_at" = e."received_at" + COALESCE(
  (SELECT s."clock_offset_ms" FROM "statement_state" s WHERE s."account_id" = e."account_id"), 0) * interval '1 millisecond';

-- CreateIndex
CREATE INDEX "webhook_event_account_id_told_at_idx" ON "webhook_event"("account_id", "told_at");

-- CreateIndex
CREATE INDEX "webhook_event_nsu" ON "webhook_event"("account_id", "reference", "received_at") WHERE (reference_kind = 'nsu');

-- CreateIndex
CREATE INDEX "webhook_event_charge" ON "webhook_event"("account_id", "reference", "received_at") WHERE (reference_kind = 'correlation_id');



-- What was judged before could be explained, or was wrongly paid, in ways that nobody looked for: lines in breaks are judged
-- once more, and what was paid is reviewed from the first on.
INSERT INTO "deferred_line" ("account_id", "nsu")
  SELECT DISTINCT "account_id", "nsu" FROM "break"
  WHERE "state" = 'open' AND "kind" IN ('unexpected', 'ambiguous') AND "nsu" IS NOT NULL
  ON CONFLICT DO NOTHING;
UPDATE "reconciliation_state" s SET "reviewed_payment_id" = '00000000-0000-0000-0000-000000000000'
  WHERE EXISTS (SELECT FROM "match" m WHERE m."account_id" = s."account_id");
