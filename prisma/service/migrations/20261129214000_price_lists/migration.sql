-- What the bank may charge: versions of an account's price list, each valid from a day on.
CREATE TYPE "tariff_kind" AS ENUM (
  'pix_received', 'slip_received', 'pix_sent', 'transfer_sent', 'bill_paid', 'pix_refund', 'package'
);
CREATE TYPE "tariff_period" AS ENUM ('each', 'day', 'month');
CREATE TYPE "tariff_charged" AS ENUM ('same_period', 'next_period');

CREATE TABLE "price_list" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "valid_from" TEXT NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "price_list_pkey" PRIMARY KEY ("account_id", "version"),
  CONSTRAINT "price_list_version" CHECK ("version" > 0),
  CONSTRAINT "price_list_valid_from" CHECK ("valid_from" ~ '^\d{4}-\d{2}-\d{2}$'),
  CONSTRAINT "price_list_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "price_list_is_append_only" BEFORE UPDATE OR DELETE
  ON "price_list" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "tariff" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "kind" "tariff_kind" NOT NULL,
  "period" "tariff_period" NOT NULL,
  "charged" "tariff_charged" NOT NULL,
  "price_cents" BIGINT NOT NULL,
  "free_items" INTEGER NOT NULL,
  "tier_from" INTEGER[],
  "tier_cents" BIGINT[],
  "text" TEXT,

  CONSTRAINT "tariff_pkey" PRIMARY KEY ("account_id", "version", "kind"),
  CONSTRAINT "tariff_prices" CHECK (
    "price_cents" >= 0 AND "free_items" >= 0
    AND cardinality("tier_from") = cardinality("tier_cents")
    AND 1 < ALL ("tier_from") AND 0 <= ALL ("tier_cents")
  ),
  -- A package is one price a month, whatever happened in it.
  CONSTRAINT "tariff_package" CHECK (
    "kind" <> 'package'
    OR "period" = 'month' AND "free_items" = 0 AND cardinality("tier_from") = 0
  ),
  CONSTRAINT "tariff_account_id_version_fkey" FOREIGN KEY ("account_id", "version")
    REFERENCES "price_list" ("account_id", "version")
);
CREATE TRIGGER "tariff_is_append_only" BEFORE UPDATE OR DELETE
  ON "tariff" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

ALTER TYPE "reconciliation_task_kind" ADD VALUE 'fees';
-- A task of fees has the line from whose month on they are checked.
ALTER TABLE "reconciliation_task" DROP CONSTRAINT "reconciliation_task_kind",
  ADD CONSTRAINT "reconciliation_task_kind" CHECK (
    ("kind" IN ('payment', 'operation', 'statement')) = ("nsu" IS NULL)
    AND ("kind" = 'payment') = ("expected_payment_id" IS NOT NULL)
    AND ("kind" = 'operation') = ("operation_id" IS NOT NULL)
  ) NOT VALID;
