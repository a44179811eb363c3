-- CreateIndex
CREATE INDEX "webhook_event_account_id_received_at_idx" ON "webhook_event"("account_id", "received_at");

-- CreateIndex
CREATE INDEX "webhook_event_nsu" ON "webhook_event"("account_id", "reference", "received_at") WHERE (reference_kind = 'nsu');

-- CreateIndex
CREATE INDEX "webhook_event_charge" ON "webhook_event"("account_id", "reference", "received_at") WHERE (reference_kind = 'correlation_id');
