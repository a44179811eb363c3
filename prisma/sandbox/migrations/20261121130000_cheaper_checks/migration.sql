-- The checks of the ledger, each in one look where it took several; what they hold is the same.

-- A movement's legs are judged with each leg: the movement itself must only have some.
CREATE FUNCTION "check_movement_has_legs"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM entry WHERE movement_id = NEW.id) THEN
    RAISE EXCEPTION 'movement % is not balanced: it has no legs', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_balanced';
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER "movement_balanced" ON "movement";
CREATE CONSTRAINT TRIGGER "movement_balanced" AFTER INSERT ON "movement"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_movement_has_legs"();

CREATE OR REPLACE FUNCTION "check_movement"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  legs integer;
  total numeric;
  untold integer;
BEGIN
  SELECT count(*), coalesce(sum(entry.change_cents), 0),
         count(*) FILTER (WHERE line.nsu IS NULL AND account.kind = 'customer')
    INTO legs, total, untold
    FROM entry
    JOIN account ON account.id = entry.account_id
    LEFT JOIN statement_line AS line
      ON line.movement_id = entry.movement_id AND line.account_id = entry.account_id
         AND line.change_cents = entry.change_cents
    WHERE entry.movement_id = NEW.movement_id;
  IF legs < 2 OR total <> 0 THEN
    RAISE EXCEPTION 'movement % is not balanced: % legs, sum %', NEW.movement_id, legs, total
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_balanced';
  END IF;
  -- An opening has no lines.
  IF untold > 0 AND EXISTS (SELECT FROM movement WHERE id = NEW.movement_id AND kind = 'ordinary') THEN
    RAISE EXCEPTION 'movement % is missing on a statement', NEW.movement_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'movement_on_statement';
  END IF;
  RETURN NULL;
END $$;

-- The balance is judged by the end of the chain. A line that another follows is not the end, and what follows a new
-- line is new: the end has a check of its own. The unique key of `previous_nsu` lets a chain have one end only.
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
  IF is_end AND held.kind = 'customer' AND held.balance_cents IS DISTINCT FROM NEW.current_balance_cents THEN
    RAISE EXCEPTION 'account % holds %, its lines end at %', held.number, held.balance_cents,
      NEW.current_balance_cents
      USING ERRCODE = 'check_violation', CONSTRAINT = 'account_balance_true';
  END IF;
  IF held.kind = 'customer' AND NEW.previous_nsu IS NULL
     AND NEW.balance_previous_cents <> held.opening_balance_cents THEN
    RAISE EXCEPTION 'the first line of account % does not begin at its opening balance', held.number
      USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_line_anchored';
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER "statement_line_balance_true" ON "statement_line";
CREATE CONSTRAINT TRIGGER "statement_line_balance_true" AFTER INSERT ON "statement_line"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_line"();
