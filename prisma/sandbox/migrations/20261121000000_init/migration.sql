-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "account" (
    "id" SERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "branch" TEXT NOT NULL,
    "number" TEXT NOT NULL,
    "holder_name" TEXT NOT NULL,
    "holder_document" TEXT NOT NULL,
    "holder_type" TEXT NOT NULL,
    "street" TEXT NOT NULL DEFAULT '',
    "city" TEXT NOT NULL DEFAULT '',
    "state" TEXT NOT NULL DEFAULT '',
    "zip_code" TEXT NOT NULL DEFAULT '',
    "opening_balance_cents" BIGINT NOT NULL DEFAULT 0,
    "balance_cents" BIGINT,
    "last_nsu" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "key_hash" TEXT NOT NULL,
    "account_id" INTEGER NOT NULL,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("key_hash")
);

-- CreateTable
CREATE TABLE "dict_key" (
    "key" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "account_id" INTEGER NOT NULL,

    CONSTRAINT "dict_key_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "movement" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "idempotency_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "movement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "entry" (
    "movement_id" BIGINT NOT NULL,
    "account_id" INTEGER NOT NULL,
    "change_cents" BIGINT NOT NULL,

    CONSTRAINT "entry_pkey" PRIMARY KEY ("movement_id","account_id")
);

-- CreateTable
CREATE TABLE "statement_line" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "previous_nsu" BIGINT,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "movement_id" BIGINT NOT NULL,
    "change_cents" BIGINT NOT NULL,
    "balance_previous_cents" BIGINT NOT NULL,
    "current_balance_cents" BIGINT NOT NULL,
    "type_name" TEXT NOT NULL,
    "notes" TEXT,
    "correlation_id" TEXT,
    "external_id" TEXT,
    "end_to_end_id" TEXT,
    "original_end_to_end_id" TEXT,
    "proof" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "statement_line_pkey" PRIMARY KEY ("account_id","nsu")
);

-- CreateTable
CREATE TABLE "idempotent_request" (
    "account_id" INTEGER NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "body_hash" TEXT NOT NULL,
    "status" INTEGER,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotent_request_pkey" PRIMARY KEY ("account_id","operation","key")
);

-- CreateTable
CREATE TABLE "charge" (
    "id" BIGSERIAL NOT NULL,
    "account_id" INTEGER NOT NULL,
    "correlation_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "amount_cents" BIGINT,
    "wallet" INTEGER,
    "our_number" TEXT,
    "your_number" TEXT,
    "due_date" DATE,
    "bar_code" TEXT,
    "digitable_line" TEXT,
    "payer" JSON,
    "final_beneficiary" JSON,
    "adjustments" JSON,
    "pix_key" TEXT,
    "txid" TEXT,
    "qr_code" TEXT,
    "description" TEXT,
    "additional_information" TEXT,
    "body_hash" TEXT NOT NULL,
    "answer" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "charge_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bill" (
    "bar_code" TEXT NOT NULL,
    "digitable_line" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "due_date" DATE NOT NULL,
    "is_allow_partial_payment" BOOLEAN NOT NULL DEFAULT false,
    "minimum_payment_cents" BIGINT NOT NULL,
    "maximum_payment_cents" BIGINT NOT NULL,

    CONSTRAINT "bill_pkey" PRIMARY KEY ("bar_code")
);

-- CreateTable
CREATE TABLE "webhook_registration" (
    "id" UUID NOT NULL,
    "account_id" INTEGER NOT NULL,
    "event_type" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "authorization_scheme" TEXT NOT NULL,
    "authorization" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_registration_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" BIGSERIAL NOT NULL,
    "registration_id" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "leased_until" TIMESTAMPTZ(3),
    "last_outcome" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "account_number_key" ON "account"("number");

-- CreateIndex
CREATE INDEX "api_key_account_id_idx" ON "api_key"("account_id");

-- CreateIndex
CREATE INDEX "dict_key_account_id_kind_idx" ON "dict_key"("account_id", "kind");

-- CreateIndex
CREATE INDEX "entry_account_id_idx" ON "entry"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "entry_movement_id_account_id_change_cents_key" ON "entry"("movement_id", "account_id", "change_cents");

-- CreateIndex
CREATE INDEX "statement_line_account_id_created_at_idx" ON "statement_line"("account_id", "created_at");

-- CreateIndex
CREATE INDEX "statement_line_account_id_end_to_end_id_idx" ON "statement_line"("account_id", "end_to_end_id");

-- CreateIndex
CREATE INDEX "statement_line_account_id_correlation_id_idx" ON "statement_line"("account_id", "correlation_id");

-- CreateIndex
CREATE UNIQUE INDEX "statement_line_account_id_nsu_current_balance_cents_key" ON "statement_line"("account_id", "nsu", "current_balance_cents");

-- CreateIndex
CREATE UNIQUE INDEX "statement_line_account_id_previous_nsu_key" ON "statement_line"("account_id", "previous_nsu");

-- CreateIndex
CREATE UNIQUE INDEX "statement_line_first_key" ON "statement_line"("account_id") WHERE (previous_nsu IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "statement_line_movement_id_account_id_change_cents_key" ON "statement_line"("movement_id", "account_id", "change_cents");

-- CreateIndex
CREATE UNIQUE INDEX "charge_bar_code_key" ON "charge"("bar_code");

-- CreateIndex
CREATE INDEX "charge_account_id_txid_idx" ON "charge"("account_id", "txid");

-- CreateIndex
CREATE UNIQUE INDEX "charge_account_id_correlation_id_key" ON "charge"("account_id", "correlation_id");

-- CreateIndex
CREATE UNIQUE INDEX "charge_account_id_wallet_our_number_key" ON "charge"("account_id", "wallet", "our_number");

-- CreateIndex
CREATE UNIQUE INDEX "bill_digitable_line_key" ON "bill"("digitable_line");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_registration_account_id_event_type_key" ON "webhook_registration"("account_id", "event_type");

-- CreateIndex
CREATE INDEX "webhook_delivery_pending_idx" ON "webhook_delivery"("next_attempt_at") WHERE (state = 'pending');

-- CreateIndex
CREATE INDEX "webhook_delivery_registration_id_idx" ON "webhook_delivery"("registration_id");

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dict_key" ADD CONSTRAINT "dict_key_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entry" ADD CONSTRAINT "entry_movement_id_fkey" FOREIGN KEY ("movement_id") REFERENCES "movement"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entry" ADD CONSTRAINT "entry_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "statement_line" ADD CONSTRAINT "statement_line_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "statement_line" ADD CONSTRAINT "statement_line_movement_id_account_id_change_cents_fkey" FOREIGN KEY ("movement_id", "account_id", "change_cents") REFERENCES "entry"("movement_id", "account_id", "change_cents") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "statement_line" ADD CONSTRAINT "statement_line_account_id_previous_nsu_balance_previous_ce_fkey" FOREIGN KEY ("account_id", "previous_nsu", "balance_previous_cents") REFERENCES "statement_line"("account_id", "nsu", "current_balance_cents") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "idempotent_request" ADD CONSTRAINT "idempotent_request_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "charge" ADD CONSTRAINT "charge_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_registration" ADD CONSTRAINT "webhook_registration_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_registration_id_fkey" FOREIGN KEY ("registration_id") REFERENCES "webhook_registration"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- What Prisma's schema cannot say: the rules by which the ledger holds whatever the code does.

ALTER TABLE "account"
  ADD CONSTRAINT "account_kind_check" CHECK ("kind" IN ('customer', 'internal')),
  ADD CONSTRAINT "account_holder_type_check" CHECK ("holder_type" IN ('NATURAL', 'LEGAL')),
  ADD CONSTRAINT "account_balance_check" CHECK (
    ("kind" = 'internal' AND "balance_cents" IS NULL AND "opening_balance_cents" = 0)
    OR ("kind" = 'customer' AND "balance_cents" IS NOT NULL AND "balance_cents" >= 0
        AND "opening_balance_cents" >= 0)
  );
ALTER TABLE "movement"
  ADD CONSTRAINT "movement_kind_check" CHECK ("kind" IN ('opening', 'ordinary'));
ALTER TABLE "entry"
  ADD CONSTRAINT "entry_change_check" CHECK ("change_cents" <> 0);
ALTER TABLE "statement_line"
  ADD CONSTRAINT "statement_line_change_check" CHECK ("change_cents" <> 0),
  ADD CONSTRAINT "statement_line_balance_check"
    CHECK ("current_balance_cents" = "balance_previous_cents" + "change_cents"),
  ADD CONSTRAINT "statement_line_not_negative_check" CHECK ("current_balance_cents" >= 0);
ALTER TABLE "charge"
  ADD CONSTRAINT "charge_type_check" CHECK ("type" IN ('BANKSLIP', 'BANKSLIP_PIX', 'PIX_STATIC')),
  ADD CONSTRAINT "charge_amount_check" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "charge_slip_check" CHECK (
    "type" = 'PIX_STATIC'
    OR ("amount_cents" IS NOT NULL AND "wallet" IN (112, 121) AND "our_number" IS NOT NULL
        AND "due_date" IS NOT NULL AND "bar_code" IS NOT NULL AND "digitable_line" IS NOT NULL)
  ),
  ADD CONSTRAINT "charge_qr_code_check" CHECK (
    "type" = 'BANKSLIP' OR ("pix_key" IS NOT NULL AND "txid" IS NOT NULL AND "qr_code" IS NOT NULL)
  );
ALTER TABLE "webhook_delivery"
  ADD CONSTRAINT "webhook_delivery_state_check" CHECK ("state" IN ('pending', 'delivered', 'dead'));

-- What is in the book stays as it was written; a whole sandbox is reset by TRUNCATE.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a row of % is never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "movement_final" BEFORE UPDATE OR DELETE ON "movement"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "entry_final" BEFORE UPDATE OR DELETE ON "entry"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "statement_line_final" BEFORE UPDATE OR DELETE ON "statement_line"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();

-- Judged at commit: a movement has two legs or more and they sum to zero, and what an ordinary movement changes on a
-- customer's account stands on the statement.
CREATE FUNCTION "check_movement"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  movement_key bigint;
  legs integer;
  total numeric;
BEGIN
  IF TG_TABLE_NAME = 'movement' THEN movement_key := NEW.id; ELSE movement_key := NEW.movement_id; END IF;
  SELECT count(*), coalesce(sum(change_cents), 0) INTO legs, total
    FROM entry WHERE movement_id = movement_key;
  IF legs < 2 OR total <> 0 THEN
    RAISE EXCEPTION 'movement % is not balanced: % legs, sum %', movement_key, legs, total
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_balanced';
  END IF;
  IF EXISTS (
    SELECT FROM entry
      JOIN movement ON movement.id = entry.movement_id AND movement.kind = 'ordinary'
      JOIN account ON account.id = entry.account_id AND account.kind = 'customer'
    WHERE entry.movement_id = movement_key
      AND NOT EXISTS (SELECT FROM statement_line AS line
                      WHERE line.movement_id = entry.movement_id AND line.account_id = entry.account_id)
  ) THEN
    RAISE EXCEPTION 'movement % is missing on a statement', movement_key
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_on_statement';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "movement_balanced" AFTER INSERT ON "movement"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_movement"();
CREATE CONSTRAINT TRIGGER "entry_balanced" AFTER INSERT ON "entry"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_movement"();

-- Judged at commit: an account's balance is that of the end of its chain of lines, and its first line begins at the
-- opening balance.
CREATE FUNCTION "check_account_balance"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  account_key integer;
  chain_end bigint;
  held account%ROWTYPE;
BEGIN
  IF TG_TABLE_NAME = 'account' THEN account_key := NEW.id; ELSE account_key := NEW.account_id; END IF;
  SELECT * INTO held FROM account WHERE id = account_key;
  IF held.kind <> 'customer' THEN RETURN NULL; END IF;
  SELECT line.current_balance_cents INTO chain_end FROM statement_line AS line
    WHERE line.account_id = account_key
      AND NOT EXISTS (SELECT FROM statement_line AS follower
                      WHERE follower.account_id = account_key AND follower.previous_nsu = line.nsu)
    ORDER BY line.nsu DESC LIMIT 1;
  IF held.balance_cents IS DISTINCT FROM coalesce(chain_end, held.opening_balance_cents) THEN
    RAISE EXCEPTION 'account % holds %, its lines end at %', held.number, held.balance_cents, chain_end
      USING ERRCODE = 'check_violation', CONSTRAINT = 'account_balance_true';
  END IF;
  IF TG_TABLE_NAME = 'statement_line' THEN
    IF NEW.previous_nsu IS NULL AND NEW.balance_previous_cents <> held.opening_balance_cents THEN
      RAISE EXCEPTION 'the first line of account % does not begin at its opening balance', held.number
        USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_line_anchored';
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "account_balance_true" AFTER INSERT OR UPDATE ON "account"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_account_balance"();
CREATE CONSTRAINT TRIGGER "statement_line_balance_true" AFTER INSERT ON "statement_line"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_account_balance"();
