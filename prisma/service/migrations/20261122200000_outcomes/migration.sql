-- What the decisions come to, stored where it is read: the state of each line, what each expected
-- payment has come to, and counters of both. Reconciliation is the only writer.

-- The state of each decided line. A line without a row is not decided yet.
CREATE TABLE "line_outcome" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "state" TEXT NOT NULL,

  CONSTRAINT "line_outcome_pkey" PRIMARY KEY ("account_id", "nsu"),
  CONSTRAINT "line_outcome_state" CHECK (
    "state" IN ('matched', 'classified', 'in_break', 'pending')
  )
);
CREATE INDEX "line_outcome_unexplained" ON "line_outcome" ("account_id", "state", "nsu")
  WHERE (state = 'in_break' OR state = 'pending');

-- What an expected payment has come to.
CREATE TABLE "expected_payment_total" (
  "account_id" INTEGER NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "paid_cents" BIGINT NOT NULL,
  "reversed_cents" BIGINT NOT NULL,
  "refunded_cents" BIGINT NOT NULL,
  "unrefunded_cents" BIGINT NOT NULL,
  "settlement" TEXT NOT NULL,
  "due_day" TEXT,
  "deadline" TIMESTAMPTZ(3),

  CONSTRAINT "expected_payment_total_pkey" PRIMARY KEY ("account_id", "expected_payment_id"),
  CONSTRAINT "expected_payment_total_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT "expected_payment_total_cents" CHECK (
    "paid_cents" >= 0 AND "reversed_cents" >= 0
    AND "refunded_cents" BETWEEN 0 AND "paid_cents"
    AND "unrefunded_cents" BETWEEN 0 AND "paid_cents"
  ),
  CONSTRAINT "expected_payment_total_settlement" CHECK (
    "settlement" IN ('open', 'withdrawn', 'partially_settled', 'settled', 'overpaid', 'refunded',
      'partially_reversed', 'reversed')
  )
);
CREATE INDEX "expected_payment_total_deadline"
  ON "expected_payment_total" ("account_id", "deadline") WHERE (deadline IS NOT NULL);
CREATE INDEX "expected_payment_total_account_id_settlement_expected_payme_idx"
  ON "expected_payment_total" ("account_id", "settlement", "expected_payment_id");

-- The part of a payment that was refunded to the payer.
ALTER TABLE "match" ADD COLUMN "refunded_cents" BIGINT NOT NULL DEFAULT 0;

-- Counts of an account's rows. Triggers keep them equal to the rows, whoever writes these.
CREATE TABLE "account_counter" (
  "account_id" INTEGER NOT NULL,
  "kind" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "value" BIGINT NOT NULL,

  CONSTRAINT "account_counter_pkey" PRIMARY KEY ("account_id", "kind", "key")
);

-- Each function adds what a statement changed, in the order of the key: two such statements never
-- wait for each other.
CREATE FUNCTION "line_outcomes_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'lines', state, count(*) FROM after GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'lines', state, -count(*) FROM before GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSE
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'lines', state, sum(change) FROM (
      SELECT account_id, state, 1 AS change FROM after
      UNION ALL SELECT account_id, state, -1 FROM before
    ) changed GROUP BY 1, 3 HAVING sum(change) <> 0 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "line_outcomes_are_counted_on_insert" AFTER INSERT ON "line_outcome"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "line_outcomes_are_counted"();
CREATE TRIGGER "line_outcomes_are_counted_on_update" AFTER UPDATE ON "line_outcome"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "line_outcomes_are_counted"();
CREATE TRIGGER "line_outcomes_are_counted_on_delete" AFTER DELETE ON "line_outcome"
  REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION "line_outcomes_are_counted"();

-- Open expected payments, by the day on which they are due: overdue are those of earlier days.
CREATE FUNCTION "open_payments_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_payments', COALESCE(due_day, ''), count(*) FROM after
    WHERE settlement = 'open' GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSE
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_payments', COALESCE(due_day, ''), sum(change) FROM (
      SELECT account_id, settlement, due_day, 1 AS change FROM after
      UNION ALL SELECT account_id, settlement, due_day, -1 FROM before
    ) changed WHERE settlement = 'open' GROUP BY 1, 3 HAVING sum(change) <> 0 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  END IF;
  DELETE FROM account_counter WHERE kind = 'open_payments' AND value = 0
    AND account_id IN (SELECT account_id FROM after);
  RETURN NULL;
END $$;
CREATE TRIGGER "open_payments_are_counted_on_insert" AFTER INSERT ON "expected_payment_total"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "open_payments_are_counted"();
CREATE TRIGGER "open_payments_are_counted_on_update" AFTER UPDATE ON "expected_payment_total"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "open_payments_are_counted"();

CREATE FUNCTION "open_breaks_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_breaks', kind, count(*) FROM after WHERE state = 'open'
    GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSE
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_breaks', kind, sum(change) FROM (
      SELECT account_id, kind, state, 1 AS change FROM after
      UNION ALL SELECT account_id, kind, state, -1 FROM before
    ) changed WHERE state = 'open' GROUP BY 1, 3 HAVING sum(change) <> 0 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "open_breaks_are_counted_on_insert" AFTER INSERT ON "break"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "open_breaks_are_counted"();
CREATE TRIGGER "open_breaks_are_counted_on_update" AFTER UPDATE ON "break"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "open_breaks_are_counted"();

-- Processed webhooks with their copies. The others are few, and counted when they are read: no
-- receipt of a webhook waits for the counter.
CREATE FUNCTION "processed_webhooks_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO account_counter AS c (account_id, kind, key, value)
  SELECT account_id, 'webhooks', 'processed', sum(change) FROM (
    SELECT account_id, state, copies AS change FROM after
    UNION ALL SELECT account_id, state, -copies FROM before
  ) changed WHERE state = 'processed' GROUP BY 1 HAVING sum(change) <> 0 ORDER BY 1
  ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  RETURN NULL;
END $$;
CREATE TRIGGER "processed_webhooks_are_counted" AFTER UPDATE ON "webhook_event"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "processed_webhooks_are_counted"();
CREATE INDEX "webhook_event_unprocessed" ON "webhook_event" ("account_id", "state")
  WHERE (state = 'pending' OR state = 'quarantined');
CREATE INDEX "delivery_dead" ON "delivery" ("account_id") WHERE (state = 'dead');
CREATE INDEX "operation_unfinished" ON "operation" ("account_id", "state")
  WHERE (state = 'received' OR state = 'sending' OR state = 'unknown' OR state = 'needs_operator');

CREATE INDEX "bill_payment_account_id_bar_code_idx" ON "bill_payment" ("account_id", "bar_code");

INSERT INTO "account_counter" (account_id, kind, key, value)
SELECT account_id, 'open_breaks', kind, count(*) FROM "break" WHERE state = 'open' GROUP BY 1, 3
UNION ALL
SELECT account_id, 'webhooks', 'processed', sum(copies) FROM "webhook_event"
WHERE state = 'processed' GROUP BY 1;

-- The totals so far. Refunds, and what was owed, follow when the payments are decided again.
INSERT INTO "expected_payment_total" (account_id, expected_payment_id, paid_cents, reversed_cents,
  refunded_cents, unrefunded_cents, settlement, due_day)
SELECT e.account_id, e.id, paid.cents, paid.reversed, 0, paid.cents,
       CASE WHEN paid.cents = 0 AND (e.withdrawn_at IS NOT NULL OR c.cancelled_at IS NOT NULL)
              THEN 'withdrawn'
            WHEN paid.cents = 0 THEN 'open'
            WHEN e.is_credit OR paid.reversed = 0 THEN 'settled'
            WHEN paid.reversed < paid.cents THEN 'partially_reversed' ELSE 'reversed' END,
       COALESCE(c.bank_due_date, e.due_date)
FROM "expected_payment" e
LEFT JOIN "charge" c ON c.account_id = e.account_id AND c.expected_payment_id = e.id
CROSS JOIN LATERAL (
  SELECT COALESCE(sum(amount_cents) FILTER (WHERE role = 'payment'), 0)::bigint AS cents,
         COALESCE(sum(amount_cents) FILTER (WHERE role = 'reversal'), 0)::bigint AS reversed
  FROM "match" m
  WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
) paid;

-- The moment in bank time up to which every line is decided replaces the check of missing payments.
ALTER TABLE "reconciliation_state" RENAME COLUMN "missing_bank_time" TO "as_of";
ALTER TABLE "reconciliation_state"
  DROP COLUMN "missing_due_until", DROP COLUMN "missing_checked_at";

-- Operations and the statement itself are subjects too.
ALTER TABLE "reconciliation_task" ADD COLUMN "operation_id" UUID;
ALTER TABLE "reconciliation_task" DROP CONSTRAINT "reconciliation_task_kind";
ALTER TABLE "reconciliation_task" ADD CONSTRAINT "reconciliation_task_kind" CHECK (
  -- A task of rules has the line after which the account is still to be decided.
  ("kind" IN ('line', 'rules')) = ("nsu" IS NOT NULL)
  AND ("kind" = 'payment') = ("expected_payment_id" IS NOT NULL)
  AND ("kind" = 'operation') = ("operation_id" IS NOT NULL)
  AND "kind" IN ('line', 'rules', 'payment', 'operation', 'statement')
);

-- Everything is decided again once: nothing changes but the totals and the states of lines.
DROP TABLE "deferred_line";
UPDATE "reconciliation_state" SET decided_arrival = 0;
INSERT INTO "reconciliation_task" (account_id, kind, expected_payment_id)
SELECT account_id, 'payment', id FROM "expected_payment";
INSERT INTO "reconciliation_task" (account_id, kind, operation_id)
SELECT account_id, 'operation', id FROM "operation"
WHERE is_detached OR state = 'needs_operator';
INSERT INTO "reconciliation_task" (account_id, kind) SELECT account_id, 'statement'
FROM "statement_state";
