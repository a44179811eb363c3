-- Where heads of chains were put outside the database: in a file, or before a timestamp authority.
CREATE TABLE "head_anchor" (
  "account_id" INTEGER NOT NULL,
  "kind" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL,
  "response" BYTEA,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "head_anchor_pkey" PRIMARY KEY ("account_id", "kind", "sequence"),
  CONSTRAINT "head_anchor_kind" CHECK ("kind" IN ('file', 'timestamp')),
  CONSTRAINT "head_anchor_response" CHECK (("kind" = 'timestamp') = ("response" IS NOT NULL)),
  CONSTRAINT "head_anchor_account_id_sequence_fkey" FOREIGN KEY ("account_id", "sequence")
    REFERENCES "day_close" ("account_id", "sequence")
);
CREATE TRIGGER "head_anchor_is_append_only" BEFORE UPDATE OR DELETE
  ON "head_anchor" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "head_anchor_is_not_truncated" BEFORE TRUNCATE ON "head_anchor"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();
