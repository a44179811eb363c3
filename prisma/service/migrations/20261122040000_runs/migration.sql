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
