-- The columns of foreign tables, as an account maps them, and files between two pages of a person.
CREATE TYPE "bulk_mapping_target" AS ENUM ('transfers', 'payables', 'receivables', 'charges');

CREATE TABLE "bulk_mapping" (
  "account_id" INTEGER NOT NULL,
  "headers_hash" TEXT NOT NULL,
  "target" "bulk_mapping_target" NOT NULL,
  "fields" TEXT[] NOT NULL,
  "actor" TEXT NOT NULL,
  "mapped_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "bulk_mapping_pkey" PRIMARY KEY ("account_id", "headers_hash"),
  CONSTRAINT "bulk_mapping_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE TABLE "bulk_file_part" (
  "account_id" INTEGER NOT NULL,
  "file_id" UUID NOT NULL,
  "part" INTEGER NOT NULL,
  "actor" TEXT NOT NULL,
  "bytes" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "bulk_file_part_pkey" PRIMARY KEY ("account_id", "file_id", "part"),
  CONSTRAINT "bulk_file_part_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE INDEX "bulk_file_part_first" ON "bulk_file_part" ("created_at") WHERE "part" = 0;
