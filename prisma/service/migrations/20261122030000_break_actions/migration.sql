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
