-- CreateIndex
CREATE INDEX "refund_account_id_nsu_idx" ON "refund"("account_id", "nsu");

-- CreateIndex
CREATE INDEX "refund_account_id_end_to_end_id_idx" ON "refund"("account_id", "end_to_end_id");

-- CreateIndex
CREATE INDEX "transaction_untied_debit" ON "transaction"("account_id", "counterparty", "occurred_at") WHERE (original_end_to_end_id IS NULL AND is_credit = false);
