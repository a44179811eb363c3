-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "hint" TEXT,
ADD COLUMN     "name" TEXT,
ADD COLUMN     "scopes" TEXT[];

-- AlterTable
ALTER TABLE "bank_account" ADD COLUMN     "bank_identity" TEXT,
ADD COLUMN     "credentials" TEXT,
ADD COLUMN     "name" TEXT,
ADD COLUMN     "origin" TEXT NOT NULL DEFAULT 'settings',
ADD COLUMN     "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- AlterTable
ALTER TABLE "charge" ADD COLUMN     "bank_due_date" TEXT,
ADD COLUMN     "bank_status" TEXT,
ADD COLUMN     "cancelled_at" TIMESTAMPTZ(3),
ADD COLUMN     "checked_at" TIMESTAMPTZ(3),
ADD COLUMN     "checks" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "expired_at" TIMESTAMPTZ(3),
ADD COLUMN     "next_check_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "match" ADD COLUMN     "role" TEXT NOT NULL DEFAULT 'payment';

-- AlterTable
ALTER TABLE "operation" ADD COLUMN     "amount_cents" BIGINT,
ADD COLUMN     "bank_reference" TEXT,
ADD COLUMN     "counterparty" TEXT,
ADD COLUMN     "effective_from" TIMESTAMPTZ(3),
ADD COLUMN     "ended_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_detached" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "is_told_apart" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "request_query" TEXT NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "operation_attempt" ADD COLUMN     "clock_offset_after_ms" BIGINT,
ADD COLUMN     "clock_offset_ms" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "operation_identity" ADD COLUMN     "is_temporary" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "statement_state" ADD COLUMN     "closed_from" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "transaction" ADD COLUMN     "bill_code" TEXT,
ADD COLUMN     "counterparty" TEXT,
ADD COLUMN     "idempotency_key" TEXT,
ADD COLUMN     "movement_id" TEXT;

-- CreateTable
CREATE TABLE "bill_payment" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "bar_code" TEXT NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "bank_id" TEXT,
    "bank_status" TEXT,
    "state" TEXT NOT NULL,
    "scheduled_for" TIMESTAMPTZ(3),
    "may_go_until" TIMESTAMPTZ(3),
    "expected_payment_id" UUID NOT NULL,
    "checks" INTEGER NOT NULL DEFAULT 0,
    "checked_at" TIMESTAMPTZ(3),
    "next_check_at" TIMESTAMPTZ(3),
    "freed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bill_payment_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "bulk_upload" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "file_hash" TEXT NOT NULL,
    "rows" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "bulk_upload_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "bulk_row" (
    "account_id" INTEGER NOT NULL,
    "upload_id" UUID NOT NULL,
    "line" INTEGER NOT NULL,
    "reference" TEXT,
    "request" TEXT,
    "state" TEXT NOT NULL,
    "errors" TEXT,
    "operation_id" UUID,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bulk_row_pkey" PRIMARY KEY ("account_id","upload_id","line")
);

-- CreateTable
CREATE TABLE "customer" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "document_hash" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "customer_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "kept_answer" (
    "account_id" INTEGER NOT NULL,
    "route" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "status" INTEGER,
    "body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "kept_answer_pkey" PRIMARY KEY ("account_id","route","key")
);

-- CreateTable
CREATE TABLE "deferred_line" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "deferred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deferred_line_pkey" PRIMARY KEY ("account_id","nsu")
);

-- CreateTable
CREATE TABLE "refund" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "original_nsu" BIGINT NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "end_to_end_id" TEXT,
    "nsu" BIGINT,
    "state" TEXT NOT NULL,
    "expected_payment_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "refund_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "pix_lookup" (
    "account_id" INTEGER NOT NULL,
    "end_to_end_id" TEXT NOT NULL,
    "counterparty" TEXT NOT NULL,
    "looked_up_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "operation_id" UUID,

    CONSTRAINT "pix_lookup_pkey" PRIMARY KEY ("account_id","end_to_end_id")
);

-- CreateTable
CREATE TABLE "transfer" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "operation_id" UUID NOT NULL,
    "position" INTEGER NOT NULL DEFAULT 0,
    "shape" TEXT NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "counterparty" TEXT NOT NULL,
    "end_to_end_id" TEXT,
    "external_id" TEXT,
    "bank_id" TEXT,
    "bank_status" TEXT,
    "state" TEXT NOT NULL,
    "error_code" TEXT,
    "expected_payment_id" UUID NOT NULL,
    "checks" INTEGER NOT NULL DEFAULT 0,
    "checked_at" TIMESTAMPTZ(3),
    "next_check_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "transfer_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "bank_account_bank_identity_key" ON "bank_account"("bank_identity");

-- CreateIndex
CREATE INDEX "bill_payment_check_due" ON "bill_payment"("account_id", "next_check_at") WHERE (next_check_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "bill_payment_let_go" ON "bill_payment"("account_id") WHERE (state = 'failed' OR freed_at IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "bill_payment_live" ON "bill_payment"("account_id", "bar_code") WHERE (state <> 'failed' AND state <> 'rejected' AND freed_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "bill_payment_account_id_expected_payment_id_key" ON "bill_payment"("account_id", "expected_payment_id");

-- CreateIndex
CREATE INDEX "bulk_upload_unfinished" ON "bulk_upload"("created_at") WHERE (finished_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "bulk_upload_account_id_kind_file_hash_key" ON "bulk_upload"("account_id", "kind", "file_hash");

-- CreateIndex
CREATE INDEX "bulk_row_account_id_upload_id_state_idx" ON "bulk_row"("account_id", "upload_id", "state");

-- CreateIndex
CREATE INDEX "customer_account_id_document_hash_idx" ON "customer"("account_id", "document_hash");

-- CreateIndex
CREATE INDEX "refund_account_id_original_nsu_idx" ON "refund"("account_id", "original_nsu");

-- CreateIndex
CREATE INDEX "refund_account_id_nsu_idx" ON "refund"("account_id", "nsu");

-- CreateIndex
CREATE INDEX "refund_account_id_end_to_end_id_idx" ON "refund"("account_id", "end_to_end_id");

-- CreateIndex
CREATE UNIQUE INDEX "refund_account_id_expected_payment_id_key" ON "refund"("account_id", "expected_payment_id");

-- CreateIndex
CREATE INDEX "transfer_account_id_bank_id_idx" ON "transfer"("account_id", "bank_id");

-- CreateIndex
CREATE INDEX "transfer_account_id_end_to_end_id_idx" ON "transfer"("account_id", "end_to_end_id");

-- CreateIndex
CREATE INDEX "transfer_account_id_external_id_idx" ON "transfer"("account_id", "external_id");

-- CreateIndex
CREATE INDEX "transfer_check_due" ON "transfer"("account_id", "next_check_at") WHERE (next_check_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "transfer_failed" ON "transfer"("account_id", "updated_at") WHERE (state = 'failed');

-- CreateIndex
CREATE UNIQUE INDEX "transfer_account_id_operation_id_position_key" ON "transfer"("account_id", "operation_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "transfer_account_id_expected_payment_id_key" ON "transfer"("account_id", "expected_payment_id");

-- CreateIndex
CREATE INDEX "break_open" ON "break"("account_id", "kind", "opened_at") WHERE (state = 'open');

-- CreateIndex
CREATE INDEX "charge_check_due" ON "charge"("account_id", "next_check_at") WHERE (next_check_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "operation_counterparty" ON "operation"("account_id", "kind", "amount_cents", "counterparty") WHERE (counterparty IS NOT NULL);

-- CreateIndex
CREATE INDEX "operation_idempotency_key" ON "operation"("account_id", "idempotency_key") WHERE (idempotency_key IS NOT NULL);

-- CreateIndex
CREATE INDEX "operation_revocable" ON "operation"("account_id") WHERE (state = 'not_executed' OR state = 'needs_operator');

-- CreateIndex
CREATE INDEX "operation_unanswered" ON "operation"("account_id") WHERE (state <> 'rejected' AND (state <> 'succeeded' OR response_status IS NULL));

-- CreateIndex
CREATE INDEX "transaction_account_id_original_end_to_end_id_idx" ON "transaction"("account_id", "original_end_to_end_id") WHERE (original_end_to_end_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "transaction_untied_debit" ON "transaction"("account_id", "counterparty", "occurred_at") WHERE (original_end_to_end_id IS NULL AND is_credit = false);

-- CreateIndex
CREATE INDEX "webhook_event_pix" ON "webhook_event"("account_id", "reference", "received_at") WHERE (reference_kind = 'end_to_end_id');



-- What Prisma does not know.
UPDATE "operation" SET "ended_at" = "updated_at" WHERE "state" IN ('succeeded', 'rejected', 'not_executed', 'needs_operator');

ALTER TABLE "operation"
  ADD CONSTRAINT "operation_amount" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "operation_end_is_told" CHECK (
    ("state" IN ('succeeded', 'rejected', 'not_executed', 'needs_operator')) = ("ended_at" IS NOT NULL)),
  -- What the bank has shown to know is never proven not executed.
  ADD CONSTRAINT "operation_known_is_executed" CHECK ("state" <> 'not_executed' OR "bank_reference" IS NULL);
ALTER TABLE "match" ADD CONSTRAINT "match_role" CHECK ("role" IN ('payment', 'return'));
ALTER TABLE "transfer"
  ADD CONSTRAINT "transfer_amount" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "transfer_shape" CHECK ("shape" IN ('key', 'manual', 'internal', 'batch')),
  ADD CONSTRAINT "transfer_state" CHECK ("state" IN ('requested', 'accepted', 'effective', 'failed', 'rejected'));
ALTER TABLE "bill_payment"
  ADD CONSTRAINT "bill_payment_amount" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "bill_payment_state" CHECK ("state" IN ('requested', 'scheduled', 'paid', 'failed', 'rejected')),
  ADD CONSTRAINT "bill_payment_times" CHECK (("scheduled_for" IS NULL) = ("may_go_until" IS NULL)
    AND "scheduled_for" <= "may_go_until");
ALTER TABLE "refund"
  ADD CONSTRAINT "refund_amount" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "refund_state" CHECK ("state" IN ('requested', 'accepted', 'rejected'));
ALTER TABLE "customer" ADD CONSTRAINT "customer_state" CHECK ("state" IN ('requested', 'accepted', 'rejected'));
ALTER TABLE "bulk_upload" ADD CONSTRAINT "bulk_upload_kind" CHECK ("kind" IN ('charges', 'transfers'));
ALTER TABLE "bulk_row" ADD CONSTRAINT "bulk_row_state" CHECK ("state" IN ('pending', 'accepted', 'rejected', 'invalid'));
ALTER TABLE "statement_state" ADD CONSTRAINT "statement_state_closed" CHECK ("closed_from" <= "closed_until");
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_scopes" CHECK
  ("scopes" <@ ARRAY['read', 'charge', 'transfer', 'pay', 'refund', 'onboard']);

-- The intent is fixed with its query and with what a possible duplicate is known by.
DROP TRIGGER "operation_intent_is_fixed" ON "operation";
CREATE TRIGGER "operation_intent_is_fixed" BEFORE UPDATE ON "operation" FOR EACH ROW
  WHEN (OLD.id <> NEW.id
     OR OLD.kind <> NEW.kind
     OR OLD.idempotency_key IS DISTINCT FROM NEW.idempotency_key
     OR OLD.request_body IS DISTINCT FROM NEW.request_body
     OR OLD.request_params IS DISTINCT FROM NEW.request_params
     OR OLD.request_query IS DISTINCT FROM NEW.request_query
     OR OLD.request_hash IS DISTINCT FROM NEW.request_hash
     OR OLD.counterparty IS DISTINCT FROM NEW.counterparty
     OR OLD.amount_cents IS DISTINCT FROM NEW.amount_cents)
  EXECUTE FUNCTION "operation_intent_is_fixed"();

-- A transfer goes forward: an answer that comes late, or a status that was read before another, undoes nothing. What
-- was taken for rejected may be shown to have been done after all, or perhaps.
CREATE FUNCTION "transfer_goes_forward"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transfer % does not go from % back to %', OLD.id, OLD.state, NEW.state
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transfer_goes_forward" BEFORE UPDATE ON "transfer" FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND (
       OLD.state IN ('effective', 'failed')
    OR (OLD.state <> 'rejected' AND NEW.state = 'requested')
    OR (OLD.state = 'accepted' AND NEW.state = 'rejected')))
  EXECUTE FUNCTION "transfer_goes_forward"();

-- What was asked for is fixed, and so are the ids by which the bank knows it.
CREATE FUNCTION "transfer_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what transfer % was asked as is fixed', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transfer_is_fixed" BEFORE UPDATE ON "transfer" FOR EACH ROW
  WHEN (OLD.operation_id <> NEW.operation_id
     OR OLD.position <> NEW.position
     OR OLD.amount_cents <> NEW.amount_cents
     OR OLD.counterparty <> NEW.counterparty
     OR OLD.expected_payment_id <> NEW.expected_payment_id
     OR OLD.end_to_end_id <> NEW.end_to_end_id
     OR OLD.external_id <> NEW.external_id
     OR OLD.bank_id <> NEW.bank_id)
  EXECUTE FUNCTION "transfer_is_fixed"();
