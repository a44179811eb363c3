-- The keys that sign certificates, and the signature of each certificate.
CREATE TABLE "signing_key" (
  "ordinal" INTEGER NOT NULL,
  "id" TEXT NOT NULL,
  "public_key" TEXT NOT NULL,
  "endorsement" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "signing_key_pkey" PRIMARY KEY ("ordinal"),
  CONSTRAINT "signing_key_id_key" UNIQUE ("id"),
  CONSTRAINT "signing_key_ordinal" CHECK ("ordinal" > 0),
  CONSTRAINT "signing_key_endorsement" CHECK (("endorsement" IS NULL) = ("ordinal" = 1))
);
CREATE TRIGGER "signing_key_is_append_only" BEFORE UPDATE OR DELETE
  ON "signing_key" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

ALTER TABLE "day_close" ADD COLUMN "signature" TEXT;
