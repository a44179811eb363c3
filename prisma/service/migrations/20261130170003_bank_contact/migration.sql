-- Whom at the bank to call when somebody else sends money from the account.
ALTER TABLE "payment_control" ADD COLUMN "bank_contact" TEXT;
