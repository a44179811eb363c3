-- AlterTable
ALTER TABLE "day_close_state" ADD COLUMN     "amend_from" TEXT,
ADD COLUMN     "seen_arrival" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "line_erasure" (
    "account_id" INTEGER NOT NULL,
    "nsu" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "erased_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "line_erasure_pkey" PRIMARY KEY ("account_id","nsu")
);



-- What Prisma does not know.
CREATE TRIGGER "line_erasure_is_only_added_to" BEFORE UPDATE OR DELETE ON "line_erasure" FOR EACH ROW
  EXECUTE FUNCTION "is_only_added_to"();

-- A line is written once; what is personal in it may be erased, all at once, where it is written down why.
CREATE OR REPLACE FUNCTION "transaction_is_written_once"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  personal CONSTANT text[] := ARRAY['content', 'content_hash', 'notes', 'counterparty', 'counterparty_document'];
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.content = '' AND NEW.content_hash = '' AND NEW.notes IS NULL
    AND NEW.counterparty IS NULL AND NEW.counterparty_document IS NULL
    AND to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
    AND EXISTS (SELECT 1 FROM "line_erasure" e WHERE e.account_id = OLD.account_id AND e.nsu = OLD.nsu)
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'line % of account % is written once', OLD.nsu, OLD.account_id USING ERRCODE = 'check_violation';
END $$;
