-- The ids that a mode withheld when a line was written: what was told once does not change.
ALTER TABLE "statement_line" ADD COLUMN     "hides_external_id" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "hides_original_id" BOOLEAN NOT NULL DEFAULT false;
