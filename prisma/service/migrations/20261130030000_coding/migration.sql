-- The project of an expected payment, and the reason codes of decisions.
ALTER TABLE "expected_payment" ADD COLUMN "project" TEXT;

CREATE TABLE "reason_code" (
  "account_id" INTEGER NOT NULL,
  "code" TEXT NOT NULL,
  "version" INTEGER NOT NULL,
  "name" TEXT NOT NULL,
  "category" TEXT,
  "cost_centre" TEXT,
  "project" TEXT,
  "is_active" BOOLEAN NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "reason_code_pkey" PRIMARY KEY ("account_id", "code", "version"),
  CONSTRAINT "reason_code_version" CHECK ("version" > 0),
  CONSTRAINT "reason_code_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "reason_code_is_append_only" BEFORE UPDATE OR DELETE
  ON "reason_code" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
