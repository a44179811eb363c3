-- Charts of accounts, the mapping of money to their codes, and the entries of closed months.
CREATE TYPE "chart_account_kind" AS ENUM ('asset', 'liability', 'equity', 'revenue', 'expense');
CREATE TYPE "journal_per" AS ENUM ('line', 'day');

CREATE TABLE "chart_of_accounts" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "chart_of_accounts_pkey" PRIMARY KEY ("account_id", "version"),
  CONSTRAINT "chart_of_accounts_version" CHECK ("version" > 0),
  CONSTRAINT "chart_of_accounts_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "chart_of_accounts_is_append_only" BEFORE UPDATE OR DELETE
  ON "chart_of_accounts" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "chart_account" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "code" TEXT NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "name" TEXT NOT NULL,
  "kind" "chart_account_kind" NOT NULL,
  "is_postable" BOOLEAN NOT NULL,

  CONSTRAINT "chart_account_pkey" PRIMARY KEY ("account_id", "version", "code"),
  CONSTRAINT "chart_account_account_id_version_fkey" FOREIGN KEY ("account_id", "version")
    REFERENCES "chart_of_accounts" ("account_id", "version")
);
CREATE TRIGGER "chart_account_is_append_only" BEFORE UPDATE OR DELETE
  ON "chart_account" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "journal_mapping" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "chart_version" INTEGER NOT NULL,
  "bank_code" TEXT NOT NULL,
  "per" "journal_per" NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "journal_mapping_pkey" PRIMARY KEY ("account_id", "version"),
  CONSTRAINT "journal_mapping_version" CHECK ("version" > 0),
  CONSTRAINT "journal_mapping_bank_code_fkey"
    FOREIGN KEY ("account_id", "chart_version", "bank_code")
    REFERENCES "chart_account" ("account_id", "version", "code")
);
CREATE TRIGGER "journal_mapping_is_append_only" BEFORE UPDATE OR DELETE
  ON "journal_mapping" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "journal_mapping_entry" (
  "account_id" INTEGER NOT NULL,
  "version" INTEGER NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "is_credit" BOOLEAN,
  "line_kind" TEXT,
  "classification" TEXT,
  "category" TEXT,
  "contra_code" TEXT NOT NULL,

  CONSTRAINT "journal_mapping_entry_pkey" PRIMARY KEY ("account_id", "version", "ordinal"),
  CONSTRAINT "journal_mapping_entry_account_id_version_fkey" FOREIGN KEY ("account_id", "version")
    REFERENCES "journal_mapping" ("account_id", "version")
);
CREATE TRIGGER "journal_mapping_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "journal_mapping_entry" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TABLE "journal" (
  "account_id" INTEGER NOT NULL,
  "month" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "chart_version" INTEGER NOT NULL,
  "mapping_version" INTEGER NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "journal_pkey" PRIMARY KEY ("account_id", "month", "revision"),
  CONSTRAINT "journal_chart" UNIQUE ("account_id", "month", "revision", "chart_version"),
  CONSTRAINT "journal_month" CHECK ("month" ~ '^\d{4}-\d{2}$' AND "revision" > 0),
  CONSTRAINT "journal_account_id_chart_version_fkey" FOREIGN KEY ("account_id", "chart_version")
    REFERENCES "chart_of_accounts" ("account_id", "version"),
  CONSTRAINT "journal_account_id_mapping_version_fkey"
    FOREIGN KEY ("account_id", "mapping_version")
    REFERENCES "journal_mapping" ("account_id", "version")
);
CREATE TRIGGER "journal_is_append_only" BEFORE UPDATE OR DELETE
  ON "journal" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- A row is one amount with both of its sides: no set of rows is out of balance.
CREATE TABLE "journal_posting" (
  "account_id" INTEGER NOT NULL,
  "month" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "chart_version" INTEGER NOT NULL,
  "occurred_at" TIMESTAMPTZ(3) NOT NULL,
  "nsu" BIGINT NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "is_credit" BOOLEAN NOT NULL,
  "debit_code" TEXT NOT NULL,
  "credit_code" TEXT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "line_kind" TEXT NOT NULL,
  "classification" TEXT NOT NULL,
  "category" TEXT,
  "cost_centre" TEXT,
  "project" TEXT,

  CONSTRAINT "journal_posting_pkey"
    PRIMARY KEY ("account_id", "month", "revision", "occurred_at", "nsu", "ordinal"),
  CONSTRAINT "journal_posting_amount" CHECK ("amount_cents" > 0),
  CONSTRAINT "journal_posting_codes" CHECK ("debit_code" <> "credit_code"),
  CONSTRAINT "journal_posting_journal_fkey"
    FOREIGN KEY ("account_id", "month", "revision", "chart_version")
    REFERENCES "journal" ("account_id", "month", "revision", "chart_version"),
  CONSTRAINT "journal_posting_debit_code_fkey"
    FOREIGN KEY ("account_id", "chart_version", "debit_code")
    REFERENCES "chart_account" ("account_id", "version", "code"),
  CONSTRAINT "journal_posting_credit_code_fkey"
    FOREIGN KEY ("account_id", "chart_version", "credit_code")
    REFERENCES "chart_account" ("account_id", "version", "code"),
  CONSTRAINT "journal_posting_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "journal_posting_nsu" ON "journal_posting" ("account_id", "nsu");
CREATE TRIGGER "journal_posting_is_append_only" BEFORE UPDATE OR DELETE
  ON "journal_posting" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
