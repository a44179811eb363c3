-- AlterTable
ALTER TABLE "operation_attempt" ADD COLUMN     "clock_offset_ms" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "operation_revocable" ON "operation"("account_id") WHERE (state IN ('not_executed', 'needs_operator'));
