-- People whom an identity provider names, and sessions that begin past it.
ALTER TABLE "operator" ADD COLUMN "sso_hash" TEXT;
CREATE UNIQUE INDEX "operator_sso_hash_key" ON "operator" ("sso_hash");
ALTER TABLE "operator_session"
  ADD COLUMN "ends_at" TIMESTAMPTZ(3),
  ADD COLUMN "is_break_glass" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "operator_session_break_glass" ON "operator_session" ("created_at")
  WHERE (is_break_glass);
ALTER TYPE "alert_condition_kind" ADD VALUE 'local_sign_in';
