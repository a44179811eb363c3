-- Filters of lists of the console, as people named them.
CREATE TABLE "saved_view" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "operator_id" UUID NOT NULL,
  "list" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "query" TEXT NOT NULL,
  "is_shared" BOOLEAN NOT NULL DEFAULT false,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "saved_view_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "saved_view_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id"),
  CONSTRAINT "saved_view_operator_id_fkey" FOREIGN KEY ("operator_id")
    REFERENCES "operator" ("id")
);
CREATE UNIQUE INDEX "saved_view_account_id_list_operator_id_name_key"
  ON "saved_view" ("account_id", "list", "operator_id", "name");
