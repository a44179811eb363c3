-- What a bill allows to be paid: another amount within it is no alarm.
ALTER TABLE "bill_payment" ADD COLUMN "minimum_cents" BIGINT, ADD COLUMN "maximum_cents" BIGINT;
