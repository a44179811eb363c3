-- The reason code that a person chose for all decisions of a batch.
ALTER TABLE "decision_batch" ADD COLUMN "reason_code" TEXT;
