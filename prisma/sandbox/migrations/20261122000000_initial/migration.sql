-- The schema of the sandbox bank's database, table by table in the order of its modules.
-- Prisma's schema (prisma/sandbox/schema.prisma) has the columns, keys and indexes, except for one
-- index on an expression. Check constraints, functions and triggers are only here. They protect the
-- ledger from every program that writes to it.

-- Accounts

-- A customer's account, or an internal account of the bank through which money enters and leaves.
CREATE TABLE "account" (
  "id" SERIAL NOT NULL,
  "kind" TEXT NOT NULL,
  "branch" TEXT NOT NULL,
  "number" TEXT NOT NULL,
  "holder_name" TEXT NOT NULL,
  "holder_document" TEXT NOT NULL,
  "holder_type" TEXT NOT NULL,
  "street" TEXT NOT NULL DEFAULT '',
  "city" TEXT NOT NULL DEFAULT '',
  "state" TEXT NOT NULL DEFAULT '',
  "zip_code" TEXT NOT NULL DEFAULT '',
  "email" TEXT NOT NULL DEFAULT '',
  "opening_balance_cents" BIGINT NOT NULL DEFAULT 0,
  "balance_cents" BIGINT,
  "last_nsu" BIGINT NOT NULL DEFAULT 0,
  "tail_nsu" BIGINT,
  "skipped_nsu" BIGINT,
  "blocked_cents" BIGINT NOT NULL DEFAULT 0,
  "created_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "account_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "account_kind_check" CHECK ("kind" IN ('customer', 'internal')),
  CONSTRAINT "account_holder_type_check" CHECK ("holder_type" IN ('NATURAL', 'LEGAL')),
  -- An internal account has no balance: otherwise every movement would wait for a lock on its row.
  -- A customer's balance is never negative.
  CONSTRAINT "account_balance_check" CHECK (
    ("kind" = 'internal' AND "balance_cents" IS NULL AND "opening_balance_cents" = 0)
    OR ("kind" = 'customer' AND "balance_cents" IS NOT NULL AND "balance_cents" >= 0
        AND "opening_balance_cents" >= 0)
  ),
  CONSTRAINT "account_blocked_check" CHECK (
    "blocked_cents" >= 0 AND "blocked_cents" <= coalesce("balance_cents", 0)
  ),
  -- The largest amount that a number of the contract can hold exactly.
  CONSTRAINT "account_balance_limit_check" CHECK ("balance_cents" <= 99999999999999),
  CONSTRAINT "account_nsu_check" CHECK (
    coalesce("tail_nsu", 0) <= "last_nsu" AND "skipped_nsu" < "last_nsu"
  )
);
CREATE UNIQUE INDEX "account_number_key" ON "account" ("number");

-- An API key. Only its SHA-256 is stored.
CREATE TABLE "api_key" (
  "key_hash" TEXT NOT NULL,
  "account_id" INTEGER NOT NULL,

  CONSTRAINT "api_key_pkey" PRIMARY KEY ("key_hash"),
  CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "api_key_account_id_idx" ON "api_key" ("account_id");

-- A customer of the onboarding API, with the account that was opened.
CREATE TABLE "customer" (
  "id" UUID NOT NULL,
  "document" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "details" JSON NOT NULL,
  "password_hash" TEXT NOT NULL,
  "security_password_hash" TEXT NOT NULL,
  "account_id" INTEGER NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "customer_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "customer_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "customer_status_check" CHECK ("status" IN ('PROCESSING', 'APPROVED', 'REJECTED'))
);
CREATE UNIQUE INDEX "customer_document_key" ON "customer" ("document");
CREATE UNIQUE INDEX "customer_account_id_key" ON "customer" ("account_id");

-- Ledger and statement

-- A movement of money. The changes of its entries add up to zero.
CREATE TABLE "movement" (
  "id" BIGSERIAL NOT NULL,
  "kind" TEXT NOT NULL,
  "idempotency_key" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "movement_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "movement_kind_check" CHECK ("kind" IN ('opening', 'ordinary'))
);

-- The part of a movement that changes one account.
CREATE TABLE "entry" (
  "movement_id" BIGINT NOT NULL,
  "account_id" INTEGER NOT NULL,
  "change_cents" BIGINT NOT NULL,

  CONSTRAINT "entry_pkey" PRIMARY KEY ("movement_id", "account_id"),
  CONSTRAINT "entry_movement_id_fkey" FOREIGN KEY ("movement_id")
    REFERENCES "movement"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "entry_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "entry_change_check" CHECK ("change_cents" <> 0)
);
-- Statement lines refer to an entry with its amount.
CREATE UNIQUE INDEX "entry_movement_id_account_id_change_cents_key"
  ON "entry" ("movement_id", "account_id", "change_cents");
CREATE INDEX "entry_account_id_idx" ON "entry" ("account_id");

-- An entry as the statement shows it. The lines of an account form a chain.
CREATE TABLE "statement_line" (
  "account_id" INTEGER NOT NULL,
  "nsu" BIGINT NOT NULL,
  "previous_nsu" BIGINT,
  "id" UUID NOT NULL DEFAULT gen_random_uuid(),
  "movement_id" BIGINT NOT NULL,
  "change_cents" BIGINT NOT NULL,
  "balance_previous_cents" BIGINT NOT NULL,
  "current_balance_cents" BIGINT NOT NULL,
  "type_name" TEXT NOT NULL,
  "notes" TEXT,
  "correlation_id" TEXT,
  "external_id" TEXT,
  "end_to_end_id" TEXT,
  "original_end_to_end_id" TEXT,
  "proof" JSON,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "visible_at" TIMESTAMPTZ(3),
  "shown_type_name" TEXT NOT NULL,
  "preset" TEXT NOT NULL DEFAULT 'complete',
  "hides_external_id" BOOLEAN NOT NULL DEFAULT false,
  "hides_original_id" BOOLEAN NOT NULL DEFAULT false,

  CONSTRAINT "statement_line_pkey" PRIMARY KEY ("account_id", "nsu"),
  CONSTRAINT "statement_line_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "statement_line_movement_id_account_id_change_cents_fkey"
    FOREIGN KEY ("movement_id", "account_id", "change_cents")
    REFERENCES "entry"("movement_id", "account_id", "change_cents")
    ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "statement_line_change_check" CHECK ("change_cents" <> 0),
  CONSTRAINT "statement_line_balance_check" CHECK (
    "current_balance_cents" = "balance_previous_cents" + "change_cents"
  ),
  CONSTRAINT "statement_line_not_negative_check" CHECK ("current_balance_cents" >= 0),
  CONSTRAINT "statement_line_visible_check" CHECK ("visible_at" >= "created_at"),
  CONSTRAINT "statement_line_preset_check"
    CHECK ("preset" IN ('contract', 'published', 'complete'))
);
CREATE UNIQUE INDEX "statement_line_account_id_nsu_current_balance_cents_key"
  ON "statement_line" ("account_id", "nsu", "current_balance_cents");
-- A line has at most one next line, and an account has one first line. So its chain has one end.
CREATE UNIQUE INDEX "statement_line_account_id_previous_nsu_key"
  ON "statement_line" ("account_id", "previous_nsu");
CREATE UNIQUE INDEX "statement_line_first_key"
  ON "statement_line" ("account_id") WHERE (previous_nsu IS NULL);
CREATE UNIQUE INDEX "statement_line_movement_id_account_id_change_cents_key"
  ON "statement_line" ("movement_id", "account_id", "change_cents");
CREATE INDEX "statement_line_account_id_created_at_nsu_idx"
  ON "statement_line" ("account_id", "created_at", "nsu");
CREATE INDEX "statement_line_account_id_end_to_end_id_idx"
  ON "statement_line" ("account_id", "end_to_end_id");
CREATE INDEX "statement_line_account_id_correlation_id_idx"
  ON "statement_line" ("account_id", "correlation_id");
CREATE INDEX "statement_line_account_id_original_end_to_end_id_idx"
  ON "statement_line" ("account_id", "original_end_to_end_id");
CREATE INDEX "statement_line_account_id_nsu_created_at_visible_at_idx"
  ON "statement_line" ("account_id", "nsu", "created_at", "visible_at");
CREATE INDEX "statement_line_account_id_shown_type_name_nsu_idx"
  ON "statement_line" ("account_id", "shown_type_name", "nsu");
-- The previous balance of a line is the current balance of the line before it.
ALTER TABLE "statement_line" ADD CONSTRAINT
  "statement_line_account_id_previous_nsu_balance_previous_ce_fkey"
  FOREIGN KEY ("account_id", "previous_nsu", "balance_previous_cents")
  REFERENCES "statement_line"("account_id", "nsu", "current_balance_cents")
  ON DELETE RESTRICT ON UPDATE RESTRICT;

-- The ledger is append-only. A sandbox is reset with TRUNCATE, which these triggers do not reject.
CREATE FUNCTION "reject_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "movement_final" BEFORE UPDATE OR DELETE ON "movement"
  FOR EACH ROW EXECUTE FUNCTION "reject_change"();
CREATE TRIGGER "entry_final" BEFORE UPDATE OR DELETE ON "entry"
  FOR EACH ROW EXECUTE FUNCTION "reject_change"();
CREATE TRIGGER "statement_line_final" BEFORE UPDATE OR DELETE ON "statement_line"
  FOR EACH ROW EXECUTE FUNCTION "reject_change"();

-- Checked at commit for each entry of a movement: the movement has two or more entries, they add up
-- to zero, and each change of a customer's account is on the statement.
CREATE FUNCTION "check_movement"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  entries integer;
  total numeric;
  missing_lines integer;
BEGIN
  SELECT count(*), coalesce(sum(entry.change_cents), 0),
         count(*) FILTER (WHERE line.nsu IS NULL AND account.kind = 'customer')
    INTO entries, total, missing_lines
    FROM entry
    JOIN account ON account.id = entry.account_id
    LEFT JOIN statement_line AS line
      ON line.movement_id = entry.movement_id AND line.account_id = entry.account_id
         AND line.change_cents = entry.change_cents
    WHERE entry.movement_id = NEW.movement_id;
  IF entries < 2 OR total <> 0 THEN
    RAISE EXCEPTION 'movement % is not balanced: % entries, sum %', NEW.movement_id, entries, total
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_balanced';
  END IF;
  -- The opening balance of an account is not on its statement.
  IF missing_lines > 0
     AND EXISTS (SELECT FROM movement WHERE id = NEW.movement_id AND kind = 'ordinary') THEN
    RAISE EXCEPTION 'movement % is missing on a statement', NEW.movement_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_on_statement';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "entry_balanced" AFTER INSERT ON "entry"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_movement"();

-- The trigger of entries does not check a movement without entries, so this trigger does.
CREATE FUNCTION "check_movement_has_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM entry WHERE movement_id = NEW.id) THEN
    RAISE EXCEPTION 'movement % is not balanced: it has no entries', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_balanced';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "movement_balanced" AFTER INSERT ON "movement"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_movement_has_entries"();

-- Checked at commit when an account changes: its balance is the current balance at the end of its
-- chain of lines.
-- The end of the chain is found from the newest line on: with a scalar subquery PostgreSQL looks up
-- the follower of one line after another, and does not compare all lines of the account at each
-- commit.
CREATE FUNCTION "check_account_balance"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  chain_end bigint;
  held account%ROWTYPE;
BEGIN
  SELECT * INTO held FROM account WHERE id = NEW.id;
  IF held.kind <> 'customer' THEN RETURN NULL; END IF;
  SELECT line.current_balance_cents INTO chain_end FROM statement_line AS line
    WHERE line.account_id = NEW.id
      AND (SELECT follower.nsu FROM statement_line AS follower
           WHERE follower.account_id = NEW.id AND follower.previous_nsu = line.nsu LIMIT 1) IS NULL
    ORDER BY line.nsu DESC LIMIT 1;
  IF held.balance_cents IS DISTINCT FROM coalesce(chain_end, held.opening_balance_cents) THEN
    RAISE EXCEPTION 'account % holds %, its lines end at %', held.number, held.balance_cents,
      chain_end
      USING ERRCODE = 'check_violation', CONSTRAINT = 'account_balance_matches_lines';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "account_balance_matches_lines" AFTER INSERT OR UPDATE ON "account"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_account_balance"();

-- Checked at commit for each new line: the current balance at the end of the chain is the balance
-- of the account, and the first line begins at the opening balance. A line with a next line is not
-- the end of the chain. The next line of a new line is new too, and has its own check.
CREATE FUNCTION "check_line"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_end boolean;
  held account%ROWTYPE;
BEGIN
  is_end := NOT EXISTS (
    SELECT FROM statement_line WHERE account_id = NEW.account_id AND previous_nsu = NEW.nsu
  );
  IF NOT is_end AND NEW.previous_nsu IS NOT NULL THEN RETURN NULL; END IF;
  SELECT * INTO held FROM account WHERE id = NEW.account_id;
  IF is_end AND held.kind = 'customer'
     AND held.balance_cents IS DISTINCT FROM NEW.current_balance_cents THEN
    RAISE EXCEPTION 'account % holds %, its lines end at %', held.number, held.balance_cents,
      NEW.current_balance_cents
      USING ERRCODE = 'check_violation', CONSTRAINT = 'account_balance_matches_lines';
  END IF;
  IF held.kind = 'customer' AND NEW.previous_nsu IS NULL
     AND NEW.balance_previous_cents <> held.opening_balance_cents THEN
    RAISE EXCEPTION 'the first line of account % does not begin at its opening balance', held.number
      USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_line_anchored';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "statement_line_balance_matches_account" AFTER INSERT ON "statement_line"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_line"();

-- Idempotency records

-- The stored response to an idempotency key.
CREATE TABLE "idempotent_request" (
  "account_id" INTEGER NOT NULL,
  "operation" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "body_hash" TEXT NOT NULL,
  "status" INTEGER,
  "answer" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "idempotent_request_pkey" PRIMARY KEY ("account_id", "operation", "key"),
  CONSTRAINT "idempotent_request_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);

-- Charges

-- A bank slip, a bank slip with a QR code, or a static QR code.
CREATE TABLE "charge" (
  "id" BIGSERIAL NOT NULL,
  "account_id" INTEGER NOT NULL,
  "correlation_id" TEXT NOT NULL,
  "type" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "amount_cents" BIGINT,
  "wallet" INTEGER,
  "our_number" TEXT,
  "your_number" TEXT,
  "due_date" DATE,
  "bar_code" TEXT,
  "digitable_line" TEXT,
  "payer" JSON,
  "final_beneficiary" JSON,
  "adjustments" JSON,
  "pix_key" TEXT,
  "txid" TEXT,
  "qr_code" TEXT,
  "description" TEXT,
  "additional_information" TEXT,
  "body_hash" TEXT NOT NULL,
  "answer" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "charge_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "charge_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "charge_type_check" CHECK ("type" IN ('BANKSLIP', 'BANKSLIP_PIX', 'PIX_STATIC')),
  -- Null when the payer chooses the amount.
  CONSTRAINT "charge_amount_check" CHECK ("amount_cents" > 0),
  -- A bank slip has all fields that its payment needs.
  CONSTRAINT "charge_slip_check" CHECK (
    "type" = 'PIX_STATIC'
    OR ("amount_cents" IS NOT NULL AND "wallet" IN (112, 121) AND "our_number" IS NOT NULL
        AND "due_date" IS NOT NULL AND "bar_code" IS NOT NULL AND "digitable_line" IS NOT NULL)
  ),
  -- A QR code has all fields that its payment by Pix needs.
  CONSTRAINT "charge_qr_code_check" CHECK (
    "type" = 'BANKSLIP'
    OR ("pix_key" IS NOT NULL AND "txid" IS NOT NULL AND "qr_code" IS NOT NULL)
  )
);
CREATE UNIQUE INDEX "charge_bar_code_key" ON "charge" ("bar_code");
CREATE UNIQUE INDEX "charge_account_id_correlation_id_key"
  ON "charge" ("account_id", "correlation_id");
CREATE UNIQUE INDEX "charge_account_id_wallet_our_number_key"
  ON "charge" ("account_id", "wallet", "our_number");
CREATE INDEX "charge_account_id_txid_idx" ON "charge" ("account_id", "txid");
CREATE INDEX "charge_account_id_created_at_id_idx" ON "charge" ("account_id", "created_at", "id");

-- '77' and '077' are the same number of eleven digits; it is stored as it was sent.
CREATE UNIQUE INDEX "charge_our_number_digits_key"
  ON "charge" ("account_id", "wallet", (lpad("our_number", 11, '0')));

-- Pix keys and transfers

-- A Pix key.
CREATE TABLE "dict_key" (
  "key" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "account_id" INTEGER,
  "party" JSON,

  CONSTRAINT "dict_key_pkey" PRIMARY KEY ("key"),
  CONSTRAINT "dict_key_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  -- A Pix key belongs to an account of this bank, or to a party at another institution.
  CONSTRAINT "dict_key_owner_check" CHECK (("account_id" IS NULL) <> ("party" IS NULL))
);
CREATE INDEX "dict_key_account_id_kind_idx" ON "dict_key" ("account_id", "kind");

-- The response to a look-up of a Pix key. Its endToEndId begins one transfer.
CREATE TABLE "dict_lookup" (
  "end_to_end_id" TEXT NOT NULL,
  "account_id" INTEGER NOT NULL,
  "key" TEXT NOT NULL,
  "beneficiary" JSON NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "dict_lookup_pkey" PRIMARY KEY ("end_to_end_id"),
  CONSTRAINT "dict_lookup_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "dict_lookup_account_id_idx" ON "dict_lookup" ("account_id");

-- Money sent: a Pix, or a transfer between accounts of the bank.
CREATE TABLE "transfer" (
  "id" UUID NOT NULL,
  "account_id" INTEGER NOT NULL,
  "type" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "description" TEXT,
  "external_id" TEXT,
  "end_to_end_id" TEXT,
  "idempotency_key" TEXT NOT NULL,
  "payer" JSON NOT NULL,
  "beneficiary" JSON NOT NULL,
  "beneficiary_account_id" INTEGER,
  "transaction_nsu" BIGINT,
  "is_blocked" BOOLEAN NOT NULL DEFAULT false,
  "error" JSON,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "transfer_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "transfer_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "transfer_beneficiary_account_id_fkey" FOREIGN KEY ("beneficiary_account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "transfer_type_check" CHECK (
    "type" IN ('PIX_KEY', 'PIX_MANUAL', 'INTERNAL', 'EXTERNAL')
  ),
  CONSTRAINT "transfer_status_check" CHECK (
    "status" IN (
      'PIX_PROCESSING', 'PIX_WAITING_SPI_RESPONSE', 'PIX_EFFECTIVE', 'PIX_ERROR',
      'SCHEDULED', 'PROCESSING', 'EFFECTIVE', 'ERROR'
    )
  ),
  CONSTRAINT "transfer_amount_check" CHECK ("amount_cents" > 0),
  -- Only a Pix has an endToEndId.
  CONSTRAINT "transfer_end_to_end_id_check" CHECK (
    ("type" IN ('INTERNAL', 'EXTERNAL')) = ("end_to_end_id" IS NULL)
  )
);
CREATE UNIQUE INDEX "transfer_end_to_end_id_key" ON "transfer" ("end_to_end_id");
CREATE INDEX "transfer_account_id_external_id_idx" ON "transfer" ("account_id", "external_id");
CREATE INDEX "transfer_beneficiary_account_id_idx" ON "transfer" ("beneficiary_account_id");

-- Bills

-- A bill of another institution.
CREATE TABLE "bill" (
  "bar_code" TEXT NOT NULL,
  "digitable_line" TEXT NOT NULL,
  "type" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "due_date" DATE NOT NULL,
  "is_allow_partial_payment" BOOLEAN NOT NULL DEFAULT false,
  "minimum_payment_cents" BIGINT NOT NULL,
  "maximum_payment_cents" BIGINT NOT NULL,
  "identifier_number" TEXT,
  "rebate_cents" BIGINT NOT NULL DEFAULT 0,
  "adjustments" JSON,
  "parties" JSON,

  CONSTRAINT "bill_pkey" PRIMARY KEY ("bar_code"),
  CONSTRAINT "bill_type_check" CHECK ("type" IN ('BANKSLIP', 'TAXES')),
  CONSTRAINT "bill_status_check" CHECK (
    "status" IN ('PAID', 'PENDING_PAYMENT', 'BLOCKED_PAYMENT', 'PAYMENT_DEADLINE_EXCEEDED')
  ),
  CONSTRAINT "bill_amount_check" CHECK ("amount_cents" > 0 AND "rebate_cents" >= 0),
  CONSTRAINT "bill_range_check" CHECK (
    "minimum_payment_cents" > 0 AND "minimum_payment_cents" <= "maximum_payment_cents"
  )
);
CREATE UNIQUE INDEX "bill_digitable_line_key" ON "bill" ("digitable_line");

-- The payment of a bill.
CREATE TABLE "bill_payment" (
  "id" UUID NOT NULL,
  "account_id" INTEGER NOT NULL,
  "bar_code" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "amount_cents" BIGINT NOT NULL,
  "pay_at" TIMESTAMPTZ(3) NOT NULL,
  "idempotency_key" TEXT NOT NULL,
  "transaction_nsu" BIGINT,
  "failure" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "bill_payment_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "bill_payment_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT "bill_payment_status_check" CHECK (
    "status" IN ('SCHEDULED', 'PAID', 'SCHEDULE_FAILURE', 'CHARGEBACKED')
  ),
  CONSTRAINT "bill_payment_amount_check" CHECK ("amount_cents" > 0),
  -- A payment that was debited has its statement line.
  CONSTRAINT "bill_payment_nsu_check" CHECK (
    "transaction_nsu" IS NOT NULL OR "status" NOT IN ('PAID', 'CHARGEBACKED')
  )
);
-- A bill has at most one payment that is scheduled or paid.
CREATE UNIQUE INDEX "bill_payment_live_key"
  ON "bill_payment" ("bar_code") WHERE (status = ANY (ARRAY['SCHEDULED'::text, 'PAID'::text]));
CREATE INDEX "bill_payment_account_id_created_at_idx"
  ON "bill_payment" ("account_id", "created_at");

-- Webhooks

-- Where the webhooks of an account are sent: one URL for each event type.
CREATE TABLE "webhook_registration" (
  "id" UUID NOT NULL,
  "account_id" INTEGER NOT NULL,
  "event_type" TEXT NOT NULL,
  "url" TEXT NOT NULL,
  "authorization_scheme" TEXT NOT NULL,
  "authorization" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "webhook_registration_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "webhook_registration_account_id_fkey" FOREIGN KEY ("account_id")
    REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "webhook_registration_account_id_event_type_key"
  ON "webhook_registration" ("account_id", "event_type");

-- A webhook to send. It is inserted in the transaction of the movement that it reports.
CREATE TABLE "webhook_delivery" (
  "id" BIGSERIAL NOT NULL,
  "registration_id" UUID NOT NULL,
  "body" TEXT NOT NULL,
  "state" TEXT NOT NULL DEFAULT 'pending',
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
  "leased_until" TIMESTAMPTZ(3),
  "last_outcome" TEXT,
  "is_forged" BOOLEAN NOT NULL DEFAULT false,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "delivered_at" TIMESTAMPTZ(3),

  CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "webhook_delivery_registration_id_fkey" FOREIGN KEY ("registration_id")
    REFERENCES "webhook_registration"("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "webhook_delivery_state_check" CHECK ("state" IN ('pending', 'delivered', 'dead'))
);
CREATE INDEX "webhook_delivery_pending_idx"
  ON "webhook_delivery" ("next_attempt_at") WHERE (state = 'pending');
CREATE INDEX "webhook_delivery_registration_id_idx" ON "webhook_delivery" ("registration_id");

-- Control

-- Settings of the control plane that survive a restart: the clock and the modes.
CREATE TABLE "bank_setting" (
  "name" TEXT NOT NULL,
  "value" JSON NOT NULL,

  CONSTRAINT "bank_setting_pkey" PRIMARY KEY ("name")
);

-- Work that is due at a time of the bank's clock. It is deleted once done.
CREATE TABLE "due_task" (
  "id" BIGSERIAL NOT NULL,
  "kind" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "due_at" TIMESTAMPTZ(3) NOT NULL,

  CONSTRAINT "due_task_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "due_task_due_at_id_idx" ON "due_task" ("due_at", "id");

-- The part of a balance that a MED request blocks until it is decided.
CREATE TABLE "med_block" (
  "account_id" INTEGER NOT NULL,
  "end_to_end_id" TEXT NOT NULL,
  "cents" BIGINT NOT NULL,

  CONSTRAINT "med_block_pkey" PRIMARY KEY ("account_id", "end_to_end_id")
);
