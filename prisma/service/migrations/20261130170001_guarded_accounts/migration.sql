-- Accounts whose statement is read every few seconds.
ALTER TABLE "payment_control" ADD COLUMN "guard_interval_seconds" INTEGER;
ALTER TYPE "alert_condition_kind" ADD VALUE 'not_guarded';
