-- AlterTable
ALTER TABLE "account" ADD COLUMN     "blocked_cents" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "email" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "skipped_nsu" BIGINT,
ADD COLUMN     "tail_nsu" BIGINT;

-- AlterTable
ALTER TABLE "bill" ADD COLUMN     "adjustments" JSON,
ADD COLUMN     "identifier_number" TEXT,
ADD COLUMN     "parties" JSON,
ADD COLUMN     "rebate_cents" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "dict_key" ADD COLUMN     "party" JSON,
ALTER COLUMN "account_id" DROP NOT NULL;

-- AlterTable
ALTER TABLE "statement_line" ADD COLUMN     "visible_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "webhook_delivery" ADD COLUMN     "is_forged" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "bank_setting" (
    "name" TEXT NOT NULL,
    "value" JSON NOT NULL,

    CONSTRAINT "bank_setting_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "due_task" (
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "due_task_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dict_lookup" (
    "end_to_end_id" TEXT NOT NULL,
    "account_id" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "beneficiary" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "dict_lookup_pkey" PRIMARY KEY ("end_to_end_id")
);

-- CreateTable
CREATE TABLE "transfer" (
    "id" UUID NOT NULL,
    "account_id" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "description" TEXT,
    "external_id" TEXT,
    "end_to_end_id" TEXT,
    "idempotency_key" TEXT NOT NULL,
    "payer" JSON NOT NULL,
    "beneficiary" JSON NOT NULL,
    "beneficiary_account_id" INTEGER,
    "transaction_nsu" BIGINT,
    "is_blocked" BOOLEAN NOT NULL DEFAULT false,
    "error" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "transfer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "bill_payment" (
    "id" UUID NOT NULL,
    "account_id" INTEGER NOT NULL,
    "bar_code" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "amount_cents" BIGINT NOT NULL,
    "pay_at" TIMESTAMPTZ(3) NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "transaction_nsu" BIGINT,
    "failure" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "bill_payment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "customer" (
    "id" UUID NOT NULL,
    "document" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "details" JSON NOT NULL,
    "password_hash" TEXT NOT NULL,
    "security_password_hash" TEXT NOT NULL,
    "account_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "customer_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "due_task_due_at_id_idx" ON "due_task"("due_at", "id");

-- CreateIndex
CREATE INDEX "dict_lookup_account_id_idx" ON "dict_lookup"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "transfer_end_to_end_id_key" ON "transfer"("end_to_end_id");

-- CreateIndex
CREATE INDEX "transfer_account_id_external_id_idx" ON "transfer"("account_id", "external_id");

-- CreateIndex
CREATE INDEX "transfer_beneficiary_account_id_idx" ON "transfer"("beneficiary_account_id");

-- CreateIndex
CREATE INDEX "bill_payment_account_id_created_at_idx" ON "bill_payment"("account_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "bill_payment_live_key" ON "bill_payment"("bar_code") WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'PAID'::text]));

-- CreateIndex
CREATE UNIQUE INDEX "customer_document_key" ON "customer"("document");

-- CreateIndex
CREATE UNIQUE INDEX "customer_account_id_key" ON "customer"("account_id");

-- CreateIndex
CREATE INDEX "charge_account_id_created_at_id_idx" ON "charge"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "statement_line_account_id_original_end_to_end_id_idx" ON "statement_line"("account_id", "original_end_to_end_id");

-- DropIndex
DROP INDEX "statement_line_account_id_created_at_idx";

-- CreateIndex
CREATE INDEX "statement_line_account_id_created_at_nsu_idx" ON "statement_line"("account_id", "created_at", "nsu");

-- CreateIndex
CREATE INDEX "statement_line_account_id_nsu_created_at_visible_at_idx" ON "statement_line"("account_id", "nsu", "created_at", "visible_at");

-- CreateIndex
CREATE INDEX "statement_line_account_id_type_name_nsu_idx" ON "statement_line"("account_id", "type_name", "nsu");

-- AddForeignKey
ALTER TABLE "dict_lookup" ADD CONSTRAINT "dict_lookup_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transfer" ADD CONSTRAINT "transfer_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transfer" ADD CONSTRAINT "transfer_beneficiary_account_id_fkey" FOREIGN KEY ("beneficiary_account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "bill_payment" ADD CONSTRAINT "bill_payment_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "customer" ADD CONSTRAINT "customer_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;



-- What Prisma's schema cannot say.

UPDATE "account" SET "tail_nsu" = "last_nsu" WHERE "last_nsu" > 0;
UPDATE "account" SET "email" = 'financeiro@empresa-um.example' WHERE "number" = '1000001';
UPDATE "account" SET "email" = 'maria@pessoa-dois.example' WHERE "number" = '1000002';
-- The highest balance is the largest amount that the contract's numbers can tell.
ALTER TABLE "account"
  ADD CONSTRAINT "account_blocked_check"
    CHECK ("blocked_cents" >= 0 AND "blocked_cents" <= coalesce("balance_cents", 0)),
  ADD CONSTRAINT "account_balance_limit_check" CHECK ("balance_cents" <= 99999999999999),
  ADD CONSTRAINT "account_nsu_check" CHECK (
    coalesce("tail_nsu", 0) <= "last_nsu" AND "skipped_nsu" < "last_nsu"
  );
ALTER TABLE "dict_key"
  ADD CONSTRAINT "dict_key_owner_check" CHECK (("account_id" IS NULL) <> ("party" IS NULL));
ALTER TABLE "bill"
  ADD CONSTRAINT "bill_type_check" CHECK ("type" IN ('BANKSLIP', 'TAXES')),
  ADD CONSTRAINT "bill_status_check" CHECK (
    "status" IN ('PAID', 'PENDING_PAYMENT', 'BLOCKED_PAYMENT', 'PAYMENT_DEADLINE_EXCEEDED')
  ),
  ADD CONSTRAINT "bill_amount_check" CHECK ("amount_cents" > 0 AND "rebate_cents" >= 0),
  ADD CONSTRAINT "bill_range_check" CHECK (
    "minimum_payment_cents" > 0 AND "minimum_payment_cents" <= "maximum_payment_cents"
  );
ALTER TABLE "transfer"
  ADD CONSTRAINT "transfer_type_check" CHECK ("type" IN ('PIX_KEY', 'PIX_MANUAL', 'INTERNAL')),
  ADD CONSTRAINT "transfer_status_check" CHECK (
    "status" IN ('PIX_PROCESSING', 'PIX_WAITING_SPI_RESPONSE', 'PIX_EFFECTIVE', 'PIX_ERROR', 'EFFECTIVE')
  ),
  ADD CONSTRAINT "transfer_amount_check" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "transfer_end_to_end_id_check" CHECK (("type" = 'INTERNAL') = ("end_to_end_id" IS NULL));
ALTER TABLE "bill_payment"
  ADD CONSTRAINT "bill_payment_status_check" CHECK (
    "status" IN ('SCHEDULED', 'PAID', 'SCHEDULE_FAILURE', 'CHARGEBACKED')
  ),
  ADD CONSTRAINT "bill_payment_amount_check" CHECK ("amount_cents" > 0),
  ADD CONSTRAINT "bill_payment_nsu_check" CHECK (
    "transaction_nsu" IS NOT NULL OR "status" NOT IN ('PAID', 'CHARGEBACKED')
  );
ALTER TABLE "customer"
  ADD CONSTRAINT "customer_status_check" CHECK ("status" IN ('PROCESSING', 'APPROVED'));
ALTER TABLE "statement_line"
  ADD CONSTRAINT "statement_line_visible_check" CHECK ("visible_at" >= "created_at");
-- '77' and '077' are one number of eleven digits; it is told as it was sent.
CREATE UNIQUE INDEX "charge_our_number_digits_key"
  ON "charge" ("account_id", "wallet", (lpad("our_number", 11, '0')));
