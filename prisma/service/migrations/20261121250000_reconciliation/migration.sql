-- CreateIndex
CREATE INDEX "break_open" ON "break"("account_id", "kind", "opened_at") WHERE (state = 'open');

-- CreateIndex
CREATE INDEX "operation_unanswered" ON "operation"("account_id") WHERE (state <> 'rejected' AND (state <> 'succeeded' OR response_status IS NULL));

-- CreateIndex
CREATE INDEX "transfer_failed" ON "transfer"("account_id", "updated_at") WHERE (state = 'failed');
