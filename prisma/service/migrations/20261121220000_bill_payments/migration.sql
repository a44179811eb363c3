-- AlterTable
ALTER TABLE "bill_payment" ADD COLUMN     "freed_at" TIMESTAMPTZ(3);

-- DropIndex
DROP INDEX "bill_payment_live";

-- CreateIndex
CREATE UNIQUE INDEX "bill_payment_live" ON "bill_payment"("account_id", "bar_code") WHERE (state NOT IN ('failed', 'rejected') AND freed_at IS NULL);
