-- The end of the chain is found from the newest line on: with a scalar subquery PostgreSQL looks up
-- the follower of one line after another, and does not compare all lines of the account at each
-- commit.
CREATE OR REPLACE FUNCTION "check_account_balance"() RETURNS trigger LANGUAGE plpgsql AS $$
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
