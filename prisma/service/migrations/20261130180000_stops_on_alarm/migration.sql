-- An alarm may stop the account, where people chose so.
ALTER TABLE "payment_control" ADD COLUMN "stops_on_alarm" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "account_mode_change" ADD COLUMN "alarm_nsu" BIGINT;
