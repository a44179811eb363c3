ALTER TABLE "expected_payment" VALIDATE CONSTRAINT "expected_payment_parts";
