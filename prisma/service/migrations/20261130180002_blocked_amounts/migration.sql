-- What the bank reports as blocked of the balance.
ALTER TABLE "statement_state" ADD COLUMN "live_blocked_cents" BIGINT;
