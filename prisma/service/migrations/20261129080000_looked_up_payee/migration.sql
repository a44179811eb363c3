-- Whom the look-up of a Pix key names, so that an approver sees whom a transfer by key pays.
ALTER TABLE "pix_lookup" ADD COLUMN "payee" text;
