ALTER TABLE "expected_payment" ADD COLUMN "parts" JSONB NOT NULL DEFAULT '[]',
  ADD CONSTRAINT "expected_payment_parts" CHECK (jsonb_typeof("parts") = 'array'
    AND ("parts" = '[]' OR ("kind" = 'declared' AND "amount_cents" IS NOT NULL))) NOT VALID;
