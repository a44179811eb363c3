-- Since when the bank has not shown the statement, and whether it refuses the account's key. Both
-- are null once a sync has completed.
ALTER TABLE "statement_state"
  ADD COLUMN "read_failure" TEXT,
  ADD COLUMN "read_failed_since" TIMESTAMPTZ(3),
  ADD CONSTRAINT "statement_state_read_failure"
    CHECK (read_failure IN ('key_refused', 'no_answer')
      AND (read_failure IS NULL) = (read_failed_since IS NULL)) NOT VALID;
