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



-- What Prisma does not know.
ALTER TABLE "rule_entry" ADD CONSTRAINT "rule_entry_action" CHECK
  ("action" IN ('declared', 'tried', 'activated', 'retired'));
CREATE TRIGGER "rule_entry_is_only_added_to" BEFORE UPDATE OR DELETE ON "rule_entry" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();
