-- Whom a batch assigns its breaks to, or until when it puts them off.
ALTER TABLE "decision_batch" ADD COLUMN "planned" TEXT;
