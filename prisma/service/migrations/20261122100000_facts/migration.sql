-- Facts about expected payments that a later fact may contradict. `expected_payment.withdrawn_at`
-- follows from them.
CREATE TABLE "expected_payment_fact" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "kind" TEXT NOT NULL,
  "bank_time" TIMESTAMPTZ(3) NOT NULL,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "expected_payment_fact_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "expected_payment_fact_kind" CHECK (
    "kind" IN ('rejected', 'failed', 'absence_proven', 'absence_revoked', 'given_up',
      'expected_again')
  ),
  CONSTRAINT "expected_payment_fact_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE INDEX "expected_payment_fact_account_id_expected_payment_id_idx"
  ON "expected_payment_fact" ("account_id", "expected_payment_id");

CREATE TRIGGER "expected_payment_fact_is_append_only" BEFORE UPDATE OR DELETE
  ON "expected_payment_fact" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- When a payment was recorded, in bank time. The offset between the clocks may change afterwards.
ALTER TABLE "expected_payment" ADD COLUMN "created_at_bank_time" TIMESTAMPTZ(3);
UPDATE "expected_payment" e
SET created_at_bank_time = e.created_at + s.clock_offset_ms * interval '1 millisecond'
FROM "statement_state" s WHERE s.account_id = e.account_id;

-- The payments that are withdrawn already. Their operation or bill payment says why.
INSERT INTO "expected_payment_fact" (account_id, expected_payment_id, kind, bank_time, recorded_at)
SELECT e.account_id, e.id,
       CASE WHEN o.state = 'rejected' THEN 'rejected' WHEN o.state = 'not_executed'
              OR o.state = 'succeeded' AND o.response_status IS NULL THEN 'absence_proven'
            WHEN o.kind = 'refund_pix' THEN 'given_up' ELSE 'failed' END,
       e.withdrawn_at + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond', e.withdrawn_at
FROM "expected_payment" e
LEFT JOIN "operation" o ON o.account_id = e.account_id AND o.id = e.operation_id
LEFT JOIN "statement_state" s ON s.account_id = e.account_id
WHERE e.withdrawn_at IS NOT NULL;

-- The payments that were withdrawn until a late line showed them: their breaks say so.
INSERT INTO "expected_payment_fact" (account_id, expected_payment_id, kind, bank_time, recorded_at)
SELECT late.account_id, e.id, fact.kind,
       late.opened_at + COALESCE(s.clock_offset_ms, 0) * interval '1 millisecond', late.opened_at
FROM "break" late
JOIN "expected_payment" e ON e.account_id = late.account_id AND e.id = late.expected_payment_id
  AND e.withdrawn_at IS NULL
LEFT JOIN "statement_state" s ON s.account_id = late.account_id
CROSS JOIN (VALUES (1, 'absence_proven'), (2, 'absence_revoked')) AS fact(position, kind)
WHERE late.kind = 'late_line' AND late.subject LIKE 'operation:%'
ORDER BY late.account_id, e.id, fact.position;

-- Facts are the only source of `withdrawn_at`: no payment is expected since the first of the facts
-- that say so, until a fact says the contrary.
CREATE FUNCTION "expected_payment_follows_its_facts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE expected_payment e
  SET withdrawn_at = CASE WHEN last.kind NOT IN ('absence_revoked', 'expected_again')
    THEN COALESCE(e.withdrawn_at, last.recorded_at) END
  FROM (
    SELECT DISTINCT ON (account_id, expected_payment_id) account_id, expected_payment_id, kind,
      recorded_at
    FROM recorded ORDER BY account_id, expected_payment_id, sequence DESC
  ) last
  WHERE e.account_id = last.account_id AND e.id = last.expected_payment_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "expected_payment_follows_its_facts" AFTER INSERT ON "expected_payment_fact"
  REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT
  EXECUTE FUNCTION "expected_payment_follows_its_facts"();

-- What people decided about a line: a link to expected payments, or the end of it.
CREATE TABLE "line_decision" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "nsu" BIGINT NOT NULL,
  "action" TEXT NOT NULL,
  "allocations" JSONB NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "line_decision_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "line_decision_action" CHECK ("action" IN ('link', 'unlink'))
);
CREATE INDEX "line_decision_account_id_nsu_idx" ON "line_decision" ("account_id", "nsu");
CREATE TRIGGER "line_decision_is_append_only" BEFORE UPDATE OR DELETE ON "line_decision"
  FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- The decisions so far stand in the matches that they made and ended.
INSERT INTO "line_decision" (account_id, nsu, action, allocations, actor, reason, created_at)
SELECT account_id, nsu, action, allocations, actor, reason, at FROM (
  SELECT account_id, nsu, 'link' AS action, made_by AS actor, COALESCE(reason, '') AS reason,
         created_at AS at, jsonb_agg(jsonb_build_object('expectedPaymentId', expected_payment_id,
           'cents', amount_cents::text) ORDER BY expected_payment_id) AS allocations
  FROM "match" WHERE rule = 'manual'
  GROUP BY account_id, nsu, made_by, reason, created_at
  UNION ALL
  SELECT account_id, nsu, 'unlink', unlinked_by, COALESCE(unlink_reason, ''), unlinked_at,
         jsonb_agg(jsonb_build_object('expectedPaymentId', expected_payment_id,
           'cents', amount_cents::text) ORDER BY expected_payment_id)
  FROM "match" WHERE unlinked_by IS NOT NULL
  GROUP BY account_id, nsu, unlinked_by, unlink_reason, unlinked_at
) decided
ORDER BY at;

-- What an acceptance covers stood in the row of its break alone.
INSERT INTO "break_history_entry" (account_id, break_id, action, actor, reason, detail)
SELECT account_id, id, 'accept', resolved_by, resolution_reason,
       jsonb_strip_nulls(jsonb_build_object('cents', amount_cents::text,
         'jumps', evidence -> 'jumps'))
FROM "break" WHERE state = 'resolved' AND resolution = 'accept' AND resolved_by IS NOT NULL;

-- Acceptances of breaks that a larger amount opened again: their amount stands in the reopening.
INSERT INTO "break_history_entry" (account_id, break_id, action, actor, reason, detail)
SELECT b.account_id, b.id, 'accept', accepted.actor, accepted.reason,
       jsonb_build_object('cents', accepted.cents)
FROM "break" b
CROSS JOIN LATERAL (
  SELECT e.sequence, e.actor, e.reason, (
    SELECT more.detail ->> 'fromCents' FROM "break_history_entry" more
    WHERE more.account_id = b.account_id AND more.break_id = b.id AND more.action = 'reopened'
      AND more.sequence > e.sequence
    ORDER BY more.sequence LIMIT 1) AS cents
  FROM "break_history_entry" e
  WHERE e.account_id = b.account_id AND e.break_id = b.id AND e.action = 'resolved'
    AND e.detail ->> 'resolution' = 'accept' AND e.actor IS NOT NULL
  ORDER BY e.sequence DESC LIMIT 1
) accepted
WHERE b.state = 'open' AND accepted.cents IS NOT NULL AND NOT EXISTS (
  SELECT FROM "break_history_entry" since
  WHERE since.account_id = b.account_id AND since.break_id = b.id
    AND since.sequence > accepted.sequence
    AND since.action IN ('reopen', 'unlink', 'link', 'refund'));

-- A subject that must be decided again, because a fact about it changed or became due.
CREATE TABLE "reconciliation_task" (
  "account_id" INTEGER NOT NULL,
  "id" BIGSERIAL NOT NULL,
  "kind" TEXT NOT NULL,
  "nsu" BIGINT,
  "expected_payment_id" UUID,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "reconciliation_task_pkey" PRIMARY KEY ("account_id", "id"),
  -- A task of rules has the line after which the account is still to be decided.
  CONSTRAINT "reconciliation_task_kind" CHECK (
    "kind" IN ('line', 'rules') AND "nsu" IS NOT NULL AND "expected_payment_id" IS NULL
    OR "kind" = 'payment' AND "nsu" IS NULL AND "expected_payment_id" IS NOT NULL
  )
);
CREATE INDEX "reconciliation_task_account_id_due_at_idx"
  ON "reconciliation_task" ("account_id", "due_at");

INSERT INTO "reconciliation_task" (account_id, kind, nsu)
SELECT account_id, 'line', nsu FROM "deferred_line";
INSERT INTO "reconciliation_task" (account_id, kind, nsu)
SELECT account_id, 'rules', 0 FROM "reconciliation_state";

-- Lines are found by every id that an expected payment may share with them.
CREATE INDEX "statement_line_idempotency_key"
  ON "statement_line" ("account_id", "idempotency_key") WHERE (idempotency_key IS NOT NULL);
CREATE INDEX "statement_line_bill_code"
  ON "statement_line" ("account_id", "bill_code") WHERE (bill_code IS NOT NULL);

-- Replaced by tasks.
ALTER TABLE "reconciliation_state"
  DROP COLUMN "looked_nsu", DROP COLUMN "charges_reviewed_at", DROP COLUMN "rules_changed_at",
  DROP COLUMN "rules_reviewed_at", DROP COLUMN "rules_looked_at";

-- The breaks of an expected payment are read with its facts.
CREATE INDEX "break_expected_payment"
  ON "break" ("account_id", "expected_payment_id") WHERE (expected_payment_id IS NOT NULL);
