ALTER TABLE "statement_state" VALIDATE CONSTRAINT "statement_state_read_failure";
