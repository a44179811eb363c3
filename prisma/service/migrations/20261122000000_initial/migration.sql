-- The schema of the service's database, table by table in the order of the modules.
-- Prisma's schema (prisma/service/*.prisma) has the columns, keys and indexes. Check constraints,
-- functions and triggers are only here. They apply to every program that writes to the database.

-- For append-only tables: no program can change or delete a row.
CREATE FUNCTION "is_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;

-- A foreign key looks up and locks each row on its own, and writes each lock to the log. Where many
-- rows are written at once, a trigger checks them together, and the key only shows how the tables
-- are connected. Before PostgreSQL 18 it is checked as well.
CREATE FUNCTION "trigger_checks"("name" text, "of_table" regclass) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('server_version_num')::int >= 180000 THEN
    EXECUTE format('ALTER TABLE %s ALTER CONSTRAINT %I NOT ENFORCED', of_table, name);
  END IF;
END $$;

-- For what a trigger checks in place of a foreign key: a row that others name stays, and one that
-- names others goes on to name the same.
CREATE FUNCTION "stays_connected"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    RAISE EXCEPTION 'a row of % is not deleted', TG_TABLE_NAME USING ERRCODE = 'check_violation';
  END IF;
  RAISE EXCEPTION 'a row of % keeps its key', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;

-- For a statement that is sent together with COMMIT. It fails where its condition is not met, and
-- the transaction is rolled back.
CREATE FUNCTION "refuse_unless"("is_met" boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF is_met THEN RETURN true; END IF;
  RAISE EXCEPTION 'the statement is refused' USING ERRCODE = 'check_violation';
END $$;

-- Secrets

-- Random secrets of the service itself, encrypted with a key of CREDENTIALS_KEY.
CREATE TABLE "service_secret" (
  "name" TEXT NOT NULL,
  "value" TEXT NOT NULL,

  CONSTRAINT "service_secret_pkey" PRIMARY KEY ("name")
);

-- Accounts

-- What is sent to the bank for an account. Whatever the mode, everything is read and explained.
CREATE TYPE "account_mode" AS ENUM ('live', 'stopped', 'reconcile_only');

-- An account at the bank, with its credentials.
CREATE TABLE "bank_account" (
  "id" SERIAL NOT NULL,
  "slug" TEXT NOT NULL,
  -- Null until the first page of the statement shows the bank's clock.
  "go_live_at" TIMESTAMPTZ(3),
  "name" TEXT,
  "origin" TEXT NOT NULL DEFAULT 'settings',
  "mode" "account_mode" NOT NULL DEFAULT 'live',
  "registers_webhooks" BOOLEAN NOT NULL DEFAULT true,
  "weight" INTEGER NOT NULL DEFAULT 1,
  "credentials" TEXT,
  "bank_details" JSONB,
  "bank_identity" TEXT,
  "installation" UUID NOT NULL DEFAULT gen_random_uuid(),
  "webhook_addresses" TEXT[] NOT NULL DEFAULT '{}',
  "lists_registrations" BOOLEAN,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "bank_account_pkey" PRIMARY KEY ("id"),
  -- A turn lasts 1/weight: 0 would be endless, and a large weight would delay all other accounts.
  CONSTRAINT "bank_account_weight" CHECK ("weight" BETWEEN 1 AND 100)
);
CREATE UNIQUE INDEX "bank_account_slug_key" ON "bank_account" ("slug");
-- Two bank accounts of the service are never the same account at the bank.
CREATE UNIQUE INDEX "bank_account_bank_identity_key" ON "bank_account" ("bank_identity");

-- Who changed the mode of an account, when and why.
CREATE TABLE "account_mode_change" (
  "account_id" INTEGER NOT NULL,
  "sequence" INTEGER NOT NULL,
  "mode" "account_mode" NOT NULL,
  "former_mode" "account_mode" NOT NULL,
  "registers_webhooks" BOOLEAN NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "bank_time" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "account_mode_change_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "account_mode_change_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "account_mode_change_is_append_only" BEFORE UPDATE OR DELETE
  ON "account_mode_change" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "account_mode_change_is_not_truncated" BEFORE TRUNCATE ON "account_mode_change"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- The database was set back to an earlier time: until each account is released, and for a while
-- after it, debits that no operation explains may be operations that the database does not have.
CREATE TABLE "account_restore" (
  "account_id" INTEGER NOT NULL,
  "restored_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "lost_from" TIMESTAMPTZ(3) NOT NULL,
  "former_mode" "account_mode" NOT NULL,

  CONSTRAINT "account_restore_pkey" PRIMARY KEY ("account_id", "restored_at"),
  CONSTRAINT "account_restore_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "account_restore_is_append_only" BEFORE UPDATE OR DELETE
  ON "account_restore" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "account_restore_is_not_truncated" BEFORE TRUNCATE ON "account_restore"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- A key of a business system, and its scopes. Only a keyed hash of the key is stored.
CREATE TABLE "api_key" (
  "id" UUID NOT NULL,
  "account_id" INTEGER NOT NULL,
  "kind" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "origin" TEXT NOT NULL,
  "name" TEXT,
  "scopes" TEXT[],
  "hint" TEXT,
  "holder" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "expires_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),

  CONSTRAINT "api_key_pkey" PRIMARY KEY ("id"),
  -- An unknown scope would grant nothing, so it can only be an error.
  CONSTRAINT "api_key_scopes" CHECK (
    "scopes" <@ ARRAY['read', 'charge', 'transfer', 'pay', 'refund', 'onboard', 'reconcile',
                      'webhooks', 'expect', 'personal-data', 'approve', 'alerts']
  ),
  CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key" ("hash");
CREATE INDEX "api_key_account_id_idx" ON "api_key" ("account_id");

-- Operators

-- What a person may do, each with what the earlier ones may.
CREATE TYPE "role_name" AS ENUM ('viewer', 'analyst', 'approver', 'admin');

-- A person who signs in to the console.
CREATE TABLE "operator" (
  "id" UUID NOT NULL,
  "email" TEXT NOT NULL,
  "email_hash" TEXT NOT NULL,
  "role_everywhere" "role_name",
  "password_hash" TEXT,
  "totp_secret" TEXT,
  "totp_confirmed_at" TIMESTAMPTZ(3),
  "totp_last_step" BIGINT,
  "recovery_hashes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "disabled_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "operator_pkey" PRIMARY KEY ("id"),
  -- A second factor that was confirmed exists, and its codes are counted.
  CONSTRAINT "operator_totp" CHECK (
    "totp_confirmed_at" IS NULL OR ("totp_secret" IS NOT NULL AND "totp_last_step" IS NOT NULL)),
  -- No password is stored that was not hashed.
  CONSTRAINT "operator_password" CHECK ("password_hash" LIKE '$argon2id$%')
);
CREATE UNIQUE INDEX "operator_email_hash_key" ON "operator" ("email_hash");

CREATE TABLE "operator_role" (
  "account_id" INTEGER NOT NULL,
  "operator_id" UUID NOT NULL,
  "role" "role_name" NOT NULL,

  CONSTRAINT "operator_role_pkey" PRIMARY KEY ("account_id", "operator_id"),
  CONSTRAINT "operator_role_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id"),
  CONSTRAINT "operator_role_operator_id_fkey" FOREIGN KEY ("operator_id")
    REFERENCES "operator" ("id")
);
CREATE INDEX "operator_role_operator_id_idx" ON "operator_role" ("operator_id");

-- A session of the console. Only the keyed hash of its token is stored.
CREATE TABLE "operator_session" (
  "id" UUID NOT NULL,
  "operator_id" UUID NOT NULL,
  "token_hash" TEXT NOT NULL,
  "is_complete" BOOLEAN NOT NULL DEFAULT false,
  "wrong_codes" INTEGER NOT NULL DEFAULT 0,
  "code_at" TIMESTAMPTZ(3),
  "user_agent" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "last_used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "ended_at" TIMESTAMPTZ(3),

  CONSTRAINT "operator_session_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "operator_session_operator_id_fkey" FOREIGN KEY ("operator_id")
    REFERENCES "operator" ("id")
);
CREATE UNIQUE INDEX "operator_session_token_hash_key" ON "operator_session" ("token_hash");
CREATE INDEX "operator_session_operator_id_idx" ON "operator_session" ("operator_id");

-- A link by which a person sets a password and an authenticator, once.
CREATE TABLE "operator_link" (
  "token_hash" TEXT NOT NULL,
  "operator_id" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "used_at" TIMESTAMPTZ(3),

  CONSTRAINT "operator_link_pkey" PRIMARY KEY ("token_hash"),
  CONSTRAINT "operator_link_operator_id_fkey" FOREIGN KEY ("operator_id")
    REFERENCES "operator" ("id")
);
CREATE INDEX "operator_link_operator_id_idx" ON "operator_link" ("operator_id");

-- Addresses from which a person has signed in, the latest ones only.
CREATE TABLE "operator_address" (
  "subject" TEXT NOT NULL,
  "operator_id" UUID NOT NULL,
  "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "operator_address_pkey" PRIMARY KEY ("subject"),
  CONSTRAINT "operator_address_operator_id_fkey" FOREIGN KEY ("operator_id")
    REFERENCES "operator" ("id")
);
CREATE INDEX "operator_address_operator_id_idx" ON "operator_address" ("operator_id");

-- The attempts to sign in that were made lately. Not logged: after a crash of PostgreSQL it is
-- empty, so that all attempts are left.
CREATE UNLOGGED TABLE "sign_in_limit" (
  "subject" TEXT NOT NULL,
  "full_at" TIMESTAMPTZ(6) NOT NULL,

  CONSTRAINT "sign_in_limit_pkey" PRIMARY KEY ("subject")
);

-- What a person did, with what they saw and their reason.
CREATE TABLE "audit_entry" (
  "id" UUID NOT NULL,
  "account_id" INTEGER,
  "operator_id" UUID,
  "action" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "reason" TEXT,
  "shown" TEXT,
  "trace_id" TEXT,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "audit_entry_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id"),
  CONSTRAINT "audit_entry_operator_id_fkey" FOREIGN KEY ("operator_id")
    REFERENCES "operator" ("id")
);
CREATE INDEX "audit_entry_account_id_id_idx" ON "audit_entry" ("account_id", "id");
CREATE TRIGGER "audit_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "audit_entry" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "audit_entry_is_not_truncated" BEFORE TRUNCATE ON "audit_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- Leases

CREATE TYPE "lease_name" AS ENUM (
  'sync_statement', 'close_statement', 'issue_bulk_rows', 'run_reconciliation', 'close_days'
);

-- Work on an account that one process does at a time.
CREATE TABLE "lease" (
  "account_id" INTEGER NOT NULL,
  "name" "lease_name" NOT NULL,
  "token" UUID NOT NULL,
  "leased_until" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "lease_pkey" PRIMARY KEY ("account_id", "name"),
  CONSTRAINT "lease_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
-- As a column of a unique key, the token changes only under a lock that conflicts with
-- FOR KEY SHARE. A renewal changes leased_until and does not wait for such a lock.
CREATE UNIQUE INDEX "lease_account_id_token_key" ON "lease" ("account_id", "token");

-- Rate limits

-- The token bucket of a rate limit, which all processes share. A bucket without a row is full. Not
-- logged: a grant of tokens is not worth a write to disk, and after a crash every bucket is full.
CREATE UNLOGGED TABLE "rate_limit" (
  "subject" TEXT NOT NULL,
  "tokens" DOUBLE PRECISION NOT NULL,
  "granted" INTEGER NOT NULL,
  "filled_at" TIMESTAMPTZ(6) NOT NULL,

  CONSTRAINT "rate_limit_pkey" PRIMARY KEY ("subject")
);

-- Operations

CREATE TYPE "operation_state" AS ENUM (
  'received', 'sending', 'succeeded', 'rejected', 'unknown', 'not_executed', 'needs_operator',
  'awaiting_approval', 'declined', 'expired'
);
CREATE TYPE "operation_source" AS ENUM ('api', 'bulk', 'policy', 'break', 'console');

-- An outbound request to the bank. It is committed before the first byte is sent.
CREATE TABLE "operation" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "kind" TEXT NOT NULL,
  "state" "operation_state" NOT NULL,
  "idempotency_key" TEXT,
  "request_hash" TEXT NOT NULL,
  "request_params" TEXT NOT NULL,
  "request_query" TEXT NOT NULL DEFAULT '{}',
  "request_body" TEXT,
  "counterparty" TEXT,
  "amount_cents" BIGINT,
  "is_distinguishable" BOOLEAN NOT NULL DEFAULT false,
  "external_id_hash" TEXT,
  "is_detached" BOOLEAN NOT NULL DEFAULT false,
  "bank_reference" TEXT,
  "effective_from" TIMESTAMPTZ(3),
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_action_at" TIMESTAMPTZ(3),
  "response_status" INTEGER,
  "response_body" TEXT,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "ended_at" TIMESTAMPTZ(3),
  "bodies_deleted_at" TIMESTAMPTZ(3),
  "approved_at" TIMESTAMPTZ(3),
  "source" "operation_source" NOT NULL DEFAULT 'api',
  "requested_by" TEXT,

  CONSTRAINT "operation_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "operation_amount" CHECK ("amount_cents" > 0),
  -- The sweeper finds unfinished operations by next_action_at: an unfinished operation without this
  -- time would never finish.
  CONSTRAINT "operation_unfinished_has_next_action" CHECK (
    ("state" IN ('received', 'sending', 'unknown', 'awaiting_approval'))
      = ("next_action_at" IS NOT NULL)
  ),
  -- ended_at is set exactly while the state is final. Time limits are counted from ended_at.
  CONSTRAINT "operation_final_has_end" CHECK (
    ("state" IN ('succeeded', 'rejected', 'not_executed', 'needs_operator', 'declined', 'expired'))
      = ("ended_at" IS NOT NULL)
  ),
  -- The bank knows an operation with a bank_reference. So the operation cannot be proven not
  -- executed.
  CONSTRAINT "operation_known_to_bank_is_executed" CHECK (
    "state" <> 'not_executed' OR "bank_reference" IS NULL
  ),
  -- Without its request an operation cannot be sent again.
  CONSTRAINT "operation_without_request_is_not_sent" CHECK (
    "bodies_deleted_at" IS NULL
      OR ("state" <> 'received' AND "state" <> 'sending' AND "state" <> 'awaiting_approval')
  ),
  CONSTRAINT "operation_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE INDEX "operation_idempotency_key"
  ON "operation" ("account_id", "idempotency_key") WHERE (idempotency_key IS NOT NULL);
-- Possible duplicates are those to one account number that are unfinished or have ended recently.
CREATE INDEX "operation_counterparty"
  ON "operation" ("account_id", "kind", "amount_cents",
    COALESCE(NULLIF(split_part("counterparty", '/', 3), ''), "counterparty"), "ended_at")
  WHERE (counterparty IS NOT NULL);
CREATE INDEX "operation_scheduled"
  ON "operation" ("account_id", "effective_from") WHERE (effective_from IS NOT NULL);
CREATE INDEX "operation_due" ON "operation" ("next_action_at") WHERE (next_action_at IS NOT NULL);
CREATE INDEX "operation_needs_operator"
  ON "operation" ("account_id", "amount_cents") WHERE (state = 'needs_operator');
CREATE INDEX "operation_unfinished" ON "operation" ("account_id", "state")
  WHERE (state = 'received' OR state = 'sending' OR state = 'unknown' OR state = 'needs_operator'
    OR state = 'awaiting_approval');
-- What awaits approval is listed by the time at which it expires.
CREATE INDEX "operation_awaiting_approval"
  ON "operation" ("account_id", "next_action_at", "id") WHERE (state = 'awaiting_approval');
CREATE INDEX "operation_revocable"
  ON "operation" ("account_id") WHERE (state = 'not_executed' OR state = 'needs_operator');
CREATE INDEX "operation_without_response"
  ON "operation" ("account_id")
  WHERE (state <> 'rejected' AND state <> 'awaiting_approval' AND state <> 'declined'
    AND state <> 'expired' AND (state <> 'succeeded' OR response_status IS NULL));
CREATE INDEX "operation_ended"
  ON "operation" ("account_id", "ended_at") WHERE (ended_at IS NOT NULL);
CREATE INDEX "operation_charge_change"
  ON "operation" ("account_id", "request_params", "id")
  WHERE (kind = 'void_charge' OR kind = 'change_charge_due_date');
CREATE INDEX "operation_with_bodies"
  ON "operation" ("ended_at")
  WHERE (bodies_deleted_at IS NULL AND ended_at IS NOT NULL AND state <> 'needs_operator');

-- A repeat must send the same request with the same key. So the key and the request never change
-- after the operation is committed, nor do the fields that identify possible duplicates. Only the
-- body of an operation that has ended is deleted when it is old.
CREATE FUNCTION "operation_request_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the key and the request of operation % are fixed', OLD.id
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "operation_request_is_fixed" BEFORE UPDATE ON "operation" FOR EACH ROW
  WHEN (OLD.id <> NEW.id
     OR OLD.kind <> NEW.kind
     OR OLD.idempotency_key IS DISTINCT FROM NEW.idempotency_key
     OR (OLD.request_body IS DISTINCT FROM NEW.request_body AND (
       NEW.request_body IS NOT NULL OR OLD.bodies_deleted_at IS NOT NULL
       OR NEW.bodies_deleted_at IS NULL OR OLD.ended_at IS NULL OR OLD.state = 'needs_operator'))
     OR OLD.request_params IS DISTINCT FROM NEW.request_params
     OR OLD.request_query IS DISTINCT FROM NEW.request_query
     OR OLD.request_hash IS DISTINCT FROM NEW.request_hash
     OR OLD.counterparty IS DISTINCT FROM NEW.counterparty
     OR OLD.amount_cents IS DISTINCT FROM NEW.amount_cents
     OR OLD.source IS DISTINCT FROM NEW.source
     OR OLD.requested_by IS DISTINCT FROM NEW.requested_by)
  EXECUTE FUNCTION "operation_request_is_fixed"();

CREATE TYPE "approval_condition" AS ENUM ('amount', 'new_beneficiary');
CREATE TYPE "approval_decision" AS ENUM ('approve', 'decline');

-- The approvals that an operation needs, fixed when the operation was stored.
CREATE TABLE "operation_approval_request" (
  "account_id" INTEGER NOT NULL,
  "operation_id" UUID NOT NULL,
  "needed" INTEGER NOT NULL,
  "source" "operation_source" NOT NULL,
  "condition" "approval_condition" NOT NULL,
  "requested_by" TEXT NOT NULL,
  "holder" TEXT NOT NULL,
  "request_hash" TEXT NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "operation_approval_request_pkey" PRIMARY KEY ("account_id", "operation_id"),
  CONSTRAINT "operation_approval_request_needed" CHECK ("needed" IN (1, 2)),
  CONSTRAINT "operation_approval_request_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id") REFERENCES "operation" ("account_id", "id")
);
CREATE TRIGGER "operation_approval_request_is_append_only" BEFORE UPDATE OR DELETE
  ON "operation_approval_request" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- A decision about an operation that awaits approval. A holder decides once, and again only with
-- another key: an approval of a key that was revoked meanwhile does not count.
CREATE TABLE "operation_approval" (
  "account_id" INTEGER NOT NULL,
  "operation_id" UUID NOT NULL,
  "holder" TEXT NOT NULL,
  "decision" "approval_decision" NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "operation_approval_pkey"
    PRIMARY KEY ("account_id", "operation_id", "holder", "actor"),
  CONSTRAINT "operation_approval_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation_approval_request" ("account_id", "operation_id")
);
CREATE TRIGGER "operation_approval_is_append_only" BEFORE UPDATE OR DELETE
  ON "operation_approval" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- Nothing is sent before its approvals, whichever program changes the state. A restored database
-- may have lost an approval and the request that followed it, so the outcome is then unknown.
CREATE FUNCTION "operation_awaits_approval"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state IN ('declined', 'expired')
    OR (NEW.state = 'unknown' AND NEW.reason = 'restored') THEN
    RETURN NEW;
  END IF;
  IF NEW.state = 'received' AND (
    SELECT count(DISTINCT a.holder) >= r.needed
    FROM operation_approval_request r LEFT JOIN operation_approval a
      ON a.account_id = r.account_id AND a.operation_id = r.operation_id
      AND a.decision = 'approve' AND a.holder <> r.holder
    WHERE r.account_id = NEW.account_id AND r.operation_id = NEW.id
    GROUP BY r.needed
  ) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'operation % awaits approval', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "operation_awaits_approval" BEFORE UPDATE ON "operation" FOR EACH ROW
  WHEN (OLD.state = 'awaiting_approval' AND NEW.state <> 'awaiting_approval')
  EXECUTE FUNCTION "operation_awaits_approval"();

-- An approval policy that a key or a person has set or proposed. The last row in force is the
-- policy.
CREATE TABLE "approval_policy_change" (
  "account_id" INTEGER NOT NULL,
  "sequence" INTEGER NOT NULL,
  "above_cents" BIGINT,
  "new_beneficiary" BOOLEAN NOT NULL,
  "kinds" TEXT[],
  "sources" "operation_source"[],
  "approvals" INTEGER NOT NULL,
  "expires_after_hours" INTEGER NOT NULL,
  "is_in_force" BOOLEAN NOT NULL,
  "actor" TEXT NOT NULL,
  "holder" TEXT NOT NULL,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "approval_policy_change_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "approval_policy_change_approvals" CHECK ("approvals" IN (1, 2)),
  CONSTRAINT "approval_policy_change_amount" CHECK ("above_cents" >= 0),
  CONSTRAINT "approval_policy_change_hours" CHECK ("expires_after_hours" > 0),
  CONSTRAINT "approval_policy_change_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "approval_policy_change_is_append_only" BEFORE UPDATE OR DELETE
  ON "approval_policy_change" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- An id that identifies a repeat of an operation: its idempotency key, or a natural id such as a
-- correlationId. The primary key allows one operation for each id.
CREATE TABLE "operation_identity" (
  "account_id" INTEGER NOT NULL,
  "kind" TEXT NOT NULL,
  "identity" TEXT NOT NULL,
  "operation_id" UUID NOT NULL,
  "is_natural" BOOLEAN NOT NULL,
  "is_temporary" BOOLEAN NOT NULL DEFAULT false,

  CONSTRAINT "operation_identity_pkey" PRIMARY KEY ("account_id", "kind", "identity"),
  -- Ids are claimed before their operation is inserted.
  CONSTRAINT "operation_identity_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id") DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX "operation_identity_account_id_operation_id_idx"
  ON "operation_identity" ("account_id", "operation_id");

-- Each attempt to send an operation to the bank. An attempt may not have reached the bank.
CREATE TABLE "operation_attempt" (
  "account_id" INTEGER NOT NULL,
  "operation_id" UUID NOT NULL,
  "number" INTEGER NOT NULL,
  "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "send_by" TIMESTAMPTZ(3) NOT NULL,
  "clock_offset_ms" BIGINT,
  "clock_offset_max_ms" BIGINT,
  "clock_offset_after_ms" BIGINT,
  "clock_offset_after_max_ms" BIGINT,
  "finished_at" TIMESTAMPTZ(3),
  "outcome" TEXT,
  "status" INTEGER,
  "reason" TEXT,

  CONSTRAINT "operation_attempt_pkey" PRIMARY KEY ("account_id", "operation_id", "number"),
  CONSTRAINT "operation_attempt_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);

-- Payment controls

-- Who may be paid from an account, and how much. An account without a row has the defaults.
CREATE TABLE "payment_control" (
  "account_id" INTEGER NOT NULL,
  "checks_payee" BOOLEAN NOT NULL DEFAULT true,
  "has_allow_list" BOOLEAN NOT NULL DEFAULT false,
  "allow_list_includes_bills" BOOLEAN NOT NULL DEFAULT true,
  "cooling_off_hours" INTEGER NOT NULL DEFAULT 24,
  "per_operation_cents" BIGINT,
  "per_hour_cents" BIGINT,
  "per_night_cents" BIGINT,
  "per_day_cents" BIGINT,
  "per_key_day_cents" BIGINT,
  "per_counterparty_day_cents" BIGINT,
  "night_from_hour" INTEGER NOT NULL DEFAULT 20,
  "night_until_hour" INTEGER NOT NULL DEFAULT 6,

  CONSTRAINT "payment_control_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "payment_control_has_a_night" CHECK (
    "night_from_hour" BETWEEN 0 AND 23 AND "night_until_hour" BETWEEN 0 AND 23
      AND "night_from_hour" <> "night_until_hour"
  ),
  -- LEAST ignores limits that are null.
  CONSTRAINT "payment_control_has_no_negative_limit" CHECK (
    LEAST("per_operation_cents", "per_hour_cents", "per_night_cents", "per_day_cents",
      "per_key_day_cents", "per_counterparty_day_cents", "cooling_off_hours") >= 0
  ),
  CONSTRAINT "payment_control_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- A counterparty that may be paid while the allow-list is on.
CREATE TABLE "beneficiary" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "counterparty" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "usable_from" TIMESTAMPTZ(3) NOT NULL,
  "removed_at" TIMESTAMPTZ(3),

  CONSTRAINT "beneficiary_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "beneficiary_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "beneficiary_in_use"
  ON "beneficiary" ("account_id", "counterparty") WHERE (removed_at IS NULL);

-- Who changed controls or beneficiaries, when and why.
CREATE TYPE "payment_control_action" AS ENUM (
  'controls_set', 'beneficiary_added', 'beneficiary_removed'
);
CREATE TABLE "payment_control_change" (
  "account_id" INTEGER NOT NULL,
  "sequence" INTEGER NOT NULL,
  "action" "payment_control_action" NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "details" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "payment_control_change_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "payment_control_change_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "payment_control_change_is_append_only" BEFORE UPDATE OR DELETE
  ON "payment_control_change" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "payment_control_change_is_not_truncated" BEFORE TRUNCATE
  ON "payment_control_change" FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- A payment that counts for the limits: an operation, or one item of a batch.
CREATE TABLE "counted_payment" (
  "account_id" INTEGER NOT NULL,
  "operation_id" UUID NOT NULL,
  "position" INTEGER NOT NULL,
  "actor" TEXT,
  "counterparty" TEXT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "effective_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "counted_payment_pkey" PRIMARY KEY ("account_id", "operation_id", "position"),
  CONSTRAINT "counted_payment_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);
CREATE INDEX "counted_payment_account_id_effective_at_idx"
  ON "counted_payment" ("account_id", "effective_at");

-- Customers

CREATE TYPE "customer_state" AS ENUM ('requested', 'accepted', 'rejected');
CREATE TYPE "reported_customer_status" AS ENUM ('approved', 'refused');

-- A customer whose account was requested. The request itself is in its operation, redacted.
CREATE TABLE "customer" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "document_hash" TEXT NOT NULL,
  "state" "customer_state" NOT NULL,
  "bank_id" TEXT,
  "reported_status" "reported_customer_status",
  "reported_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "customer_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "customer_account_id_id_fkey" FOREIGN KEY ("account_id", "id")
    REFERENCES "operation" ("account_id", "id")
);
CREATE INDEX "customer_account_id_document_hash_idx" ON "customer" ("account_id", "document_hash");
CREATE INDEX "customer_account_id_bank_id_idx" ON "customer" ("account_id", "bank_id");

-- Idempotency records

-- The stored response to a request that has an idempotency key and is not an operation.
CREATE TABLE "idempotency_record" (
  "account_id" INTEGER NOT NULL,
  "route" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "request_hash" TEXT NOT NULL,
  "status" INTEGER,
  "body" TEXT,
  "claim" UUID NOT NULL,
  "leased_until" TIMESTAMPTZ(3) NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("account_id", "route", "key")
);
-- By the id of the key that encrypted the body: each start and the re-encryption look for old keys.
CREATE INDEX "idempotency_record_key_id" ON "idempotency_record" (left("body", 8))
  WHERE "body" IS NOT NULL;

CREATE INDEX "idempotency_record_with_body"
  ON "idempotency_record" ("leased_until") WHERE (body IS NOT NULL);

-- A step of such a request that is done, with its result. It is deleted with its request.
CREATE TABLE "idempotent_step" (
  "account_id" INTEGER NOT NULL,
  "route" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "step" TEXT NOT NULL,
  "result" JSONB NOT NULL,

  CONSTRAINT "idempotent_step_pkey" PRIMARY KEY ("account_id", "route", "key", "step"),
  CONSTRAINT "idempotent_step_account_id_route_key_fkey" FOREIGN KEY ("account_id", "route", "key")
    REFERENCES "idempotency_record" ("account_id", "route", "key") ON DELETE CASCADE
);

-- Statement

-- A statement line as the bank sent it. What it means is recorded in other tables.
CREATE TABLE "statement_line" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "arrival" BIGSERIAL NOT NULL,
  "bank_id" TEXT NOT NULL,
  "is_credit" BOOLEAN NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "type_name" TEXT NOT NULL,
  "correlation_id" TEXT,
  "end_to_end_id" TEXT,
  "external_id" TEXT,
  "original_end_to_end_id" TEXT,
  "movement_id" TEXT,
  "idempotency_key" TEXT,
  "bill_code" TEXT,
  "counterparty" TEXT,
  "counterparty_document" TEXT,
  "counterparty_masked_tax_id" TEXT,
  "counterparty_name" TEXT,
  "counterparty_ispb" TEXT,
  "counterparty_branch" TEXT,
  "counterparty_account" TEXT,
  "message" TEXT,
  "paid_on" TEXT,
  "has_one_holder" BOOLEAN NOT NULL DEFAULT false,
  "notes" TEXT,
  "balance_previous_cents" BIGINT NOT NULL,
  "current_balance_cents" BIGINT NOT NULL,
  "occurred_at" TIMESTAMPTZ(3) NOT NULL,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "content_hash" TEXT NOT NULL,
  "content" TEXT NOT NULL,
  "salt" TEXT DEFAULT replace(gen_random_uuid()::text, '-', ''),

  CONSTRAINT "statement_line_pkey" PRIMARY KEY ("account_id", "nsu"),
  -- The amount has no sign: is_credit is the direction.
  CONSTRAINT "statement_line_amount" CHECK ("amount_cents" >= 0)
);
CREATE UNIQUE INDEX "statement_line_account_id_arrival_key"
  ON "statement_line" ("account_id", "arrival");
CREATE INDEX "statement_line_account_id_correlation_id_nsu_idx"
  ON "statement_line" ("account_id", "correlation_id", "nsu") WHERE (correlation_id IS NOT NULL);
CREATE INDEX "statement_line_account_id_end_to_end_id_idx"
  ON "statement_line" ("account_id", "end_to_end_id") WHERE (end_to_end_id IS NOT NULL);
CREATE INDEX "statement_line_account_id_external_id_idx"
  ON "statement_line" ("account_id", "external_id") WHERE (external_id IS NOT NULL);
CREATE INDEX "statement_line_account_id_original_end_to_end_id_idx"
  ON "statement_line" ("account_id", "original_end_to_end_id")
  WHERE (original_end_to_end_id IS NOT NULL);
CREATE INDEX "statement_line_movement"
  ON "statement_line" ("account_id", "movement_id") WHERE (movement_id IS NOT NULL);
CREATE INDEX "statement_line_idempotency_key"
  ON "statement_line" ("account_id", "idempotency_key") WHERE (idempotency_key IS NOT NULL);
CREATE INDEX "statement_line_bill_code"
  ON "statement_line" ("account_id", "bill_code") WHERE (bill_code IS NOT NULL);
CREATE INDEX "statement_line_account_id_occurred_at_idx"
  ON "statement_line" ("account_id", "occurred_at");
CREATE INDEX "statement_line_paid_on"
  ON "statement_line" ("account_id", "paid_on") WHERE (paid_on IS NOT NULL);
-- The lines of a statement day, which begins at 03:00Z.
CREATE INDEX "statement_line_day" ON "statement_line" ("account_id",
  (("occurred_at" AT TIME ZONE 'UTC' - interval '3 hours')::date), "nsu");
CREATE INDEX "statement_line_debit_counterparty"
  ON "statement_line" ("account_id", "counterparty", "occurred_at")
  WHERE (original_end_to_end_id IS NULL AND is_credit = false);
-- The few debits that may refund a Pix and name none: see src/bank-contract/line-types.ts.
CREATE INDEX "statement_line_unnamed_refund"
  ON "statement_line" ("account_id", "occurred_at")
  WHERE (is_credit = false AND original_end_to_end_id IS NULL
    AND type_name ~* 'REFUND|DEVOL|REVERSAL|RETURN|CHARGEBACK|ESTORNO'
    AND type_name !~* 'BANKSLIP|BOLETO|BILL|FEE|TARIFF|TARIFA|TAXA|TED');
-- The few received Pix that do not show the tax id of their payer.
CREATE INDEX "statement_line_without_payer"
  ON "statement_line" ("account_id", "occurred_at")
  WHERE (is_credit AND counterparty_document IS NULL AND end_to_end_id IS NOT NULL);
CREATE INDEX "statement_line_document"
  ON "statement_line" ("account_id", "counterparty_document", "occurred_at")
  WHERE (counterparty_document IS NOT NULL);
CREATE INDEX "statement_line_of_amount"
  ON "statement_line" ("account_id", "amount_cents", "nsu");
-- People search by how a name begins. Payers write names, and an index holds no long text.
CREATE INDEX "statement_line_name" ON "statement_line" ("account_id",
  (lower("left"("counterparty_name", 100)) COLLATE "C"), "nsu" DESC)
  WHERE (counterparty_name IS NOT NULL);
-- The few credits of transfers between accounts of the holder: they are found from any account.
CREATE INDEX "statement_line_own_end_to_end_id"
  ON "statement_line" ("end_to_end_id") WHERE (has_one_holder AND is_credit);
CREATE INDEX "statement_line_own_movement"
  ON "statement_line" ("movement_id") WHERE (has_one_holder AND is_credit);

-- Records that the personal data of a line was erased, and why. The amounts of the line stay, and
-- so does the commitment to the erased data.
CREATE TABLE "line_erasure" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "reason" TEXT NOT NULL,
  "commitment" TEXT NOT NULL,
  "erased_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "line_erasure_pkey" PRIMARY KEY ("account_id", "nsu"),
  CONSTRAINT "line_erasure_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);

CREATE TRIGGER "line_erasure_is_append_only" BEFORE UPDATE OR DELETE
  ON "line_erasure" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- A statement line is evidence, so it is written once. Its personal data may be erased, but only
-- completely, in one update, and after line_erasure has recorded the reason.
CREATE FUNCTION "statement_line_is_written_once"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  personal CONSTANT text[] :=
    ARRAY['content', 'content_hash', 'salt', 'notes', 'counterparty', 'counterparty_document',
          'counterparty_masked_tax_id', 'counterparty_name', 'counterparty_ispb',
          'counterparty_branch', 'counterparty_account', 'message'];
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.content = '' AND NEW.content_hash = '' AND NEW.salt IS NULL
    AND num_nonnulls(NEW.notes, NEW.counterparty, NEW.counterparty_document,
                     NEW.counterparty_masked_tax_id, NEW.counterparty_name,
                     NEW.counterparty_ispb, NEW.counterparty_branch, NEW.counterparty_account,
                     NEW.message) = 0
    AND to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
    AND EXISTS (
      SELECT 1 FROM "line_erasure" e
      WHERE e.account_id = OLD.account_id AND e.nsu = OLD.nsu
    )
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'line % of account % is written once', OLD.nsu, OLD.account_id
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "statement_line_is_written_once" BEFORE UPDATE OR DELETE ON "statement_line"
  FOR EACH ROW EXECUTE FUNCTION "statement_line_is_written_once"();

CREATE TYPE "page_order" AS ENUM ('desc', 'asc');

-- How far the statement of an account has been read, checked and closed.
CREATE TABLE "statement_state" (
  "account_id" INTEGER NOT NULL,
  "last_nsu" BIGINT,
  "line_count" BIGINT NOT NULL DEFAULT 0,
  "balance_cents" BIGINT,
  "is_anchored" BOOLEAN NOT NULL DEFAULT false,
  "first_gap_nsu" BIGINT,
  "gap_reads" INTEGER NOT NULL DEFAULT 0,
  "gap_full_reads" INTEGER NOT NULL DEFAULT 0,
  "gap_next_read_at" TIMESTAMPTZ(3),
  "gap_nsu" BIGINT,
  "gap_after_nsu" BIGINT,
  "gap_balance_cents" BIGINT,
  "gap_since" TIMESTAMPTZ(3),
  "broken_since" TIMESTAMPTZ(3),
  "live_balance_cents" BIGINT,
  "live_balance_nsu" BIGINT,
  "live_balance_at" TIMESTAMPTZ(3),
  "balance_differs_since" TIMESTAMPTZ(3),
  "balance_differs_nsu" BIGINT,
  "balance_differs_cents" BIGINT,
  "is_balance_off" BOOLEAN NOT NULL DEFAULT false,
  "live_balance_next_at" TIMESTAMPTZ(3),
  "import_started_at" TIMESTAMPTZ(3),
  "sync_interval_ms" INTEGER,
  "page_lines" INTEGER NOT NULL DEFAULT 0,
  "page_order" "page_order",
  "closed_from" TIMESTAMPTZ(3),
  "closed_until" TIMESTAMPTZ(3),
  "closing_failures" INTEGER NOT NULL DEFAULT 0,
  "closing_next_at" TIMESTAMPTZ(3),
  "last_sync_started_at" TIMESTAMPTZ(3),
  "synced_at" TIMESTAMPTZ(3),
  "first_synced_at" TIMESTAMPTZ(3),
  "syncs" BIGINT NOT NULL DEFAULT 0,
  "syncs_at_long_read" BIGINT NOT NULL DEFAULT 0,
  "clock_offset_ms" BIGINT NOT NULL DEFAULT 0,
  "clock_offset_max_ms" BIGINT NOT NULL DEFAULT 0,
  "clock_measured_at" TIMESTAMPTZ(3),
  "first_clock_offset_ms" BIGINT NOT NULL DEFAULT 0,

  CONSTRAINT "statement_state_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "statement_state_closed" CHECK ("closed_from" <= "closed_until"),
  CONSTRAINT "statement_state_sync_interval" CHECK ("sync_interval_ms" > 0),
  CONSTRAINT "statement_state_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE TYPE "unreadable_line_kind" AS ENUM ('unreadable', 'changed');
CREATE TYPE "unreadable_line_resolution" AS ENUM ('read', 'restored', 'erased');

-- A line that could not be read, or that the bank sent again with other content.
CREATE TABLE "unreadable_line" (
  "account_id" INTEGER NOT NULL,
  "content_hash" TEXT NOT NULL,
  "kind" "unreadable_line_kind" NOT NULL,
  "nsu" BIGINT,
  "reason" TEXT NOT NULL,
  "content" TEXT NOT NULL,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "resolved_at" TIMESTAMPTZ(3),
  "resolution" "unreadable_line_resolution",

  CONSTRAINT "unreadable_line_pkey" PRIMARY KEY ("account_id", "content_hash"),
  -- A line has a resolution if and only if it is resolved.
  CONSTRAINT "unreadable_line_resolution" CHECK (
    ("resolved_at" IS NULL) = ("resolution" IS NULL)
  ),
  CONSTRAINT "unreadable_line_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE INDEX "unreadable_line_newest"
  ON "unreadable_line" ("account_id", "recorded_at", "content_hash");
CREATE INDEX "unreadable_line_open"
  ON "unreadable_line" ("account_id", "nsu") WHERE (resolved_at IS NULL);

-- Webhooks from the bank

CREATE TYPE "webhook_event_state" AS ENUM (
  'pending', 'processed', 'quarantined', 'unhandled', 'discarded');

-- A webhook of the bank. A copy with the same bytes is counted, not stored again.
CREATE TABLE "webhook_event" (
  "account_id" INTEGER NOT NULL,
  "event_type" TEXT NOT NULL,
  "body_hash" TEXT NOT NULL,
  "body" BYTEA,
  "state" "webhook_event_state" NOT NULL,
  "copies" INTEGER NOT NULL DEFAULT 1,
  "reference_kind" TEXT,
  "reference" TEXT,
  "request_key" TEXT,
  "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "received_at_bank_time" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "processed_at" TIMESTAMPTZ(3),

  CONSTRAINT "webhook_event_pkey" PRIMARY KEY ("account_id", "event_type", "body_hash"),
  -- The bytes of a webhook are deleted only after it was processed or discarded.
  CONSTRAINT "webhook_event_body" CHECK (
    "body" IS NOT NULL OR "state" = 'processed' OR "state" = 'discarded')
);
CREATE INDEX "webhook_event_unprocessed" ON "webhook_event" ("account_id", "state", "received_at")
  WHERE (state = 'pending' OR state = 'quarantined');
CREATE INDEX "webhook_event_unhandled" ON "webhook_event" ("account_id", "received_at")
  WHERE (state = 'unhandled');
CREATE INDEX "webhook_event_ended" ON "webhook_event" ("account_id", "state", "received_at")
  WHERE (state = 'processed' OR state = 'discarded');
CREATE INDEX "webhook_event_with_body" ON "webhook_event" ("processed_at")
  WHERE ((state = 'processed' OR state = 'discarded') AND body IS NOT NULL);
CREATE INDEX "webhook_event_pix"
  ON "webhook_event" ("account_id", "reference", "received_at")
  WHERE (reference_kind = 'end_to_end_id');
CREATE INDEX "webhook_event_nsu"
  ON "webhook_event" ("account_id", "reference", "received_at") WHERE (reference_kind = 'nsu');
CREATE INDEX "webhook_event_waiting_charge" ON "webhook_event" ("account_id", "reference")
  WHERE (state = 'pending' AND reference_kind = 'correlation_id');
CREATE INDEX "webhook_event_charge"
  ON "webhook_event" ("account_id", "reference", "received_at_bank_time")
  WHERE (reference_kind = 'correlation_id');

-- Ids of a movement that its line lacks and an authenticated webhook about that line has.
CREATE TABLE "reported_reference" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "kind" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "reported_reference_pkey" PRIMARY KEY ("account_id", "nsu", "kind"),
  CONSTRAINT "reported_reference_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "reported_reference_account_id_kind_value_idx"
  ON "reported_reference" ("account_id", "kind", "value");

-- Who paid, or was paid, by a webhook: where the statement did not say it when the webhook was
-- processed. A later webhook with the same reference changes nothing.
CREATE TABLE "webhook_counterparty" (
  "account_id" INTEGER NOT NULL,
  "reference_kind" TEXT NOT NULL,
  "reference" TEXT NOT NULL,
  "is_credit" BOOLEAN NOT NULL,
  "name" TEXT,
  "tax_id" TEXT,
  "ispb" TEXT,
  "branch" TEXT,
  "account_number" TEXT,
  "message" TEXT,

  CONSTRAINT "webhook_counterparty_pkey"
    PRIMARY KEY ("account_id", "reference_kind", "reference", "is_credit"),
  -- A correlationId names no line: a charge may be paid many times.
  CONSTRAINT "webhook_counterparty_reference" CHECK (
    "reference_kind" IN ('nsu', 'end_to_end_id')
  ),
  CONSTRAINT "webhook_counterparty_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE INDEX "webhook_counterparty_name" ON "webhook_counterparty" ("account_id",
  (lower("left"("name", 100)) COLLATE "C")) WHERE (name IS NOT NULL);
CREATE INDEX "webhook_counterparty_tax_id"
  ON "webhook_counterparty" ("account_id", "tax_id") WHERE (tax_id IS NOT NULL);

-- What came of the last registration of the account's webhooks at the bank.
CREATE TABLE "webhook_registration_outcome" (
  "account_id" INTEGER NOT NULL,
  "failure" TEXT,
  "refused_event_types" TEXT[],

  CONSTRAINT "webhook_registration_outcome_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "webhook_registration_outcome_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- How far the lines of an account are compared with the webhooks, by their arrival, and how far the
-- webhooks with the lines, by their receipt.
CREATE TABLE "webhook_health_state" (
  "account_id" INTEGER NOT NULL,
  "compared_arrival" BIGINT NOT NULL DEFAULT 0,
  "compared_receipt" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00 +00:00',

  CONSTRAINT "webhook_health_state_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "webhook_health_state_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- A line that a webhook should report and that none has reported yet.
CREATE TABLE "unnotified_line" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "type_name" TEXT NOT NULL,
  "end_to_end_id" TEXT,
  "correlation_id" TEXT,
  "occurred_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "unnotified_line_pkey" PRIMARY KEY ("account_id", "nsu"),
  CONSTRAINT "unnotified_line_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "webhook_health_state" ("account_id"),
  CONSTRAINT "unnotified_line_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "unnotified_line_account_id_occurred_at_idx"
  ON "unnotified_line" ("account_id", "occurred_at");
CREATE INDEX "unnotified_line_pix"
  ON "unnotified_line" ("account_id", "end_to_end_id") WHERE (end_to_end_id IS NOT NULL);
CREATE INDEX "unnotified_line_charge"
  ON "unnotified_line" ("account_id", "correlation_id", "occurred_at")
  WHERE (correlation_id IS NOT NULL);

-- Lines that webhooks should report, by the hour and by the statement day in which they occurred,
-- and by the lag of their first webhook, which is -1 while there is none.
CREATE TABLE "notification_count" (
  "account_id" INTEGER NOT NULL,
  "is_day" BOOLEAN NOT NULL,
  "starts_at" TIMESTAMPTZ(3) NOT NULL,
  "type_name" TEXT NOT NULL,
  "lag_ms" BIGINT NOT NULL,
  "lines" BIGINT NOT NULL,

  CONSTRAINT "notification_count_pkey"
    PRIMARY KEY ("account_id", "is_day", "starts_at", "type_name", "lag_ms"),
  CONSTRAINT "notification_count_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "webhook_health_state" ("account_id")
);

-- Processed webhooks, by the hour and by the statement day of their receipt.
CREATE TABLE "webhook_event_count" (
  "account_id" INTEGER NOT NULL,
  "is_day" BOOLEAN NOT NULL,
  "starts_at" TIMESTAMPTZ(3) NOT NULL,
  "event_type" TEXT NOT NULL,
  "received" BIGINT NOT NULL,
  "copies" BIGINT NOT NULL,

  CONSTRAINT "webhook_event_count_pkey"
    PRIMARY KEY ("account_id", "is_day", "starts_at", "event_type")
);

-- Expected payments

-- A payment that should appear on the statement. Matches record whether it did.
CREATE TABLE "expected_payment" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  -- Null when another system declared the payment.
  "operation_id" UUID,
  "kind" TEXT NOT NULL,
  "is_credit" BOOLEAN NOT NULL,
  "amount_cents" BIGINT,
  "due_date" TEXT,
  "terms" TEXT,
  "counterparty_document" TEXT,
  "is_multi_use" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  -- The offset between the clocks may change afterwards.
  "created_at_bank_time" TIMESTAMPTZ(3),
  "withdrawn_at" TIMESTAMPTZ(3),
  -- The current terms of a declared payment, of which each version is stored apart.
  "external_id" TEXT,
  "version" INTEGER,
  "amount_from_cents" BIGINT,
  "amount_to_cents" BIGINT,
  "tolerance_cents" BIGINT NOT NULL DEFAULT 0,
  "least_cents" BIGINT,
  "most_cents" BIGINT,
  "date_from" DATE,
  "date_to" DATE,
  "text_pattern" TEXT,
  "counterparty_name" TEXT,
  "category" TEXT,
  "cost_centre" TEXT,
  "cancelled_at" TIMESTAMPTZ(3),

  CONSTRAINT "expected_payment_pkey" PRIMARY KEY ("account_id", "id"),
  -- Null when the payer chooses the amount.
  CONSTRAINT "expected_payment_amount" CHECK ("amount_cents" > 0),
  CONSTRAINT "expected_payment_source" CHECK (
    ("operation_id" IS NULL) = ("external_id" IS NOT NULL)
    AND ("external_id" IS NULL) = ("version" IS NULL)
    AND ("external_id" IS NULL) = ("date_from" IS NULL)
    AND ("external_id" IS NULL) = ("date_to" IS NULL)
  ),
  CONSTRAINT "expected_payment_range" CHECK (
    ("amount_from_cents" IS NULL) = ("amount_to_cents" IS NULL)
    AND ("amount_from_cents" IS NULL OR "amount_cents" IS NULL)
    AND "amount_from_cents" > 0 AND "amount_from_cents" <= "amount_to_cents"
  ),
  CONSTRAINT "expected_payment_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);
CREATE TRIGGER "expected_payment_stays_connected"
  BEFORE DELETE OR UPDATE OF "account_id", "id" ON "expected_payment"
  FOR EACH ROW EXECUTE FUNCTION "stays_connected"();
-- Checks the rows that name expected payments, for foreign keys that are not enforced.
CREATE FUNCTION "payments_are_stored"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  missing uuid;
BEGIN
  SELECT added.expected_payment_id INTO missing FROM added
  LEFT JOIN LATERAL (
    SELECT true AS is_stored FROM "expected_payment"
    WHERE account_id = added.account_id AND id = added.expected_payment_id OFFSET 0
  ) payment ON true
  WHERE payment.is_stored IS NULL LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'expected payment % of % is not stored', missing, TG_TABLE_NAME
      USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE INDEX "expected_payment_account_id_operation_id_idx"
  ON "expected_payment" ("account_id", "operation_id");
CREATE INDEX "expected_payment_due"
  ON "expected_payment" ("account_id", "due_date") WHERE (due_date IS NOT NULL);
CREATE INDEX "expected_payment_account_id_created_at_idx"
  ON "expected_payment" ("account_id", "created_at");
CREATE INDEX "expected_payment_withdrawn"
  ON "expected_payment" ("account_id", "withdrawn_at") WHERE (withdrawn_at IS NOT NULL);
CREATE INDEX "expected_payment_amount"
  ON "expected_payment" ("account_id", "is_credit", "amount_cents", "created_at");
CREATE INDEX "expected_payment_document"
  ON "expected_payment" ("account_id", "counterparty_document", "created_at")
  WHERE (counterparty_document IS NOT NULL);
CREATE INDEX "expected_payment_name" ON "expected_payment" ("account_id",
  (lower("left"("counterparty_name", 100)) COLLATE "C"), "created_at" DESC)
  WHERE (counterparty_name IS NOT NULL);
CREATE UNIQUE INDEX "expected_payment_external_id"
  ON "expected_payment" ("account_id", "external_id") WHERE (external_id IS NOT NULL);
-- Which declared payments a line may pay by their own conditions: of its account, direction and
-- counterparty, with an amount and a window that contain those of the line. A hash stands for the
-- first three, because a GiST index without an extension holds ranges only; it may collide.
CREATE FUNCTION "condition_group"(account_id integer, is_credit boolean, document text)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtextextended(account_id::text || CASE WHEN is_credit THEN '+' ELSE '-' END
    || COALESCE(document, ''), 0)
$$;
CREATE INDEX "expected_payment_conditions" ON "expected_payment" USING gist (
  (int8range("condition_group"("account_id", "is_credit", "counterparty_document"),
    "condition_group"("account_id", "is_credit", "counterparty_document"), '[]')),
  (int8range("least_cents", "most_cents", '[]')),
  (daterange("date_from", "date_to", '[]'))
) WHERE (least_cents IS NOT NULL AND withdrawn_at IS NULL);

-- The references that tie a statement line to an expected payment.
CREATE TABLE "expected_payment_reference" (
  "account_id" INTEGER NOT NULL,
  "kind" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  "expected_payment_id" UUID NOT NULL,

  CONSTRAINT "expected_payment_reference_pkey"
    PRIMARY KEY ("account_id", "kind", "value", "expected_payment_id"),
  CONSTRAINT "expected_payment_reference_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
CREATE INDEX "expected_payment_reference_account_id_expected_payment_id_idx"
  ON "expected_payment_reference" ("account_id", "expected_payment_id");

CREATE TYPE "expected_payment_action" AS ENUM ('declared', 'amended', 'cancelled');

-- The versions of a declared payment, with who made each of them and why. The table is append-only,
-- and `expected_payment` has the terms of the last one.
CREATE TABLE "expected_payment_version" (
  "account_id" INTEGER NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "action" "expected_payment_action" NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT,
  "terms" JSONB NOT NULL,
  "least_cents" BIGINT,
  "most_cents" BIGINT,
  "date_from" DATE NOT NULL,
  "date_to" DATE NOT NULL,
  "counterparty_document" TEXT,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "expected_payment_version_pkey"
    PRIMARY KEY ("account_id", "expected_payment_id", "version"),
  CONSTRAINT "expected_payment_version_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
CREATE TRIGGER "expected_payment_version_is_append_only" BEFORE UPDATE OR DELETE
  ON "expected_payment_version" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- Texts of the metadata that business systems give with their requests.
CREATE TABLE "expected_payment_metadata" (
  "account_id" INTEGER NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "key" TEXT NOT NULL,
  "value" TEXT NOT NULL,

  CONSTRAINT "expected_payment_metadata_pkey"
    PRIMARY KEY ("account_id", "expected_payment_id", "key"),
  CONSTRAINT "expected_payment_metadata_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
-- Searches by a text read the newest payments that have it.
CREATE INDEX "expected_payment_metadata_search"
  ON "expected_payment_metadata" ("account_id", "key", "value", "expected_payment_id");

CREATE TYPE "expected_payment_fact_kind" AS ENUM (
  'rejected', 'failed', 'absence_proven', 'absence_revoked', 'given_up', 'expected_again',
  'cancelled'
);

-- Facts about expected payments that a later fact may contradict. `expected_payment.withdrawn_at`
-- follows from them.
CREATE TABLE "expected_payment_fact" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "kind" "expected_payment_fact_kind" NOT NULL,
  "bank_time" TIMESTAMPTZ(3) NOT NULL,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "expected_payment_fact_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "expected_payment_fact_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
CREATE INDEX "expected_payment_fact_account_id_expected_payment_id_idx"
  ON "expected_payment_fact" ("account_id", "expected_payment_id");

CREATE TRIGGER "expected_payment_fact_is_append_only" BEFORE UPDATE OR DELETE
  ON "expected_payment_fact" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- Facts are the only source of `withdrawn_at`: no payment is expected since the first of the facts
-- that say so, until a fact says the contrary.
CREATE FUNCTION "expected_payment_follows_its_facts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE expected_payment e
  SET withdrawn_at = CASE WHEN last.kind NOT IN ('absence_revoked', 'expected_again')
    THEN COALESCE(e.withdrawn_at, last.recorded_at) END
  FROM (
    SELECT DISTINCT ON (account_id, expected_payment_id) account_id, expected_payment_id, kind,
      recorded_at
    FROM recorded ORDER BY account_id, expected_payment_id, sequence DESC
  ) last
  WHERE e.account_id = last.account_id AND e.id = last.expected_payment_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "expected_payment_follows_its_facts" AFTER INSERT ON "expected_payment_fact"
  REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT
  EXECUTE FUNCTION "expected_payment_follows_its_facts"();

-- The due dates of a payment whose due date was changed, from its first one on.
CREATE TABLE "expected_payment_due_date" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "due_date" TEXT NOT NULL,
  "possible_from" TIMESTAMPTZ(3) NOT NULL,
  "bank_time" TIMESTAMPTZ(3) NOT NULL,
  -- Null where a read at the bank showed it.
  "operation_id" UUID,
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "expected_payment_due_date_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "expected_payment_due_date_span" CHECK ("possible_from" <= "bank_time"),
  CONSTRAINT "expected_payment_due_date_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "expected_payment_due_date_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id") REFERENCES "operation" ("account_id", "id")
);
CREATE INDEX "expected_payment_due_date_account_id_expected_payment_id_idx"
  ON "expected_payment_due_date" ("account_id", "expected_payment_id");
CREATE INDEX "expected_payment_due_date_account_id_due_date_idx"
  ON "expected_payment_due_date" ("account_id", "due_date");
CREATE TRIGGER "expected_payment_due_date_is_append_only" BEFORE UPDATE OR DELETE
  ON "expected_payment_due_date" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- The last of them is in force.
CREATE FUNCTION "expected_payment_follows_its_due_dates"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE expected_payment e SET due_date = last.due_date
  FROM (
    SELECT DISTINCT ON (account_id, expected_payment_id) account_id, expected_payment_id, due_date
    FROM recorded ORDER BY account_id, expected_payment_id, sequence DESC
  ) last
  WHERE e.account_id = last.account_id AND e.id = last.expected_payment_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "expected_payment_follows_its_due_dates" AFTER INSERT ON "expected_payment_due_date"
  REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT
  EXECUTE FUNCTION "expected_payment_follows_its_due_dates"();

-- How many business days after its payment a way of payment is credited. The last change counts.
CREATE TABLE "credit_days_change" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "way" TEXT NOT NULL,
  "days" INTEGER NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "credit_days_change_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "credit_days_change_days" CHECK ("days" BETWEEN 0 AND 30),
  CONSTRAINT "credit_days_change_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE TRIGGER "credit_days_change_is_append_only" BEFORE UPDATE OR DELETE
  ON "credit_days_change" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- Charges

-- A charge or static QR code, by its correlationId.
CREATE TABLE "charge" (
  "account_id" INTEGER NOT NULL,
  "correlation_id" TEXT NOT NULL,
  "operation_id" UUID NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "amount_cents" BIGINT,
  "bank_status" TEXT,
  "cancelled_at" TIMESTAMPTZ(3),
  "expired_at" TIMESTAMPTZ(3),
  "checks" INTEGER NOT NULL DEFAULT 0,
  "checked_at" TIMESTAMPTZ(3),
  "next_check_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "charge_pkey" PRIMARY KEY ("account_id", "correlation_id"),
  -- Null when the payer chooses the amount.
  CONSTRAINT "charge_amount" CHECK ("amount_cents" > 0),
  CONSTRAINT "charge_account_id_operation_id_fkey" FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id"),
  CONSTRAINT "charge_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
CREATE UNIQUE INDEX "charge_account_id_operation_id_key" ON "charge" ("account_id", "operation_id");
CREATE UNIQUE INDEX "charge_account_id_expected_payment_id_key"
  ON "charge" ("account_id", "expected_payment_id");
CREATE INDEX "charge_check_due"
  ON "charge" ("account_id", "next_check_at") WHERE (next_check_at IS NOT NULL);
CREATE INDEX "charge_ended"
  ON "charge" ("account_id", "checked_at")
  WHERE (cancelled_at IS NOT NULL OR expired_at IS NOT NULL);

-- Transfers

-- A look-up of a Pix key. Its endToEndId can be used for one transfer.
CREATE TABLE "pix_lookup" (
  "account_id" INTEGER NOT NULL,
  "end_to_end_id" TEXT NOT NULL,
  "counterparty" TEXT NOT NULL,
  "looked_up_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "operation_id" UUID,
  "key_hash" TEXT,
  "holder_hash" TEXT,
  "holder_document_hash" TEXT,
  "key_belongs_holder" BOOLEAN,

  CONSTRAINT "pix_lookup_pkey" PRIMARY KEY ("account_id", "end_to_end_id"),
  CONSTRAINT "pix_lookup_account_id_operation_id_fkey" FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);
CREATE INDEX "pix_lookup_account_id_key_hash_looked_up_at_idx"
  ON "pix_lookup" ("account_id", "key_hash", "looked_up_at");

CREATE TYPE "transfer_shape" AS ENUM ('key', 'manual', 'internal', 'batch', 'ted');
CREATE TYPE "transfer_state" AS ENUM ('requested', 'accepted', 'effective', 'failed', 'rejected');

-- Money sent: a Pix, a transfer between accounts of the bank, or one item of a batch.
CREATE TABLE "transfer" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "operation_id" UUID NOT NULL,
  "position" INTEGER NOT NULL DEFAULT 0,
  "shape" "transfer_shape" NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "counterparty" TEXT NOT NULL,
  "end_to_end_id" TEXT,
  "external_id" TEXT,
  "bank_id" TEXT,
  "bank_status" TEXT,
  "state" "transfer_state" NOT NULL,
  "error_code" TEXT,
  "expected_payment_id" UUID NOT NULL,
  "checks" INTEGER NOT NULL DEFAULT 0,
  "checked_at" TIMESTAMPTZ(3),
  "next_check_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "transfer_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "transfer_amount" CHECK ("amount_cents" > 0),
  CONSTRAINT "transfer_account_id_operation_id_fkey" FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id"),
  CONSTRAINT "transfer_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
CREATE UNIQUE INDEX "transfer_account_id_operation_id_position_key"
  ON "transfer" ("account_id", "operation_id", "position");
CREATE UNIQUE INDEX "transfer_account_id_expected_payment_id_key"
  ON "transfer" ("account_id", "expected_payment_id");
CREATE INDEX "transfer_account_id_bank_id_idx" ON "transfer" ("account_id", "bank_id");
CREATE INDEX "transfer_account_id_end_to_end_id_idx" ON "transfer" ("account_id", "end_to_end_id");
CREATE INDEX "transfer_account_id_external_id_idx" ON "transfer" ("account_id", "external_id");
CREATE INDEX "transfer_check_due"
  ON "transfer" ("account_id", "next_check_at") WHERE (next_check_at IS NOT NULL);
CREATE INDEX "transfer_failed" ON "transfer" ("account_id", "updated_at") WHERE (state = 'failed');

-- The state of a transfer only advances: a late response or an older status must not undo it. A
-- rejected transfer may turn out to be executed.
CREATE FUNCTION "transfer_state_advances"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transfer % cannot change from % to %', OLD.id, OLD.state, NEW.state
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transfer_state_advances" BEFORE UPDATE ON "transfer" FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND (
       OLD.state IN ('effective', 'failed')
    OR (OLD.state <> 'rejected' AND NEW.state = 'requested')
    OR (OLD.state = 'accepted' AND NEW.state = 'rejected')))
  EXECUTE FUNCTION "transfer_state_advances"();

-- The request of a transfer and its ids at the bank do not change once set, because its statement
-- line is matched by them. A bank may send a Pix again under another endToEndId, with its own id.
CREATE FUNCTION "transfer_request_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the request and the bank ids of transfer % are fixed', OLD.id
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transfer_request_is_fixed" BEFORE UPDATE ON "transfer" FOR EACH ROW
  WHEN (OLD.operation_id <> NEW.operation_id
     OR OLD.position <> NEW.position
     OR OLD.amount_cents <> NEW.amount_cents
     OR OLD.counterparty <> NEW.counterparty
     OR OLD.expected_payment_id <> NEW.expected_payment_id
     OR (OLD.end_to_end_id <> NEW.end_to_end_id AND OLD.bank_id IS NULL)
     OR OLD.external_id <> NEW.external_id
     OR OLD.bank_id <> NEW.bank_id)
  EXECUTE FUNCTION "transfer_request_is_fixed"();

-- Bill payments

CREATE TYPE "bill_payment_state" AS ENUM ('requested', 'scheduled', 'paid', 'failed', 'rejected');

-- A payment of a bill, executed or scheduled.
CREATE TABLE "bill_payment" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "bar_code" TEXT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "bank_id" TEXT,
  "bank_status" TEXT,
  "state" "bill_payment_state" NOT NULL,
  "scheduled_for" TIMESTAMPTZ(3),
  "may_go_until" TIMESTAMPTZ(3),
  "expected_payment_id" UUID NOT NULL,
  "checks" INTEGER NOT NULL DEFAULT 0,
  "next_check_at" TIMESTAMPTZ(3),
  "freed_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "bill_payment_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "bill_payment_amount" CHECK ("amount_cents" > 0),
  -- A scheduled payment has a last instant at which the bank may still execute it.
  CONSTRAINT "bill_payment_times" CHECK (
    ("scheduled_for" IS NULL) = ("may_go_until" IS NULL)
    AND "scheduled_for" <= "may_go_until"
  ),
  CONSTRAINT "bill_payment_account_id_id_fkey" FOREIGN KEY ("account_id", "id")
    REFERENCES "operation" ("account_id", "id"),
  CONSTRAINT "bill_payment_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
-- A bill is not paid twice: it has at most one payment that has not failed and was not reversed.
CREATE UNIQUE INDEX "bill_payment_live"
  ON "bill_payment" ("account_id", "bar_code")
  WHERE (state <> 'failed' AND state <> 'rejected' AND freed_at IS NULL);
CREATE UNIQUE INDEX "bill_payment_account_id_expected_payment_id_key"
  ON "bill_payment" ("account_id", "expected_payment_id");
CREATE INDEX "bill_payment_account_id_bar_code_idx" ON "bill_payment" ("account_id", "bar_code");
CREATE INDEX "bill_payment_released"
  ON "bill_payment" ("account_id") WHERE (state = 'failed' OR freed_at IS NOT NULL);
CREATE INDEX "bill_payment_check_due"
  ON "bill_payment" ("account_id", "next_check_at") WHERE (next_check_at IS NOT NULL);

-- Refunds

CREATE TYPE "refund_state" AS ENUM ('requested', 'accepted', 'rejected');

-- A refund of a received Pix, in full or in part.
CREATE TABLE "refund" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "original_nsu" BIGINT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "end_to_end_id" TEXT,
  "nsu" BIGINT,
  "state" "refund_state" NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "refund_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "refund_amount" CHECK ("amount_cents" > 0),
  CONSTRAINT "refund_account_id_id_fkey" FOREIGN KEY ("account_id", "id")
    REFERENCES "operation" ("account_id", "id"),
  CONSTRAINT "refund_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "refund_account_id_original_nsu_fkey" FOREIGN KEY ("account_id", "original_nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE UNIQUE INDEX "refund_account_id_expected_payment_id_key"
  ON "refund" ("account_id", "expected_payment_id");
CREATE INDEX "refund_account_id_original_nsu_idx" ON "refund" ("account_id", "original_nsu");
CREATE INDEX "refund_account_id_nsu_idx" ON "refund" ("account_id", "nsu");
CREATE INDEX "refund_account_id_end_to_end_id_idx" ON "refund" ("account_id", "end_to_end_id");

-- Disputes

CREATE TYPE "dispute_kind" AS ENUM ('infraction', 'med');
CREATE TYPE "dispute_status" AS ENUM ('reported', 'accepted', 'rejected');

CREATE TABLE "dispute" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "kind" "dispute_kind" NOT NULL,
  "reference" TEXT NOT NULL,
  "end_to_end_id" TEXT,
  "amount_cents" BIGINT,
  "status" "dispute_status" NOT NULL,
  "reported_at" TIMESTAMPTZ(3) NOT NULL,
  "deadline_at" TIMESTAMPTZ(3) NOT NULL,
  "returned_nsu" BIGINT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "dispute_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "dispute_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "bank_account" ("id"),
  CONSTRAINT "dispute_account_id_returned_nsu_fkey" FOREIGN KEY ("account_id", "returned_nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE UNIQUE INDEX "dispute_account_id_kind_reference_key"
  ON "dispute" ("account_id", "kind", "reference");
CREATE INDEX "dispute_account_id_end_to_end_id_idx" ON "dispute" ("account_id", "end_to_end_id");
CREATE INDEX "dispute_unreturned" ON "dispute" ("account_id", "created_at")
  WHERE (returned_nsu IS NULL AND end_to_end_id IS NOT NULL);

-- Bulk uploads

CREATE TYPE "bulk_upload_kind" AS ENUM ('charges', 'transfers', 'expected_payments');

-- A file of charges or transfers. The same file uploaded again is the same upload.
CREATE TABLE "bulk_upload" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "kind" "bulk_upload_kind" NOT NULL,
  "file_hash" TEXT NOT NULL,
  "rows" INTEGER NOT NULL,
  "requested_by" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "finished_at" TIMESTAMPTZ(3),
  "accepted" INTEGER,
  "rejected" INTEGER,
  "invalid" INTEGER,

  CONSTRAINT "bulk_upload_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "bulk_upload_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "bulk_upload_account_id_kind_file_hash_key"
  ON "bulk_upload" ("account_id", "kind", "file_hash");
CREATE INDEX "bulk_upload_unfinished" ON "bulk_upload" ("created_at") WHERE (finished_at IS NULL);

CREATE TYPE "bulk_row_state" AS ENUM ('pending', 'accepted', 'rejected', 'invalid');

-- A row of an uploaded file, and the operation that was created for it.
CREATE TABLE "bulk_row" (
  "account_id" INTEGER NOT NULL,
  "upload_id" UUID NOT NULL,
  "line" INTEGER NOT NULL,
  "reference" TEXT,
  "request" TEXT,
  "state" "bulk_row_state" NOT NULL,
  "errors" TEXT,
  "operation_id" UUID,

  CONSTRAINT "bulk_row_pkey" PRIMARY KEY ("account_id", "upload_id", "line"),
  CONSTRAINT "bulk_row_account_id_upload_id_fkey" FOREIGN KEY ("account_id", "upload_id")
    REFERENCES "bulk_upload" ("account_id", "id"),
  CONSTRAINT "bulk_row_account_id_operation_id_fkey" FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);
CREATE INDEX "bulk_row_account_id_upload_id_state_line_idx"
  ON "bulk_row" ("account_id", "upload_id", "state", "line");
CREATE INDEX "bulk_row_operation"
  ON "bulk_row" ("account_id", "operation_id") WHERE (operation_id IS NOT NULL);

-- Reconciliation

-- A rule of an account. Its versions contain its definition.
CREATE TABLE "rule" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "origin" TEXT NOT NULL DEFAULT 'api',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "rule_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "rule_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "rule_account_id_name_key" ON "rule" ("account_id", "name");

CREATE TYPE "rule_version_state" AS ENUM ('draft', 'active', 'retired');
CREATE TYPE "rule_action" AS ENUM ('classify', 'match');

-- A version of a rule.
CREATE TABLE "rule_version" (
  "account_id" INTEGER NOT NULL,
  "rule_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "state" "rule_version_state" NOT NULL,
  "priority" INTEGER NOT NULL,
  "action" "rule_action" NOT NULL,
  "definition" JSONB NOT NULL,
  "made_by" TEXT,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "activated_at" TIMESTAMPTZ(3),
  "activated_at_bank_time" TIMESTAMPTZ(3),
  "retired_at" TIMESTAMPTZ(3),

  CONSTRAINT "rule_version_pkey" PRIMARY KEY ("account_id", "rule_id", "version"),
  CONSTRAINT "rule_version_account_id_rule_id_fkey" FOREIGN KEY ("account_id", "rule_id")
    REFERENCES "rule" ("account_id", "id")
);
-- At most one version of a rule is active.
CREATE UNIQUE INDEX "rule_version_active"
  ON "rule_version" ("account_id", "rule_id") WHERE (state = 'active');

-- Matches and trials refer to the version that made them, so its definition does not change.
CREATE FUNCTION "rule_version_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'version % of rule % is fixed', OLD.version, OLD.rule_id
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "rule_version_is_fixed" BEFORE UPDATE ON "rule_version" FOR EACH ROW
  WHEN (OLD.definition <> NEW.definition
     OR OLD.action <> NEW.action
     OR OLD.priority <> NEW.priority)
  EXECUTE FUNCTION "rule_version_is_fixed"();

-- The result of running a version over past lines before it is activated.
CREATE TABLE "rule_trial" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "rule_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "from" TIMESTAMPTZ(3) NOT NULL,
  "until" TIMESTAMPTZ(3) NOT NULL,
  "result" JSONB NOT NULL,
  "changes" JSONB NOT NULL DEFAULT '[]',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "rule_trial_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "rule_trial_account_id_rule_id_version_fkey"
    FOREIGN KEY ("account_id", "rule_id", "version")
    REFERENCES "rule_version" ("account_id", "rule_id", "version")
);
CREATE INDEX "rule_trial_account_id_rule_id_version_idx"
  ON "rule_trial" ("account_id", "rule_id", "version");

CREATE TRIGGER "rule_trial_is_append_only" BEFORE UPDATE OR DELETE
  ON "rule_trial" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- A trial that a page started, and how far it is.
CREATE TABLE "rule_trial_run" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "rule_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "lines" INTEGER NOT NULL DEFAULT 0,
  "trial_id" UUID,
  "problem" TEXT,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "rule_trial_run_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "rule_trial_run_account_id_rule_id_version_fkey"
    FOREIGN KEY ("account_id", "rule_id", "version")
    REFERENCES "rule_version" ("account_id", "rule_id", "version"),
  CONSTRAINT "rule_trial_run_account_id_trial_id_fkey"
    FOREIGN KEY ("account_id", "trial_id") REFERENCES "rule_trial" ("account_id", "id")
);
CREATE INDEX "rule_trial_run_unfinished" ON "rule_trial_run" ("account_id")
  WHERE trial_id IS NULL AND problem IS NULL;

CREATE TYPE "rule_history_action" AS ENUM ('declared', 'tried', 'activated', 'retired');

-- The history of a rule.
CREATE TABLE "rule_history_entry" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL DEFAULT gen_random_uuid(),
  "rule_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "action" "rule_history_action" NOT NULL,
  "actor" TEXT,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "rule_history_entry_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "rule_history_entry_account_id_rule_id_version_fkey"
    FOREIGN KEY ("account_id", "rule_id", "version")
    REFERENCES "rule_version" ("account_id", "rule_id", "version")
);
CREATE INDEX "rule_history_entry_account_id_rule_id_created_at_idx"
  ON "rule_history_entry" ("account_id", "rule_id", "created_at");

CREATE TRIGGER "rule_history_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "rule_history_entry" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TYPE "match_role" AS ENUM ('payment', 'reversal');

-- A statement line, or part of it, that accounts for an expected payment.
CREATE TABLE "match" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "nsu" BIGINT NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "role" "match_role" NOT NULL DEFAULT 'payment',
  "owed_cents" BIGINT,
  -- The part of the payment that was refunded to the payer.
  "refunded_cents" BIGINT NOT NULL DEFAULT 0,
  "rule" TEXT NOT NULL,
  "final_at" TIMESTAMPTZ(3),
  "rule_id" UUID,
  "rule_version" INTEGER,
  "made_by" TEXT,
  "reason" TEXT,
  "evidence" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "unlinked_at" TIMESTAMPTZ(3),
  "unlinked_by" TEXT,
  "unlink_reason" TEXT,

  CONSTRAINT "match_pkey" PRIMARY KEY ("account_id", "id"),
  -- A rule is recorded with its version: another version may decide differently.
  CONSTRAINT "match_rule" CHECK (("rule_id" IS NULL) = ("rule_version" IS NULL)),
  -- made_by is the API key of a manual match. An automatic match has none.
  CONSTRAINT "match_manual" CHECK (("rule" = 'manual') = ("made_by" IS NOT NULL)),
  -- Only a decision of a rule is provisional first.
  CONSTRAINT "match_final" CHECK ("final_at" IS NULL OR "rule" = 'declared'),
  CONSTRAINT "match_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu"),
  CONSTRAINT "match_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "match_account_id_rule_id_rule_version_fkey"
    FOREIGN KEY ("account_id", "rule_id", "rule_version")
    REFERENCES "rule_version" ("account_id", "rule_id", "version")
);
-- Checked by match_covers_its_line and by match_has_its_payment.
SELECT "trigger_checks"('match_account_id_nsu_fkey', 'match');
SELECT "trigger_checks"('match_account_id_expected_payment_id_fkey', 'match');
CREATE TRIGGER "match_has_its_payment" AFTER INSERT ON "match"
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION "payments_are_stored"();
CREATE TRIGGER "match_keeps_its_payment"
  BEFORE UPDATE OF "account_id", "expected_payment_id" ON "match"
  FOR EACH ROW EXECUTE FUNCTION "stays_connected"();
-- A line has at most one live match with an expected payment.
CREATE UNIQUE INDEX "match_live"
  ON "match" ("account_id", "nsu", "expected_payment_id") WHERE (unlinked_at IS NULL);
CREATE INDEX "match_provisional"
  ON "match" ("account_id", "nsu")
  WHERE (rule = 'declared' AND unlinked_at IS NULL AND final_at IS NULL);
CREATE INDEX "match_account_id_expected_payment_id_nsu_idx"
  ON "match" ("account_id", "expected_payment_id", "nsu");
CREATE INDEX "match_account_id_created_at_idx" ON "match" ("account_id", "created_at");
CREATE INDEX "match_reversal"
  ON "match" ("account_id", "expected_payment_id")
  WHERE (role = 'reversal' AND unlinked_at IS NULL);
CREATE INDEX "match_unlinked_manually"
  ON "match" ("account_id", "nsu") WHERE (unlinked_by IS NOT NULL);
CREATE INDEX "match_unlinked"
  ON "match" ("account_id", "unlinked_at") WHERE (unlinked_at IS NOT NULL);
CREATE INDEX "match_unlinked_line"
  ON "match" ("account_id", "nsu") WHERE (unlinked_at IS NOT NULL);

-- The live matches of a line add up to the amount of the line: no cent is allocated twice, and no
-- part of a line is left without an outcome.
CREATE FUNCTION "match_covers_its_line"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  offending bigint;
BEGIN
  -- Two transactions do not see each other's matches: the second waits here for the first to end,
  -- and then sums the matches of both.
  PERFORM pg_advisory_xact_lock(x'434f4e02'::int, account_id)
  FROM (SELECT DISTINCT account_id FROM changed ORDER BY account_id) accounts;
  SELECT touched.nsu INTO offending
  FROM (SELECT DISTINCT account_id, nsu FROM changed) touched
  LEFT JOIN LATERAL (
    SELECT t.amount_cents FROM statement_line t
    WHERE t.account_id = touched.account_id AND t.nsu = touched.nsu
  ) line ON true
  LEFT JOIN LATERAL (
    SELECT sum(m.amount_cents) AS total FROM "match" m
    WHERE m.account_id = touched.account_id AND m.nsu = touched.nsu AND m.unlinked_at IS NULL
  ) live ON true
  WHERE line.amount_cents IS NULL OR live.total <> line.amount_cents
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the matches of line % do not add up to it', offending
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "match_covers_its_line_on_insert" AFTER INSERT ON "match"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "match_covers_its_line"();
CREATE TRIGGER "match_covers_its_line_on_update" AFTER UPDATE ON "match"
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION "match_covers_its_line"();

-- A match is never deleted. It is unlinked, and its row stays. Deleting one of several matches of a
-- line would leave the line matched in part.
CREATE FUNCTION "match_is_not_deleted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'match % can be unlinked but not deleted', OLD.id
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "match_is_not_deleted" BEFORE DELETE ON "match"
  FOR EACH ROW EXECUTE FUNCTION "match_is_not_deleted"();

CREATE TYPE "classification_category" AS ENUM (
  'before_go_live', 'fee', 'tariff', 'own_account_transfer', 'ignored', 'accepted', 'refunded'
);

-- In place of a foreign key, which would look up and lock each line on its own. A line is never
-- deleted and its key never changes, so the check is as strong.
CREATE FUNCTION "lines_are_stored"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  missing bigint;
BEGIN
  SELECT added.nsu INTO missing FROM added
  LEFT JOIN LATERAL (
    SELECT true AS is_stored FROM statement_line
    WHERE account_id = added.account_id AND nsu = added.nsu OFFSET 0
  ) line ON true
  WHERE line.is_stored IS NULL LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'line % of % is not stored', missing, TG_TABLE_NAME
      USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$;

-- Why a statement line needs no match.
CREATE TABLE "classification" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "rule" TEXT NOT NULL,
  "category" "classification_category" NOT NULL DEFAULT 'before_go_live',
  "reason" TEXT,
  "evidence" JSONB NOT NULL DEFAULT '{}',
  "final_at" TIMESTAMPTZ(3),
  "rule_id" UUID,
  "rule_version" INTEGER,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "classification_pkey" PRIMARY KEY ("account_id", "nsu"),
  -- A rule is recorded with its version: another version may decide differently.
  CONSTRAINT "classification_rule" CHECK (("rule_id" IS NULL) = ("rule_version" IS NULL)),
  CONSTRAINT "classification_final" CHECK ("final_at" IS NULL OR "rule" = 'declared'),
  CONSTRAINT "classification_account_id_rule_id_rule_version_fkey"
    FOREIGN KEY ("account_id", "rule_id", "rule_version")
    REFERENCES "rule_version" ("account_id", "rule_id", "version")
);
CREATE INDEX "classification_account_id_created_at_idx"
  ON "classification" ("account_id", "created_at");
CREATE INDEX "classification_provisional"
  ON "classification" ("account_id", "nsu") WHERE (rule = 'declared' AND final_at IS NULL);
CREATE TRIGGER "classification_has_its_line_on_insert" AFTER INSERT ON "classification"
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION "lines_are_stored"();
CREATE TRIGGER "classification_has_its_line_on_update" AFTER UPDATE ON "classification"
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION "lines_are_stored"();

-- Which open payments a debit may pay that waits for them, or about which a person decides.
CREATE TABLE "line_candidate" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "line_candidate_pkey" PRIMARY KEY ("account_id", "nsu", "expected_payment_id"),
  CONSTRAINT "line_candidate_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "line_candidate_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "line_candidate_account_id_expected_payment_id_idx"
  ON "line_candidate" ("account_id", "expected_payment_id");

CREATE TYPE "break_state" AS ENUM ('open', 'resolved');

-- A disagreement that needs resolution.
CREATE TABLE "break" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "kind" TEXT NOT NULL,
  "state" "break_state" NOT NULL,
  "subject" TEXT NOT NULL,
  "amount_cents" BIGINT,
  "nsu" BIGINT,
  "expected_payment_id" UUID,
  "operation_id" UUID,
  "evidence" JSONB NOT NULL,
  "opened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "opened_day" TEXT,
  "resolved_at" TIMESTAMPTZ(3),
  "resolution" TEXT,
  "resolved_by" TEXT,
  "resolution_reason" TEXT,

  CONSTRAINT "break_pkey" PRIMARY KEY ("account_id", "id"),
  -- A break has a resolution and its time if and only if it is resolved.
  CONSTRAINT "break_resolution" CHECK (
    ("state" = 'resolved') = ("resolution" IS NOT NULL)
    AND ("state" = 'resolved') = ("resolved_at" IS NOT NULL)
  ),
  CONSTRAINT "break_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "break_account_id_operation_id_fkey" FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);
-- A subject has at most one break of a kind. The break is reopened instead of opened again.
CREATE UNIQUE INDEX "break_account_id_kind_subject_key"
  ON "break" ("account_id", "kind", "subject");
CREATE INDEX "break_account_id_nsu_idx" ON "break" ("account_id", "nsu");
CREATE INDEX "break_expected_payment"
  ON "break" ("account_id", "expected_payment_id") WHERE (expected_payment_id IS NOT NULL);
CREATE INDEX "break_operation"
  ON "break" ("account_id", "operation_id") WHERE (operation_id IS NOT NULL);
CREATE INDEX "break_account_id_state_kind_id_idx"
  ON "break" ("account_id", "state", "kind", "id");
CREATE INDEX "break_open_amount" ON "break" ("account_id", "amount_cents", "nsu")
  WHERE (state = 'open' AND nsu IS NOT NULL);

-- The history of a break: one row for each action.
CREATE TABLE "break_history_entry" (
  "account_id" INTEGER NOT NULL,
  "break_id" UUID NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "action" TEXT NOT NULL,
  "actor" TEXT,
  "reason" TEXT,
  "detail" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "break_history_entry_pkey" PRIMARY KEY ("account_id", "break_id", "sequence"),
  CONSTRAINT "break_history_entry_account_id_break_id_fkey" FOREIGN KEY ("account_id", "break_id")
    REFERENCES "break" ("account_id", "id")
);
CREATE INDEX "break_history_entry_account_id_created_at_idx"
  ON "break_history_entry" ("account_id", "created_at");
CREATE INDEX "break_history_entry_refund"
  ON "break_history_entry" ("account_id", "break_id") WHERE (action = 'refund');

-- An open break has no resolution. A break that no person and no policy resolved was resolved by
-- new evidence ('automatic').
CREATE FUNCTION "break_sets_resolution"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state = 'open' THEN
    NEW.resolution := NULL; NEW.resolved_by := NULL;
    NEW.resolution_reason := NULL; NEW.resolved_at := NULL;
  ELSE
    NEW.resolution := COALESCE(NEW.resolution, 'automatic');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "break_sets_resolution" BEFORE INSERT OR UPDATE ON "break" FOR EACH ROW
  WHEN (NEW.state <> 'open' OR NEW.resolution IS NOT NULL OR NEW.resolved_by IS NOT NULL
    OR NEW.resolution_reason IS NOT NULL OR NEW.resolved_at IS NOT NULL)
  EXECUTE FUNCTION "break_sets_resolution"();

-- Records each new break, and each change of the state or the amount of a break, in its history.
-- Breaks are opened by the thousand, so their first entries are inserted at once.
CREATE FUNCTION "break_records_opening"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO break_history_entry (account_id, break_id, action, actor, reason, detail)
  SELECT account_id, id, CASE WHEN state = 'resolved' THEN 'resolved' ELSE 'opened' END,
         resolved_by, resolution_reason,
         jsonb_strip_nulls(jsonb_build_object('resolution', resolution,
           'evidence', CASE WHEN state = 'open' THEN evidence END))
  FROM opened;
  RETURN NULL;
END $$;
CREATE TRIGGER "break_records_opening" AFTER INSERT ON "break"
  REFERENCING NEW TABLE AS opened FOR EACH STATEMENT EXECUTE FUNCTION "break_records_opening"();
CREATE FUNCTION "break_records_history"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO break_history_entry (account_id, break_id, action, actor, reason, detail)
  VALUES (NEW.account_id, NEW.id,
    CASE WHEN OLD.state = NEW.state THEN 'revised'
         WHEN NEW.state = 'resolved' THEN 'resolved'
         ELSE 'reopened' END,
    NEW.resolved_by, NEW.resolution_reason,
    jsonb_strip_nulls(jsonb_build_object('resolution', NEW.resolution,
      'evidence', CASE WHEN NEW.state = 'open' THEN NEW.evidence END,
      'fromCents', CASE WHEN OLD.amount_cents <> NEW.amount_cents THEN OLD.amount_cents::text END,
      'toCents', CASE WHEN OLD.amount_cents <> NEW.amount_cents THEN NEW.amount_cents::text END)));
  RETURN NULL;
END $$;
CREATE TRIGGER "break_records_history_on_update" AFTER UPDATE ON "break" FOR EACH ROW
  WHEN (OLD.state <> NEW.state OR OLD.amount_cents IS DISTINCT FROM NEW.amount_cents
    OR OLD.evidence->'jumps' IS DISTINCT FROM NEW.evidence->'jumps')
  EXECUTE FUNCTION "break_records_history"();

-- The history of breaks is append-only, and a break is never deleted.
CREATE TRIGGER "break_is_not_deleted" BEFORE DELETE ON "break"
  FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "break_history_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "break_history_entry" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "break_history_entry_is_not_truncated" BEFORE TRUNCATE ON "break_history_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- What people wrote about a break. The text is encrypted.
CREATE TABLE "break_comment" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "break_id" UUID NOT NULL,
  "author" TEXT NOT NULL,
  "text" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "break_comment_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "break_comment_account_id_break_id_fkey" FOREIGN KEY ("account_id", "break_id")
    REFERENCES "break" ("account_id", "id")
);
CREATE INDEX "break_comment_account_id_break_id_id_idx"
  ON "break_comment" ("account_id", "break_id", "id");
-- By the id of the key that encrypted the text: each start and the re-encryption look for old keys.
CREATE INDEX "break_comment_key_id" ON "break_comment" (left("text", 8)) WHERE "text" IS NOT NULL;

-- A comment is written once. Its text may be encrypted with another key, or erased for ever.
CREATE FUNCTION "break_comment_is_written_once"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.text IS NOT NULL
    AND to_jsonb(NEW) - 'text' = to_jsonb(OLD) - 'text'
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'break_comment is written once' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "break_comment_is_written_once" BEFORE UPDATE OR DELETE ON "break_comment"
  FOR EACH ROW EXECUTE FUNCTION "break_comment_is_written_once"();
CREATE TRIGGER "break_comment_is_not_truncated" BEFORE TRUNCATE ON "break_comment"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

CREATE TYPE "line_decision_action" AS ENUM ('link', 'unlink');

-- What people decided about a line: a link to expected payments, or the end of it.
CREATE TABLE "line_decision" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "nsu" BIGINT NOT NULL,
  "action" "line_decision_action" NOT NULL,
  "allocations" JSONB NOT NULL,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "line_decision_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "line_decision_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "line_decision_account_id_nsu_idx" ON "line_decision" ("account_id", "nsu");
CREATE TRIGGER "line_decision_is_append_only" BEFORE UPDATE OR DELETE ON "line_decision"
  FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- The parts of a debit that a person linked to received payments, as their refunds. They belong to
-- the decision and stand while it is the last one about the line.
CREATE TABLE "linked_original" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGINT NOT NULL,
  "ordinal" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "original_nsu" BIGINT NOT NULL,
  "expected_payment_id" UUID,
  "amount_cents" BIGINT NOT NULL,

  CONSTRAINT "linked_original_pkey" PRIMARY KEY ("account_id", "sequence", "ordinal"),
  CONSTRAINT "linked_original_amount" CHECK ("amount_cents" > 0),
  CONSTRAINT "linked_original_other_line" CHECK ("nsu" <> "original_nsu"),
  CONSTRAINT "linked_original_account_id_sequence_fkey" FOREIGN KEY ("account_id", "sequence")
    REFERENCES "line_decision" ("account_id", "sequence"),
  CONSTRAINT "linked_original_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu"),
  CONSTRAINT "linked_original_account_id_original_nsu_fkey"
    FOREIGN KEY ("account_id", "original_nsu") REFERENCES "statement_line" ("account_id", "nsu"),
  CONSTRAINT "linked_original_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id")
);
CREATE INDEX "linked_original_account_id_nsu_idx" ON "linked_original" ("account_id", "nsu");
CREATE INDEX "linked_original_account_id_original_nsu_idx"
  ON "linked_original" ("account_id", "original_nsu");
CREATE TRIGGER "linked_original_is_append_only" BEFORE UPDATE OR DELETE ON "linked_original"
  FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TYPE "line_outcome_state" AS ENUM ('matched', 'classified', 'in_break', 'pending');

-- The outcome of each decided line. A line without a row is not decided yet.
CREATE TABLE "line_outcome" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "state" "line_outcome_state" NOT NULL,
  "label" TEXT,
  "version" INTEGER NOT NULL,
  "leaf_hash" BYTEA NOT NULL,
  "sequence" BIGINT NOT NULL,

  CONSTRAINT "line_outcome_pkey" PRIMARY KEY ("account_id", "nsu")
);
CREATE INDEX "line_outcome_account_id_state_nsu_idx"
  ON "line_outcome" ("account_id", "state", "nsu");

-- An outcome that another version has replaced: certificates prove it.
CREATE TABLE "former_outcome" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "version" INTEGER NOT NULL,
  "state" "line_outcome_state" NOT NULL,
  "label" TEXT,
  "leaf_hash" BYTEA NOT NULL,
  "sequence" BIGINT NOT NULL,
  "until_sequence" BIGINT NOT NULL,

  CONSTRAINT "former_outcome_pkey" PRIMARY KEY ("account_id", "nsu", "version"),
  CONSTRAINT "former_outcome_account_id_nsu_fkey" FOREIGN KEY ("account_id", "nsu")
    REFERENCES "statement_line" ("account_id", "nsu")
);
CREATE INDEX "former_outcome_account_id_until_sequence_nsu_idx"
  ON "former_outcome" ("account_id", "until_sequence", "nsu");
CREATE TRIGGER "former_outcome_is_append_only" BEFORE UPDATE OR DELETE ON "former_outcome"
  FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "former_outcome_is_not_truncated" BEFORE TRUNCATE ON "former_outcome"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- Each version of an outcome replaces the version before it, which is stored.
CREATE FUNCTION "line_outcome_has_versions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.account_id, NEW.nsu) <> (OLD.account_id, OLD.nsu)
    OR NEW.version <> OLD.version + 1 OR NEW.sequence <= OLD.sequence THEN
    RAISE EXCEPTION 'an outcome is replaced by its next version'
      USING ERRCODE = 'check_violation';
  END IF;
  INSERT INTO former_outcome (account_id, nsu, version, state, label, leaf_hash, sequence,
    until_sequence)
  VALUES (OLD.account_id, OLD.nsu, OLD.version, OLD.state, OLD.label, OLD.leaf_hash, OLD.sequence,
    NEW.sequence);
  RETURN NEW;
END $$;
CREATE TRIGGER "line_outcome_has_versions" BEFORE UPDATE ON "line_outcome"
  FOR EACH ROW EXECUTE FUNCTION "line_outcome_has_versions"();
CREATE TRIGGER "line_outcome_is_not_deleted" BEFORE DELETE ON "line_outcome"
  FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "line_outcome_is_not_truncated" BEFORE TRUNCATE ON "line_outcome"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

CREATE TYPE "settlement" AS ENUM (
  'open', 'withdrawn', 'partially_settled', 'settled', 'overpaid', 'refunded',
  'partially_reversed', 'reversed'
);

-- What an expected payment has come to.
CREATE TABLE "expected_payment_total" (
  "account_id" INTEGER NOT NULL,
  "expected_payment_id" UUID NOT NULL,
  "payment_count" INTEGER NOT NULL DEFAULT 0,
  "paid_cents" BIGINT NOT NULL,
  "reversed_cents" BIGINT NOT NULL,
  "refunded_cents" BIGINT NOT NULL,
  "unrefunded_cents" BIGINT NOT NULL,
  "settlement" "settlement" NOT NULL,
  "last_payment_day" TEXT,
  "deadline" TIMESTAMPTZ(3),

  CONSTRAINT "expected_payment_total_pkey" PRIMARY KEY ("account_id", "expected_payment_id"),
  CONSTRAINT "expected_payment_total_payment" FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "expected_payment_total_cents" CHECK (
    "paid_cents" >= 0 AND "reversed_cents" >= 0
    AND "refunded_cents" BETWEEN 0 AND "paid_cents"
    AND "unrefunded_cents" BETWEEN 0 AND "paid_cents"
  )
);
SELECT "trigger_checks"('expected_payment_total_payment', 'expected_payment_total');
CREATE TRIGGER "expected_payment_total_has_its_payment" AFTER INSERT ON "expected_payment_total"
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION "payments_are_stored"();
CREATE TRIGGER "expected_payment_total_keeps_its_payment"
  BEFORE UPDATE OF "account_id", "expected_payment_id" ON "expected_payment_total"
  FOR EACH ROW EXECUTE FUNCTION "stays_connected"();
CREATE INDEX "expected_payment_total_deadline"
  ON "expected_payment_total" ("account_id", "deadline") WHERE (deadline IS NOT NULL);
CREATE INDEX "expected_payment_total_account_id_settlement_expected_payme_idx"
  ON "expected_payment_total" ("account_id", "settlement", "expected_payment_id");
CREATE INDEX "expected_payment_total_open"
  ON "expected_payment_total" ("account_id", "last_payment_day", "expected_payment_id")
  WHERE (settlement = 'open');

-- How far the lines of an account have been decided. Everything in the statement before `as_of`, in
-- bank time, is decided.
CREATE TABLE "reconciliation_state" (
  "account_id" INTEGER NOT NULL,
  "decided_arrival" BIGINT NOT NULL DEFAULT 0,
  "as_of" TIMESTAMPTZ(3),
  "outcome_sequence" BIGINT NOT NULL DEFAULT 0,

  CONSTRAINT "reconciliation_state_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "reconciliation_state_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE TYPE "reconciliation_task_kind" AS ENUM (
  'line', 'rules', 'period', 'payment', 'operation', 'statement'
);

-- A subject that must be decided again, because a fact about it changed or became due.
CREATE TABLE "reconciliation_task" (
  "account_id" INTEGER NOT NULL,
  "id" BIGSERIAL NOT NULL,
  "kind" "reconciliation_task_kind" NOT NULL,
  "nsu" BIGINT,
  "expected_payment_id" UUID,
  "operation_id" UUID,
  "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "reconciliation_task_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "reconciliation_task_kind" CHECK (
    -- A task of rules or of a period has the line after which lines are still to be decided.
    ("kind" IN ('line', 'rules', 'period')) = ("nsu" IS NOT NULL)
    AND ("kind" = 'payment') = ("expected_payment_id" IS NOT NULL)
    AND ("kind" = 'operation') = ("operation_id" IS NOT NULL)
  ),
  CONSTRAINT "reconciliation_task_account_id_expected_payment_id_fkey"
    FOREIGN KEY ("account_id", "expected_payment_id")
    REFERENCES "expected_payment" ("account_id", "id"),
  CONSTRAINT "reconciliation_task_account_id_operation_id_fkey"
    FOREIGN KEY ("account_id", "operation_id")
    REFERENCES "operation" ("account_id", "id")
);
CREATE INDEX "reconciliation_task_account_id_due_at_idx"
  ON "reconciliation_task" ("account_id", "due_at");

-- Whether breaks of a kind are refunded without a person, and up to which amount.
CREATE TABLE "refund_policy" (
  "account_id" INTEGER NOT NULL,
  "break_kind" TEXT NOT NULL,
  "is_on" BOOLEAN NOT NULL,
  "max_cents" BIGINT,
  "changed_by" TEXT,
  "reason" TEXT,
  "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "refund_policy_pkey" PRIMARY KEY ("account_id", "break_kind"),
  -- Only these kinds of breaks are about received money that may be refunded.
  CONSTRAINT "refund_policy_kind" CHECK (
    "break_kind" IN ('duplicate_payment', 'overpaid', 'paid_after_cancellation',
      'paid_after_expiry')
  ),
  CONSTRAINT "refund_policy_max" CHECK ("max_cents" > 0),
  CONSTRAINT "refund_policy_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- The history of a refund policy.
CREATE TABLE "refund_policy_history_entry" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL DEFAULT gen_random_uuid(),
  "sequence" BIGSERIAL NOT NULL,
  "break_kind" TEXT NOT NULL,
  "is_on" BOOLEAN NOT NULL,
  "max_cents" BIGINT,
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "refund_policy_history_entry_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "refund_policy_history_entry_policy" FOREIGN KEY ("account_id", "break_kind")
    REFERENCES "refund_policy" ("account_id", "break_kind")
);
CREATE UNIQUE INDEX "refund_policy_history_entry_account_id_sequence_key"
  ON "refund_policy_history_entry" ("account_id", "sequence");

CREATE TRIGGER "refund_policy_history_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "refund_policy_history_entry" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- The steps of an account's severities.
CREATE TABLE "severity_steps_change" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "amount_steps" BIGINT[],
  "age_steps" INTEGER[],
  "actor" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "severity_steps_change_pkey" PRIMARY KEY ("account_id", "sequence"),
  -- A severity has points from 0 to 6.
  CONSTRAINT "severity_steps_change_three" CHECK (
    cardinality("amount_steps") = 3 AND cardinality("age_steps") = 3
  ),
  CONSTRAINT "severity_steps_change_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE TRIGGER "severity_steps_change_is_append_only" BEFORE UPDATE OR DELETE
  ON "severity_steps_change" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

CREATE TYPE "reconciliation_run_state" AS ENUM ('running', 'finished', 'failed');
CREATE TYPE "reconciliation_run_trigger" AS ENUM ('request', 'schedule');

-- One reconciliation run of an account.
CREATE TABLE "reconciliation_run" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "trigger" "reconciliation_run_trigger" NOT NULL,
  "state" "reconciliation_run_state" NOT NULL,
  "requested_by" TEXT,
  "window_from" TIMESTAMPTZ(3),
  "window_until" TIMESTAMPTZ(3),
  "after_arrival" BIGINT NOT NULL DEFAULT 0,
  "counts" JSONB NOT NULL DEFAULT '{}',
  "error" TEXT,
  "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "finished_at" TIMESTAMPTZ(3),

  CONSTRAINT "reconciliation_run_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "reconciliation_run_end" CHECK (("state" = 'running') = ("finished_at" IS NULL)),
  CONSTRAINT "reconciliation_run_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
-- An account has at most one run at a time.
CREATE UNIQUE INDEX "reconciliation_run_running"
  ON "reconciliation_run" ("account_id") WHERE (state = 'running');
CREATE INDEX "reconciliation_run_finished"
  ON "reconciliation_run" ("account_id", "window_until") WHERE (state = 'finished');

-- When an account is reconciled automatically.
CREATE TABLE "reconciliation_schedule" (
  "account_id" INTEGER NOT NULL,
  "cron" TEXT,
  "timezone" TEXT NOT NULL DEFAULT 'America/Sao_Paulo',
  "next_run_at" TIMESTAMPTZ(3),

  CONSTRAINT "reconciliation_schedule_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "reconciliation_schedule_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE INDEX "reconciliation_schedule_due"
  ON "reconciliation_schedule" ("next_run_at") WHERE (next_run_at IS NOT NULL);

-- Day closes

-- A certificate in the chain of an account: of a closed day, or an amendment of one.
CREATE TABLE "day_close" (
  "account_id" INTEGER NOT NULL,
  "sequence" INTEGER NOT NULL,
  "date" TEXT NOT NULL,
  "revision" INTEGER NOT NULL,
  "opening_cents" BIGINT NOT NULL,
  "credit_cents" BIGINT NOT NULL,
  "debit_cents" BIGINT NOT NULL,
  "closing_cents" BIGINT NOT NULL,
  "line_count" INTEGER NOT NULL,
  "certificate" TEXT NOT NULL,
  "lines_root" TEXT NOT NULL,
  "last_arrival" BIGINT NOT NULL,
  "outcome_sequence" BIGINT NOT NULL,
  "previous_hash" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "day_close_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "day_close_adds_up" CHECK (
    "opening_cents" + "credit_cents" - "debit_cents" = "closing_cents"
  ),
  CONSTRAINT "day_close_sequence" CHECK ("sequence" >= 1 AND "revision" >= 1),
  CONSTRAINT "day_close_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "day_close_account_id_date_revision_key"
  ON "day_close" ("account_id", "date", "revision");

-- Each certificate contains the hash of the previous one, so a change would break the chain.
CREATE TRIGGER "day_close_is_append_only" BEFORE UPDATE OR DELETE
  ON "day_close" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();
CREATE TRIGGER "day_close_is_not_truncated" BEFORE TRUNCATE ON "day_close"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- The next day to close of an account, and the first day whose certificate must be amended.
CREATE TABLE "day_close_state" (
  "account_id" INTEGER NOT NULL,
  "next_date" TEXT NOT NULL,
  "seen_arrival" BIGINT NOT NULL DEFAULT 0,
  "amend_from" TEXT,

  CONSTRAINT "day_close_state_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "day_close_state_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- Exports

CREATE TABLE "export_file_number" (
  "account_id" INTEGER NOT NULL,
  "first_day" TEXT NOT NULL,
  "last_day" TEXT NOT NULL,
  "is_partial" BOOLEAN NOT NULL,
  "line_count" INTEGER NOT NULL,
  "number" INTEGER NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "export_file_number_pkey"
    PRIMARY KEY ("account_id", "first_day", "last_day", "is_partial", "line_count"),
  CONSTRAINT "export_file_number_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id"),
  -- A file header has six digits for it.
  CONSTRAINT "export_file_number_number" CHECK ("number" BETWEEN 1 AND 999999)
);
-- Programs refuse a file whose number they have imported already.
CREATE UNIQUE INDEX "export_file_number_account_id_number_key"
  ON "export_file_number" ("account_id", "number");

-- Events to business systems

-- The position of the account's last event. Its row lock makes positions follow the commits.
CREATE TABLE "event_position" (
  "account_id" INTEGER NOT NULL,
  "position" BIGINT NOT NULL,

  CONSTRAINT "event_position_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "event_position_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- An event, inserted in the transaction of the fact that it reports.
CREATE TABLE "event" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "position" BIGINT NOT NULL,
  "type" TEXT NOT NULL,
  "resource_kind" TEXT NOT NULL,
  "resource_id" TEXT NOT NULL,
  "sequence" INTEGER NOT NULL,
  "data" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "event_pkey" PRIMARY KEY ("account_id", "id")
);
CREATE UNIQUE INDEX "event_account_id_position_key" ON "event" ("account_id", "position");
CREATE UNIQUE INDEX "event_account_id_resource_kind_resource_id_sequence_key"
  ON "event" ("account_id", "resource_kind", "resource_id", "sequence");

-- The position of an event was taken from its account, whose row in "event_position" names the
-- bank account by a foreign key. So events need no foreign key of their own, which would look up
-- the account for each of them.
CREATE FUNCTION "event_took_its_position"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  offending int;
BEGIN
  SELECT newest.account_id INTO offending FROM (
    SELECT account_id, max(position) AS position FROM inserted GROUP BY account_id
  ) newest
  LEFT JOIN event_position taken ON taken.account_id = newest.account_id
  WHERE taken.position IS NULL OR taken.position < newest.position LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'an event of account % has a position that was not taken', offending
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "event_took_its_position" AFTER INSERT ON "event"
  REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT
  EXECUTE FUNCTION "event_took_its_position"();

-- How far the account's old events were swept, and the last position that was deleted.
CREATE TABLE "event_retention" (
  "account_id" INTEGER NOT NULL,
  "swept_position" BIGINT NOT NULL DEFAULT 0,
  "deleted_position" BIGINT NOT NULL DEFAULT 0,

  CONSTRAINT "event_retention_pkey" PRIMARY KEY ("account_id"),
  CONSTRAINT "event_retention_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

-- The next sequence of a resource follows from its newest event, which therefore stays.
CREATE FUNCTION "newest_event_stays"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  resource text;
BEGIN
  SELECT d.resource_kind || ' ' || d.resource_id INTO resource FROM deleted d
  WHERE NOT EXISTS (
    SELECT 1 FROM event e
    WHERE e.account_id = d.account_id AND e.resource_kind = d.resource_kind
      AND e.resource_id = d.resource_id AND e.sequence > d.sequence
  ) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the newest event of % stays', resource USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "newest_event_stays" AFTER DELETE ON "event"
  REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION "newest_event_stays"();

-- A webhook endpoint of a business system.
CREATE TABLE "webhook_endpoint" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "url" TEXT NOT NULL,
  "event_types" TEXT[],
  "description" TEXT,
  "secret" TEXT NOT NULL,
  "previous_secret" TEXT,
  "previous_secret_until" TIMESTAMPTZ(3),
  "is_enabled" BOOLEAN NOT NULL DEFAULT true,
  "includes_personal_data" BOOLEAN NOT NULL DEFAULT false,
  "paused_until" TIMESTAMPTZ(3),
  "tested_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "deleted_at" TIMESTAMPTZ(3),

  CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("account_id", "id"),
  -- A secret without an end would sign for ever.
  CONSTRAINT "webhook_endpoint_previous_secret_ends" CHECK (
    ("previous_secret" IS NULL) = ("previous_secret_until" IS NULL)
  ),
  CONSTRAINT "webhook_endpoint_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE TYPE "delivery_state" AS ENUM ('pending', 'delivered', 'dead');

-- The delivery of an event to an endpoint.
CREATE TABLE "delivery" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "event_id" UUID NOT NULL,
  "endpoint_id" UUID NOT NULL,
  "state" "delivery_state" NOT NULL,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_attempt_at" TIMESTAMPTZ(3),
  "last_status" INTEGER,
  "last_error" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "delivered_at" TIMESTAMPTZ(3),

  CONSTRAINT "delivery_pkey" PRIMARY KEY ("account_id", "id"),
  -- Due deliveries are found by next_attempt_at: a pending delivery without this time would never
  -- be sent.
  CONSTRAINT "delivery_pending_is_due" CHECK (
    ("state" = 'pending') = ("next_attempt_at" IS NOT NULL)
  ),
  CONSTRAINT "delivery_account_id_event_id_fkey" FOREIGN KEY ("account_id", "event_id")
    REFERENCES "event" ("account_id", "id"),
  CONSTRAINT "delivery_account_id_endpoint_id_fkey" FOREIGN KEY ("account_id", "endpoint_id")
    REFERENCES "webhook_endpoint" ("account_id", "id")
);
CREATE UNIQUE INDEX "delivery_account_id_event_id_endpoint_id_key"
  ON "delivery" ("account_id", "event_id", "endpoint_id");
CREATE INDEX "delivery_due"
  ON "delivery" ("account_id", "endpoint_id", "next_attempt_at") WHERE (state = 'pending');
CREATE INDEX "delivery_dead"
  ON "delivery" ("account_id", "endpoint_id", "event_id") WHERE (state = 'dead');

-- Counters

-- Counts of an account's rows. Triggers keep them equal to the rows, whoever writes these.
CREATE TABLE "account_counter" (
  "account_id" INTEGER NOT NULL,
  "kind" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "value" BIGINT NOT NULL,

  CONSTRAINT "account_counter_pkey" PRIMARY KEY ("account_id", "kind", "key")
);

-- Each function adds what a statement changed, in the order of the key: two such statements never
-- wait for each other.
CREATE FUNCTION "line_outcomes_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'lines', state, count(*) FROM after GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSE
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'lines', state, sum(change) FROM (
      SELECT account_id, state, 1 AS change FROM after
      UNION ALL SELECT account_id, state, -1 FROM before
    ) changed GROUP BY 1, 3 HAVING sum(change) <> 0 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "line_outcomes_are_counted_on_insert" AFTER INSERT ON "line_outcome"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "line_outcomes_are_counted"();
CREATE TRIGGER "line_outcomes_are_counted_on_update" AFTER UPDATE ON "line_outcome"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "line_outcomes_are_counted"();

-- Open expected payments, by the day on which they are due: overdue are those of earlier days.
CREATE FUNCTION "open_payments_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_payments', COALESCE(last_payment_day, ''), count(*) FROM after
    WHERE settlement = 'open' GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSE
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_payments', COALESCE(last_payment_day, ''), sum(change) FROM (
      SELECT account_id, settlement, last_payment_day, 1 AS change FROM after
      UNION ALL SELECT account_id, settlement, last_payment_day, -1 FROM before
    ) changed WHERE settlement = 'open' GROUP BY 1, 3 HAVING sum(change) <> 0 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  END IF;
  DELETE FROM account_counter WHERE kind = 'open_payments' AND value = 0
    AND account_id IN (SELECT account_id FROM after);
  RETURN NULL;
END $$;
CREATE TRIGGER "open_payments_are_counted_on_insert" AFTER INSERT ON "expected_payment_total"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "open_payments_are_counted"();
CREATE TRIGGER "open_payments_are_counted_on_update" AFTER UPDATE ON "expected_payment_total"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "open_payments_are_counted"();

CREATE FUNCTION "open_breaks_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_breaks', kind, count(*) FROM after WHERE state = 'open'
    GROUP BY 1, 3 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  ELSE
    INSERT INTO account_counter AS c (account_id, kind, key, value)
    SELECT account_id, 'open_breaks', kind, sum(change) FROM (
      SELECT account_id, kind, state, 1 AS change FROM after
      UNION ALL SELECT account_id, kind, state, -1 FROM before
    ) changed WHERE state = 'open' GROUP BY 1, 3 HAVING sum(change) <> 0 ORDER BY 1, 3
    ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "open_breaks_are_counted_on_insert" AFTER INSERT ON "break"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "open_breaks_are_counted"();
CREATE TRIGGER "open_breaks_are_counted_on_update" AFTER UPDATE ON "break"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "open_breaks_are_counted"();

-- The lines of a statement day by their outcome, and their amounts: what a chart of many days
-- reads. Only decisions write it, so that no sync waits for a decision.
CREATE TABLE "day_total" (
  "account_id" INTEGER NOT NULL,
  "day" TEXT NOT NULL,
  "state" "line_outcome_state" NOT NULL,
  "line_count" BIGINT NOT NULL,
  "credit_cents" BIGINT NOT NULL,
  "debit_cents" BIGINT NOT NULL,

  CONSTRAINT "day_total_pkey" PRIMARY KEY ("account_id", "day", "state")
);

CREATE FUNCTION "day_of_line"("occurred_at" TIMESTAMPTZ) RETURNS TEXT
  LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_char(($1 AT TIME ZONE 'UTC') - interval '3 hours', 'YYYY-MM-DD') $$;
-- An outcome of a line that is not stored has no day, and is refused: in place of a foreign key.
CREATE FUNCTION "outcomes_are_totalled"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO day_total AS d (account_id, day, state, line_count, credit_cents, debit_cents)
    SELECT o.account_id, line.day, o.state, count(*), sum(line.credit), sum(line.debit)
    FROM after o LEFT JOIN LATERAL (
      SELECT "day_of_line"(occurred_at) AS day,
             CASE WHEN is_credit THEN amount_cents ELSE 0 END AS credit,
             CASE WHEN is_credit THEN 0 ELSE amount_cents END AS debit
      FROM statement_line WHERE account_id = o.account_id AND nsu = o.nsu OFFSET 0
    ) line ON true
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (account_id, day, state) DO UPDATE
    SET line_count = d.line_count + EXCLUDED.line_count,
        credit_cents = d.credit_cents + EXCLUDED.credit_cents,
        debit_cents = d.debit_cents + EXCLUDED.debit_cents;
  ELSE
    INSERT INTO day_total AS d (account_id, day, state, line_count, credit_cents, debit_cents)
    SELECT o.account_id, line.day, o.state, sum(o.one), sum(o.one * line.credit),
           sum(o.one * line.debit)
    FROM (
      SELECT account_id, nsu, state, 1 AS one FROM after
      UNION ALL SELECT account_id, nsu, state, -1 FROM before
    ) o CROSS JOIN LATERAL (
      SELECT "day_of_line"(occurred_at) AS day,
             CASE WHEN is_credit THEN amount_cents ELSE 0 END AS credit,
             CASE WHEN is_credit THEN 0 ELSE amount_cents END AS debit
      FROM statement_line WHERE account_id = o.account_id AND nsu = o.nsu OFFSET 0
    ) line
    GROUP BY 1, 2, 3
    HAVING sum(o.one) <> 0 OR sum(o.one * line.credit) <> 0 OR sum(o.one * line.debit) <> 0
    ORDER BY 1, 2, 3
    ON CONFLICT (account_id, day, state) DO UPDATE
    SET line_count = d.line_count + EXCLUDED.line_count,
        credit_cents = d.credit_cents + EXCLUDED.credit_cents,
        debit_cents = d.debit_cents + EXCLUDED.debit_cents;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "outcomes_are_totalled_on_insert" AFTER INSERT ON "line_outcome"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "outcomes_are_totalled"();
CREATE TRIGGER "outcomes_are_totalled_on_update" AFTER UPDATE ON "line_outcome"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "outcomes_are_totalled"();

-- Open breaks by the day at the bank on which they were opened, their kind, and how many of the
-- account's amount steps they reach (-1 without an amount). Severity and age follow from these.
CREATE TABLE "open_break_total" (
  "account_id" INTEGER NOT NULL,
  "opened_day" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "amount_steps" INTEGER NOT NULL,
  "break_count" BIGINT NOT NULL,

  CONSTRAINT "open_break_total_pkey"
    PRIMARY KEY ("account_id", "opened_day", "kind", "amount_steps")
);

-- The amount steps of an account; those of src/reconciliation/breaks/severity.ts by default.
CREATE FUNCTION "amount_steps_of"("account" INTEGER) RETURNS BIGINT[] LANGUAGE sql STABLE AS $$
  SELECT COALESCE((
    SELECT amount_steps FROM severity_steps_change
    WHERE account_id = $1 ORDER BY sequence DESC LIMIT 1
  ), '{10000,100000,1000000}'::bigint[]) $$;
CREATE FUNCTION "reached_steps"("cents" BIGINT, "steps" BIGINT[]) RETURNS INTEGER
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN $1 IS NULL THEN -1
    ELSE ($1 >= $2[1])::int + ($1 >= $2[2])::int + ($1 >= $2[3])::int END $$;
CREATE FUNCTION "opened_day_of"("day" TEXT, "opened_at" TIMESTAMPTZ) RETURNS TEXT
  LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT COALESCE($1, to_char($2 AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD')) $$;

-- The lock is shared by all that open and resolve breaks: it keeps the steps until they commit.
CREATE FUNCTION "open_breaks_are_totalled"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(x'434f4e0a'::int, account_id)
  FROM (SELECT DISTINCT account_id FROM after ORDER BY 1) changed;
  IF TG_OP = 'INSERT' THEN
    WITH account AS MATERIALIZED (
      SELECT account_id, "amount_steps_of"(account_id) AS steps
      FROM (SELECT DISTINCT account_id FROM after) one
    )
    INSERT INTO open_break_total AS t (account_id, opened_day, kind, amount_steps, break_count)
    SELECT account_id, "opened_day_of"(opened_day, opened_at), kind,
           "reached_steps"(amount_cents, steps), count(*)
    FROM after JOIN account USING (account_id)
    WHERE state = 'open' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, opened_day, kind, amount_steps) DO UPDATE
    SET break_count = t.break_count + EXCLUDED.break_count;
  ELSE
    WITH account AS MATERIALIZED (
      SELECT account_id, "amount_steps_of"(account_id) AS steps
      FROM (SELECT DISTINCT account_id FROM after) one
    )
    INSERT INTO open_break_total AS t (account_id, opened_day, kind, amount_steps, break_count)
    SELECT account_id, "opened_day_of"(opened_day, opened_at), kind,
           "reached_steps"(amount_cents, steps), sum(one)
    FROM (
      SELECT account_id, opened_day, opened_at, kind, amount_cents, state, 1 AS one FROM after
      UNION ALL
      SELECT account_id, opened_day, opened_at, kind, amount_cents, state, -1 FROM before
    ) changed JOIN account USING (account_id)
    WHERE state = 'open' GROUP BY 1, 2, 3, 4 HAVING sum(one) <> 0 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, opened_day, kind, amount_steps) DO UPDATE
    SET break_count = t.break_count + EXCLUDED.break_count;
    DELETE FROM open_break_total t
    USING (SELECT DISTINCT account_id, "opened_day_of"(opened_day, opened_at) AS day FROM before) b
    WHERE t.account_id = b.account_id AND t.opened_day = b.day AND t.break_count = 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "open_breaks_are_totalled_on_insert" AFTER INSERT ON "break"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "open_breaks_are_totalled"();
CREATE TRIGGER "open_breaks_are_totalled_on_update" AFTER UPDATE ON "break"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "open_breaks_are_totalled"();

-- Other steps: the open breaks of the account are totalled again, once nobody changes them.
CREATE FUNCTION "steps_total_breaks_again"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(x'434f4e0a'::int, NEW.account_id);
  DELETE FROM open_break_total WHERE account_id = NEW.account_id;
  INSERT INTO open_break_total (account_id, opened_day, kind, amount_steps, break_count)
  SELECT NEW.account_id, "opened_day_of"(b.opened_day, b.opened_at), c.key,
         "reached_steps"(b.amount_cents, account.steps), count(*)
  FROM (SELECT "amount_steps_of"(NEW.account_id) AS steps OFFSET 0) account
  CROSS JOIN account_counter c
  CROSS JOIN LATERAL (
    SELECT opened_day, opened_at, amount_cents FROM break
    WHERE account_id = NEW.account_id AND kind = c.key AND state = 'open' OFFSET 0
  ) b
  WHERE c.account_id = NEW.account_id AND c.kind = 'open_breaks'
  GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;
CREATE TRIGGER "severity_steps_change_totals_breaks" AFTER INSERT ON "severity_steps_change"
  FOR EACH ROW EXECUTE FUNCTION "steps_total_breaks_again"();

-- Processed webhooks with their copies. The others are few, and counted when they are read: no
-- receipt of a webhook waits for the counter.
CREATE FUNCTION "processed_webhooks_are_counted"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Storing webhooks updates none, or the few that came again.
  IF NOT EXISTS (SELECT FROM after WHERE state = 'processed')
     AND NOT EXISTS (SELECT FROM before WHERE state = 'processed') THEN
    RETURN NULL;
  END IF;
  INSERT INTO account_counter AS c (account_id, kind, key, value)
  SELECT account_id, 'webhooks', 'processed', sum(change) FROM (
    SELECT account_id, state, copies AS change FROM after
    UNION ALL SELECT account_id, state, -copies FROM before
  ) changed WHERE state = 'processed' GROUP BY 1 HAVING sum(change) <> 0 ORDER BY 1
  ON CONFLICT (account_id, kind, key) DO UPDATE SET value = c.value + EXCLUDED.value;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  INSERT INTO webhook_event_count AS c (account_id, is_day, starts_at, event_type, received, copies)
  SELECT account_id, is_day, span.starts_at, event_type, sum(one), sum(one * (copies - 1)) FROM (
    SELECT account_id, state, received_at_bank_time AS at, event_type, copies, 1 AS one FROM after
    UNION ALL
    SELECT account_id, state, received_at_bank_time, event_type, copies, -1 FROM before
  ) changed
  CROSS JOIN LATERAL (VALUES
    (false, date_trunc('hour', at, 'UTC')),
    (true, date_trunc('day', at - interval '3 hours', 'UTC') + interval '3 hours')
  ) span(is_day, starts_at)
  WHERE state = 'processed' GROUP BY 1, 2, 3, 4
  HAVING sum(one) <> 0 OR sum(one * (copies - 1)) <> 0 ORDER BY 1, 2, 3, 4
  ON CONFLICT (account_id, is_day, starts_at, event_type) DO UPDATE
  SET received = c.received + EXCLUDED.received, copies = c.copies + EXCLUDED.copies;
  RETURN NULL;
END $$;
CREATE TRIGGER "processed_webhooks_are_counted" AFTER UPDATE ON "webhook_event"
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT
  EXECUTE FUNCTION "processed_webhooks_are_counted"();

-- The bank's own webhooks for clients of the bank

CREATE TABLE "relay_registration" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "event_type" TEXT NOT NULL,
  "url" TEXT NOT NULL,
  "authorization_scheme" TEXT NOT NULL,
  "authorization" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "relay_registration_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "relay_registration_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "relay_registration_account_id_event_type_key"
  ON "relay_registration" ("account_id", "event_type");

CREATE TABLE "relay_delivery" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "registration_id" UUID NOT NULL,
  "event_type" TEXT NOT NULL,
  "body_hash" TEXT NOT NULL,
  "state" "delivery_state" NOT NULL,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_attempt_at" TIMESTAMPTZ(3),
  "last_status" INTEGER,
  "last_error" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "relay_delivery_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "relay_delivery_account_id_registration_id_fkey"
    FOREIGN KEY ("account_id", "registration_id")
    REFERENCES "relay_registration" ("account_id", "id"),
  CONSTRAINT "relay_delivery_account_id_event_type_body_hash_fkey"
    FOREIGN KEY ("account_id", "event_type", "body_hash")
    REFERENCES "webhook_event" ("account_id", "event_type", "body_hash")
);
CREATE UNIQUE INDEX "relay_delivery_account_id_registration_id_event_type_body_h_key"
  ON "relay_delivery" ("account_id", "registration_id", "event_type", "body_hash");
CREATE INDEX "relay_delivery_due"
  ON "relay_delivery" ("account_id", "registration_id", "next_attempt_at")
  WHERE (state = 'pending');
CREATE INDEX "relay_delivery_ended" ON "relay_delivery" ("created_at") WHERE (state <> 'pending');

-- A webhook is relayed when the statement shows what it is about, or when it waits for no line any
-- more: in the transaction in which it is processed. Webhooks that no line can show are relayed
-- when they are stored.
CREATE FUNCTION "webhooks_are_relayed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM relay_registration) THEN
    RETURN NULL;
  END IF;
  INSERT INTO relay_delivery
    (account_id, id, registration_id, event_type, body_hash, state, next_attempt_at)
  SELECT w.account_id, gen_random_uuid(), r.id, w.event_type, w.body_hash, 'pending',
         clock_timestamp()
  FROM after w
  JOIN relay_registration r ON r.account_id = w.account_id AND r.event_type = w.event_type
  WHERE w.body IS NOT NULL AND CASE TG_OP
    WHEN 'INSERT' THEN w.state IN ('quarantined', 'unhandled')
      OR w.event_type IN ('CHARGE_OVERDUE', 'CHARGE_CANCELLED', 'CHARGE_VOIDED')
    ELSE w.state = 'processed' END
  ORDER BY w.account_id, r.id, w.event_type, w.body_hash
  -- A registration that is removed meanwhile gets nothing, and fails nobody's webhooks.
  FOR KEY SHARE OF r
  ON CONFLICT (account_id, registration_id, event_type, body_hash) DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "stored_webhooks_are_relayed" AFTER INSERT ON "webhook_event"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "webhooks_are_relayed"();
CREATE TRIGGER "webhooks_with_a_line_are_relayed" AFTER UPDATE ON "webhook_event"
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION "webhooks_are_relayed"();

-- Alerts

CREATE TYPE "alert_channel_kind" AS ENUM ('email', 'slack', 'webhook');
CREATE TYPE "alert_language" AS ENUM ('pt', 'en');

-- Where people get alerts.
CREATE TABLE "alert_channel" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "kind" "alert_channel_kind" NOT NULL,
  "name" TEXT NOT NULL,
  "language" "alert_language" NOT NULL DEFAULT 'pt',
  "destination" TEXT NOT NULL,
  "tested_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "deleted_at" TIMESTAMPTZ(3),

  CONSTRAINT "alert_channel_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "alert_channel_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);

CREATE TYPE "alert_condition_kind" AS ENUM (
  'break_open', 'webhook_loss', 'deliveries_dead', 'no_sync', 'day_not_certified',
  'approval_waiting', 'debit_waiting'
);
-- In ascending order: queries compare them.
CREATE TYPE "alert_severity" AS ENUM ('low', 'medium', 'high', 'critical');

-- When people are alerted, and where.
CREATE TABLE "alert_rule" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "condition_kind" "alert_condition_kind" NOT NULL,
  "condition" TEXT NOT NULL,
  "severity" "alert_severity" NOT NULL,
  "group_seconds" INTEGER NOT NULL,
  "notifies_cleared" BOOLEAN NOT NULL,
  "remind_after_hours" INTEGER,
  "is_enabled" BOOLEAN NOT NULL,
  "evaluated_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "deleted_at" TIMESTAMPTZ(3),

  CONSTRAINT "alert_rule_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "alert_rule_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE INDEX "alert_rule_enabled" ON "alert_rule" ("account_id")
  WHERE (is_enabled AND deleted_at IS NULL);

-- A channel that gets the messages of a rule.
CREATE TABLE "alert_rule_channel" (
  "account_id" INTEGER NOT NULL,
  "rule_id" UUID NOT NULL,
  "channel_id" UUID NOT NULL,

  CONSTRAINT "alert_rule_channel_pkey" PRIMARY KEY ("account_id", "rule_id", "channel_id"),
  CONSTRAINT "alert_rule_channel_account_id_rule_id_fkey" FOREIGN KEY ("account_id", "rule_id")
    REFERENCES "alert_rule" ("account_id", "id"),
  CONSTRAINT "alert_rule_channel_account_id_channel_id_fkey"
    FOREIGN KEY ("account_id", "channel_id") REFERENCES "alert_channel" ("account_id", "id")
);

CREATE TYPE "alert_state" AS ENUM ('firing', 'acknowledged', 'cleared');
CREATE TYPE "alert_message_kind" AS ENUM ('fired', 'cleared', 'reminder');

-- What a rule found about one subject, until its cause is gone.
CREATE TABLE "alert" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "rule_id" UUID NOT NULL,
  "subject" TEXT NOT NULL,
  "state" "alert_state" NOT NULL,
  "severity" "alert_severity" NOT NULL,
  "amount_cents" BIGINT,
  "detail" JSONB NOT NULL,
  "fired_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "last_seen_at" TIMESTAMPTZ(3),
  "acknowledged_at" TIMESTAMPTZ(3),
  "cleared_at" TIMESTAMPTZ(3),
  "pending_message" "alert_message_kind",
  "notified_at" TIMESTAMPTZ(3),

  CONSTRAINT "alert_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "alert_cleared" CHECK (("state" = 'cleared') = ("cleared_at" IS NOT NULL)),
  CONSTRAINT "alert_account_id_rule_id_fkey" FOREIGN KEY ("account_id", "rule_id")
    REFERENCES "alert_rule" ("account_id", "id")
);
-- Two processes that evaluate a rule at once fire an alert once.
CREATE UNIQUE INDEX "alert_open" ON "alert" ("account_id", "rule_id", "subject")
  WHERE (state <> 'cleared');
CREATE INDEX "alert_pending_message" ON "alert" ("account_id", "rule_id", "pending_message")
  WHERE (pending_message IS NOT NULL);
CREATE INDEX "alert_firing" ON "alert" ("account_id", "rule_id", "notified_at")
  WHERE (state = 'firing');
CREATE INDEX "alert_account_id_state_id_idx" ON "alert" ("account_id", "state", "id");
CREATE INDEX "alert_account_id_rule_id_id_idx" ON "alert" ("account_id", "rule_id", "id");

CREATE TYPE "alert_history_action" AS ENUM ('fired', 'acknowledged', 'cleared');

-- The history of alerts.
CREATE TABLE "alert_history_entry" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "alert_id" UUID NOT NULL,
  "action" "alert_history_action" NOT NULL,
  "actor" TEXT,
  "reason" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "alert_history_entry_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "alert_history_entry_account_id_alert_id_fkey" FOREIGN KEY ("account_id", "alert_id")
    REFERENCES "alert" ("account_id", "id")
);
CREATE INDEX "alert_history_entry_account_id_alert_id_idx"
  ON "alert_history_entry" ("account_id", "alert_id");

CREATE TRIGGER "alert_history_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "alert_history_entry" FOR EACH ROW EXECUTE FUNCTION "is_append_only"();

-- A message about alerts of one rule.
CREATE TABLE "alert_message" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "rule_id" UUID NOT NULL,
  "kind" "alert_message_kind" NOT NULL,
  "alert_count" INTEGER NOT NULL,
  "amount_cents" BIGINT,
  "without_amount" INTEGER NOT NULL,
  "severities" JSONB NOT NULL,
  "items" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT "alert_message_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "alert_message_account_id_rule_id_fkey" FOREIGN KEY ("account_id", "rule_id")
    REFERENCES "alert_rule" ("account_id", "id")
);

-- A message for one channel.
CREATE TABLE "alert_notification" (
  "account_id" INTEGER NOT NULL,
  "id" UUID NOT NULL,
  "message_id" UUID NOT NULL,
  "channel_id" UUID NOT NULL,
  "state" "delivery_state" NOT NULL,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_attempt_at" TIMESTAMPTZ(3),
  "last_status" INTEGER,
  "last_error" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "delivered_at" TIMESTAMPTZ(3),

  CONSTRAINT "alert_notification_pkey" PRIMARY KEY ("account_id", "id"),
  CONSTRAINT "alert_notification_account_id_message_id_fkey"
    FOREIGN KEY ("account_id", "message_id") REFERENCES "alert_message" ("account_id", "id"),
  CONSTRAINT "alert_notification_account_id_channel_id_fkey"
    FOREIGN KEY ("account_id", "channel_id") REFERENCES "alert_channel" ("account_id", "id")
);
CREATE UNIQUE INDEX "alert_notification_account_id_message_id_channel_id_key"
  ON "alert_notification" ("account_id", "message_id", "channel_id");
CREATE INDEX "alert_notification_due"
  ON "alert_notification" ("account_id", "channel_id", "next_attempt_at")
  WHERE (state = 'pending');
CREATE INDEX "alert_notification_dead" ON "alert_notification" ("account_id")
  WHERE (state = 'dead');

DROP FUNCTION "trigger_checks"(text, regclass);
