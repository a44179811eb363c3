-- CreateTable
CREATE TABLE "bank_account" (
    "id" SERIAL NOT NULL,
    "slug" TEXT NOT NULL,
    "go_live_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bank_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "account_id" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "charge" (
    "account_id" INTEGER NOT NULL,
    "correlation_id" TEXT NOT NULL,
    "operation_id" UUID NOT NULL,
    "expected_payment_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "amount_cents" BIGINT,
    "due_date" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "charge_pkey" PRIMARY KEY ("account_id","correlation_id")
);

-- CreateTable
CREATE TABLE "event" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "event_types" TEXT[],
    "description" TEXT,
    "secret" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "resting_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "delivery" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "expected_payment" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "operation_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "is_credit" BOOLEAN NOT NULL,
    "amount_cents" BIGINT,
    "due_date" TEXT,
    "terms" TEXT,
    "is_multi_use" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "withdrawn_at" TIMESTAMPTZ(3),

    CONSTRAINT "expected_payment_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "expected_payment_reference" (
    "account_id" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expected_payment_id" UUID NOT NULL,

    CONSTRAINT "expected_payment_reference_pkey" PRIMARY KEY ("account_id","kind","value","expected_payment_id")
);

-- CreateTable
CREATE TABLE "operation" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "idempotency_key" TEXT,
    "request_hash" TEXT NOT NULL,
    "request_params" TEXT NOT NULL,
    "request_body" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_action_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "response_body" TEXT,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operation_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "operation_identity" (
    "account_id" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "identity" TEXT NOT NULL,
    "operation_id" UUID NOT NULL,
    "is_natural" BOOLEAN NOT NULL,

    CONSTRAINT "operation_identity_pkey" PRIMARY KEY ("account_id","kind","identity")
);

-- CreateTable
CREATE TABLE "operation_attempt" (
    "account_id" INTEGER NOT NULL,
    "operation_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "send_by" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "outcome" TEXT,
    "status" INTEGER,
    "reason" TEXT,

    CONSTRAINT "operation_attempt_pkey" PRIMARY KEY ("account_id","operation_id","number")
);

-- CreateTable
CREATE TABLE "match" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "nsu" BIGINT NOT NULL,
    "expected_payment_id" UUID NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "owed_cents" BIGINT,
    "rule" TEXT NOT NULL,
    "evidence" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "unlinked_at" TIMESTAMPTZ(3),

    CONSTRAINT "match_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "classification" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "rule" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "classification_pkey" PRIMARY KEY ("account_id","nsu")
);

-- CreateTable
CREATE TABLE "break" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "amount_cents" BIGINT,
    "nsu" BIGINT,
    "expected_payment_id" UUID,
    "evidence" JSONB NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "break_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "reconciliation_state" (
    "account_id" INTEGER NOT NULL,
    "judged_arrival" BIGINT NOT NULL DEFAULT 0,
    "judged_at" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliation_state_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "transaction" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "arrival" BIGSERIAL NOT NULL,
    "bank_id" TEXT NOT NULL,
    "is_credit" BOOLEAN NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "type_name" TEXT NOT NULL,
    "correlation_id" TEXT,
    "end_to_end_id" TEXT,
    "external_id" TEXT,
    "original_end_to_end_id" TEXT,
    "notes" TEXT,
    "balance_previous_cents" BIGINT NOT NULL,
    "current_balance_cents" BIGINT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "content_hash" TEXT NOT NULL,
    "content" TEXT NOT NULL,

    CONSTRAINT "transaction_pkey" PRIMARY KEY ("account_id","nsu")
);

-- CreateTable
CREATE TABLE "statement_state" (
    "account_id" INTEGER NOT NULL,
    "last_nsu" BIGINT,
    "line_count" BIGINT NOT NULL DEFAULT 0,
    "balance_cents" BIGINT,
    "is_anchored" BOOLEAN NOT NULL DEFAULT false,
    "first_hole_nsu" BIGINT,
    "hole_reads" INTEGER NOT NULL DEFAULT 0,
    "hole_next_read_at" TIMESTAMPTZ(3),
    "page_lines" INTEGER NOT NULL DEFAULT 0,
    "page_order" TEXT,
    "closed_until" TIMESTAMPTZ(3),
    "sync_token" UUID,
    "polled_from" TIMESTAMPTZ(3),
    "synced_at" TIMESTAMPTZ(3),
    "polls" BIGINT NOT NULL DEFAULT 0,
    "clock_offset_ms" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "statement_state_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "unreadable_line" (
    "account_id" INTEGER NOT NULL,
    "content_hash" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "nsu" BIGINT,
    "reason" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "unreadable_line_pkey" PRIMARY KEY ("account_id","content_hash")
);

-- CreateTable
CREATE TABLE "webhook_event" (
    "account_id" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "event_type" TEXT NOT NULL,
    "body_hash" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "state" TEXT NOT NULL,
    "copies" INTEGER NOT NULL DEFAULT 1,
    "reference_kind" TEXT,
    "reference" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "polls" INTEGER NOT NULL DEFAULT 0,
    "next_poll_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_event_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "bank_account_slug_key" ON "bank_account"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_account_id_idx" ON "api_key"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "charge_account_id_operation_id_key" ON "charge"("account_id", "operation_id");

-- CreateIndex
CREATE UNIQUE INDEX "charge_account_id_expected_payment_id_key" ON "charge"("account_id", "expected_payment_id");

-- CreateIndex
CREATE INDEX "delivery_due" ON "delivery"("account_id", "endpoint_id", "next_attempt_at") WHERE (state = 'pending');

-- CreateIndex
CREATE UNIQUE INDEX "delivery_account_id_event_id_endpoint_id_key" ON "delivery"("account_id", "event_id", "endpoint_id");

-- CreateIndex
CREATE INDEX "expected_payment_account_id_operation_id_idx" ON "expected_payment"("account_id", "operation_id");

-- CreateIndex
CREATE INDEX "expected_payment_reference_account_id_expected_payment_id_idx" ON "expected_payment_reference"("account_id", "expected_payment_id");

-- CreateIndex
CREATE INDEX "operation_needs_operator" ON "operation"("account_id") WHERE (state = 'needs_operator');

-- CreateIndex
CREATE INDEX "operation_due" ON "operation"("next_action_at") WHERE (next_action_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "operation_identity_account_id_operation_id_idx" ON "operation_identity"("account_id", "operation_id");

-- CreateIndex
CREATE INDEX "match_account_id_expected_payment_id_idx" ON "match"("account_id", "expected_payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "match_live" ON "match"("account_id", "nsu", "expected_payment_id") WHERE (unlinked_at IS NULL);

-- CreateIndex
CREATE INDEX "break_account_id_nsu_idx" ON "break"("account_id", "nsu");

-- CreateIndex
CREATE UNIQUE INDEX "break_account_id_kind_subject_key" ON "break"("account_id", "kind", "subject");

-- CreateIndex
CREATE INDEX "transaction_account_id_correlation_id_idx" ON "transaction"("account_id", "correlation_id") WHERE (correlation_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "transaction_account_id_end_to_end_id_idx" ON "transaction"("account_id", "end_to_end_id") WHERE (end_to_end_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "transaction_account_id_occurred_at_idx" ON "transaction"("account_id", "occurred_at");

-- CreateIndex
CREATE UNIQUE INDEX "transaction_account_id_arrival_key" ON "transaction"("account_id", "arrival");

-- CreateIndex
CREATE INDEX "webhook_event_pending" ON "webhook_event"("account_id", "received_at") WHERE (state = 'pending');

-- CreateIndex
CREATE UNIQUE INDEX "webhook_event_account_id_event_type_body_hash_key" ON "webhook_event"("account_id", "event_type", "body_hash");



-- What follows is not in the Prisma schema: the rules that the database itself holds.

ALTER TABLE "operation"
  ADD CONSTRAINT "operation_state" CHECK ("state" IN
    ('received', 'sending', 'succeeded', 'rejected', 'unknown', 'not_executed', 'needs_operator')),
  ADD CONSTRAINT "operation_unfinished_is_looked_at" CHECK
    (("state" IN ('received', 'sending', 'unknown')) = ("next_action_at" IS NOT NULL));
ALTER TABLE "charge" ADD CONSTRAINT "charge_amount" CHECK ("amount_cents" > 0);
ALTER TABLE "expected_payment" ADD CONSTRAINT "expected_payment_amount" CHECK ("amount_cents" > 0);
ALTER TABLE "transaction" ADD CONSTRAINT "transaction_amount" CHECK ("amount_cents" >= 0);
ALTER TABLE "statement_state" ADD CONSTRAINT "statement_state_page_order" CHECK ("page_order" IN ('desc', 'asc'));
ALTER TABLE "webhook_event" ADD CONSTRAINT "webhook_event_state" CHECK ("state" IN ('pending', 'settled', 'quarantined'));
ALTER TABLE "break" ADD CONSTRAINT "break_state" CHECK ("state" IN ('open', 'resolved'));
ALTER TABLE "delivery"
  ADD CONSTRAINT "delivery_state" CHECK ("state" IN ('pending', 'delivered', 'dead')),
  ADD CONSTRAINT "delivery_pending_is_due" CHECK (("state" = 'pending') = ("next_attempt_at" IS NOT NULL));

-- One intent, one key (its id), one text: none of them changes once the operation is committed.
CREATE FUNCTION "operation_intent_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the key and the request of operation % are fixed', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "operation_intent_is_fixed" BEFORE UPDATE ON "operation" FOR EACH ROW
  WHEN (OLD.id <> NEW.id
     OR OLD.kind <> NEW.kind
     OR OLD.idempotency_key IS DISTINCT FROM NEW.idempotency_key
     OR OLD.request_body IS DISTINCT FROM NEW.request_body
     OR OLD.request_params IS DISTINCT FROM NEW.request_params
     OR OLD.request_hash IS DISTINCT FROM NEW.request_hash)
  EXECUTE FUNCTION "operation_intent_is_fixed"();

-- A line of the statement is written once.
CREATE FUNCTION "transaction_is_written_once"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'line % of account % is written once', OLD.nsu, OLD.account_id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transaction_is_written_once" BEFORE UPDATE OR DELETE ON "transaction" FOR EACH ROW
  EXECUTE FUNCTION "transaction_is_written_once"();

-- The live matches of a line add up to the line, whoever wrote them.
CREATE FUNCTION "match_covers_its_line"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  offending bigint;
BEGIN
  -- Two who write at once would not see each other's matches: the second waits, and then sums what is there.
  PERFORM pg_advisory_xact_lock(x'434f4e02'::int, account_id)
  FROM (SELECT DISTINCT account_id FROM changed ORDER BY account_id) accounts;
  SELECT touched.nsu INTO offending
  FROM (SELECT DISTINCT account_id, nsu FROM changed) touched
  LEFT JOIN LATERAL (
    SELECT t.amount_cents FROM "transaction" t
    WHERE t.account_id = touched.account_id AND t.nsu = touched.nsu
  ) line ON true
  LEFT JOIN LATERAL (
    SELECT sum(m.amount_cents) AS total FROM "match" m
    WHERE m.account_id = touched.account_id AND m.nsu = touched.nsu AND m.unlinked_at IS NULL
  ) live ON true
  WHERE line.amount_cents IS NULL OR live.total <> line.amount_cents
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the matches of line % do not add up to it', offending USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

-- A match ends by being unlinked; a part of one that vanished would leave a line half explained.
CREATE FUNCTION "match_is_kept"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'match % is unlinked, not deleted', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "match_is_kept" BEFORE DELETE ON "match" FOR EACH ROW EXECUTE FUNCTION "match_is_kept"();

CREATE TRIGGER "match_covers_its_line_on_insert" AFTER INSERT ON "match"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "match_covers_its_line"();
CREATE TRIGGER "match_covers_its_line_on_update" AFTER UPDATE ON "match"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "match_covers_its_line"();
