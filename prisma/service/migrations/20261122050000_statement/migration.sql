-- AlterTable
ALTER TABLE "statement_state" ADD COLUMN     "balance_differs_cents" BIGINT,
ADD COLUMN     "balance_differs_nsu" BIGINT,
ADD COLUMN     "closing_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "closing_next_at" TIMESTAMPTZ(3),
ADD COLUMN     "hole_after_nsu" BIGINT,
ADD COLUMN     "hole_balance_cents" BIGINT,
ADD COLUMN     "hole_nsu" BIGINT,
ADD COLUMN     "import_started_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_balance_off" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "live_balance_next_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "unreadable_line_open" ON "unreadable_line"("account_id", "nsu") WHERE (resolved_at IS NULL);
