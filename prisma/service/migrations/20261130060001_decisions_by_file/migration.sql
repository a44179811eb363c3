-- The decision of one row of a spreadsheet, and why; without them, those of its batch.
ALTER TABLE "batched_decision" ADD COLUMN "action" TEXT, ADD COLUMN "reason" TEXT;
