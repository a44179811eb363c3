-- Who works on a break, and until when the list of work leaves it out.
CREATE TABLE "break_plan" (
  "account_id" INTEGER NOT NULL,
  "break_id" UUID NOT NULL,
  "assignee_id" UUID,
  "snoozed_until" TEXT,

  CONSTRAINT "break_plan_pkey" PRIMARY KEY ("account_id", "break_id"),
  CONSTRAINT "break_plan_account_id_break_id_fkey" FOREIGN KEY ("account_id", "break_id")
    REFERENCES "break" ("account_id", "id"),
  CONSTRAINT "break_plan_assignee_id_fkey" FOREIGN KEY ("assignee_id") REFERENCES "operator" ("id")
);
CREATE INDEX "break_plan_assignee" ON "break_plan" ("account_id", "assignee_id", "break_id")
  WHERE ("assignee_id" IS NOT NULL);
CREATE INDEX "break_plan_snoozed" ON "break_plan" ("account_id", "snoozed_until", "break_id")
  WHERE ("snoozed_until" IS NOT NULL);

-- A break that has changed is work again: nobody put off what it says now.
CREATE FUNCTION "break_change_ends_snooze"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE break_plan SET snoozed_until = NULL
  WHERE account_id = NEW.account_id AND break_id = NEW.id AND snoozed_until IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER "break_change_ends_snooze" AFTER UPDATE ON "break" FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.amount_cents IS DISTINCT FROM NEW.amount_cents
    OR OLD.evidence IS DISTINCT FROM NEW.evidence)
  EXECUTE FUNCTION "break_change_ends_snooze"();
