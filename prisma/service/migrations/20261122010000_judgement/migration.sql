-- CreateIndex
CREATE INDEX "charge_ended" ON "charge"("account_id", "checked_at") WHERE (cancelled_at IS NOT NULL OR expired_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "transaction_movement" ON "transaction"("account_id", "movement_id") WHERE (movement_id IS NOT NULL);
