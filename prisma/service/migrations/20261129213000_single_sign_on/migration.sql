-- People whom an identity provider names, and sessions that begin past it.
ALTER TABLE "operator" ADD COLUMN "sso_hash" TEXT;
ALTER TABLE "operator_session"
  ADD COLUMN "ends_at" TIMESTAMPTZ(3),
  ADD COLUMN "is_break_glass" BOOLEAN NOT NULL DEFAULT false;
ALTER TYPE "alert_condition_kind" ADD VALUE 'local_sign_in';
