-- The log of decisions, rule versions, approvals, rights and policies. A row names a fact of
-- another table; only what a right was is stored here, as rights have no history. Its place in the
-- log is given after the commit of the fact: no late commit changes the log of an earlier day.
CREATE TABLE "decision_log_entry" (
  "account_id" INTEGER NOT NULL,
  "sequence" BIGSERIAL NOT NULL,
  "kind" TEXT NOT NULL,
  "key" TEXT[] NOT NULL,
  "detail" JSONB,
  "salt" TEXT NOT NULL DEFAULT replace((gen_random_uuid())::text, '-'::text, ''::text),
  "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
  "position" BIGINT,
  "leaf_hash" BYTEA,
  "commitment" TEXT,

  CONSTRAINT "decision_log_entry_pkey" PRIMARY KEY ("account_id", "sequence"),
  CONSTRAINT "decision_log_entry_position" CHECK (
    num_nulls("position", "leaf_hash", "commitment") IN (0, 3)
  ),
  CONSTRAINT "decision_log_entry_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "bank_account" ("id")
);
CREATE UNIQUE INDEX "decision_log_entry_account_id_position_key"
  ON "decision_log_entry" ("account_id", "position");
CREATE INDEX "decision_log_entry_pending" ON "decision_log_entry" ("account_id", "sequence")
  WHERE "position" IS NULL;

-- The place is given once, and nothing else changes.
CREATE FUNCTION "decision_log_is_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.position IS NULL
     AND to_jsonb(OLD) - '{position,leaf_hash,commitment}'::text[]
       = to_jsonb(NEW) - '{position,leaf_hash,commitment}'::text[] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "decision_log_entry_is_append_only" BEFORE UPDATE OR DELETE
  ON "decision_log_entry" FOR EACH ROW EXECUTE FUNCTION "decision_log_is_append_only"();
CREATE TRIGGER "decision_log_entry_is_not_truncated" BEFORE TRUNCATE ON "decision_log_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION "is_append_only"();

-- Logs a row that is never changed. The arguments are the columns of its key.
CREATE FUNCTION "logs_decision"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  fact jsonb := to_jsonb(NEW);
BEGIN
  INSERT INTO decision_log_entry (account_id, kind, key)
  SELECT (fact->>'account_id')::int, TG_TABLE_NAME, array_agg(fact->>name ORDER BY place)
  FROM unnest(TG_ARGV) WITH ORDINALITY AS named(name, place);
  RETURN NULL;
END $$;

-- What a right is, of a row of `api_key`, `operator_role` or `operator`; null without a row.
CREATE FUNCTION "right_of"("kind" text, "fact" jsonb) RETURNS jsonb
LANGUAGE sql STABLE SET timezone = 'UTC' AS $$
  SELECT CASE
    WHEN fact IS NULL THEN NULL
    WHEN kind = 'operator' THEN jsonb_build_object(
      'role', fact->'role_everywhere', 'isDisabled', fact->>'disabled_at' IS NOT NULL)
    WHEN kind = 'operator_role' THEN jsonb_build_object('role', fact->'role')
    ELSE jsonb_build_object(
      'kind', fact->'kind', 'scopes', fact->'scopes', 'holder', fact->'holder',
      'hash', fact->'hash', 'expiresAt', (fact->>'expires_at')::timestamptz,
      'revokedAt', (fact->>'revoked_at')::timestamptz)
  END
$$;

-- Logs what a right has become, in each account in which it counts. A new account and a change of
-- roles wait for each other: neither sees what the other has not committed.
CREATE FUNCTION "logs_right"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  fact jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
  row_of jsonb := COALESCE(fact, former);
  detail jsonb := right_of(TG_TABLE_NAME, fact);
BEGIN
  IF detail IS NOT DISTINCT FROM right_of(TG_TABLE_NAME, former) THEN RETURN NULL; END IF;
  IF TG_TABLE_NAME <> 'api_key' THEN PERFORM pg_advisory_xact_lock(x'434f4e0b'::int, 0); END IF;
  IF TG_TABLE_NAME <> 'operator' THEN
    INSERT INTO decision_log_entry (account_id, kind, key, detail)
    VALUES ((row_of->>'account_id')::int, TG_TABLE_NAME,
            ARRAY[COALESCE(row_of->>'operator_id', row_of->>'id')], COALESCE(detail, 'null'));
  ELSE
    INSERT INTO decision_log_entry (account_id, kind, key, detail)
    SELECT a.id, TG_TABLE_NAME, ARRAY[row_of->>'id'], COALESCE(detail, 'null')
    FROM bank_account a
    WHERE COALESCE(fact->>'role_everywhere', former->>'role_everywhere') IS NOT NULL
       OR EXISTS (SELECT FROM operator_role r
                  WHERE r.account_id = a.id AND r.operator_id = (row_of->>'id')::uuid)
    ORDER BY a.id;
  END IF;
  RETURN NULL;
END $$;

-- Who has a role everywhere has it in a new account.
CREATE FUNCTION "logs_rights_of_account"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(x'434f4e0b'::int, 0);
  INSERT INTO decision_log_entry (account_id, kind, key, detail)
  SELECT NEW.id, 'operator', ARRAY[o.id::text], right_of('operator', to_jsonb(o))
  FROM operator o WHERE o.role_everywhere IS NOT NULL ORDER BY o.id;
  RETURN NULL;
END $$;

-- The log up to which leaves have a place: their number, and the roots of its complete subtrees.
ALTER TABLE "day_close_state"
  ADD COLUMN "decision_count" BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN "decision_subtrees" BYTEA NOT NULL DEFAULT '';
