-- Alerts that nobody acknowledges go on to other channels.
ALTER TABLE "alert_rule" ADD COLUMN "escalate_after_minutes" INTEGER;
ALTER TABLE "alert_rule_channel" ADD COLUMN "is_escalation" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "alert" ADD COLUMN "escalated_at" TIMESTAMPTZ(3);
ALTER TYPE "alert_message_kind" ADD VALUE 'escalated';
