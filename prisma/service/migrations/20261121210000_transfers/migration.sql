-- CreateIndex
CREATE INDEX "webhook_event_pix" ON "webhook_event"("account_id", "reference", "received_at") WHERE (reference_kind = 'end_to_end_id');


-- What Prisma does not know.

-- A transfer goes forward: an answer that comes late, or a status that was read before another, undoes nothing. What
-- was taken for rejected may be shown to have been done after all.
CREATE FUNCTION "transfer_goes_forward"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transfer % does not go from % back to %', OLD.id, OLD.state, NEW.state
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transfer_goes_forward" BEFORE UPDATE ON "transfer" FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND (
       OLD.state IN ('effective', 'failed')
    OR NEW.state = 'requested'
    OR (OLD.state = 'accepted' AND NEW.state = 'rejected')))
  EXECUTE FUNCTION "transfer_goes_forward"();

-- What was asked for is fixed, and so are the ids by which the bank knows it.
CREATE FUNCTION "transfer_is_fixed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what transfer % was asked as is fixed', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER "transfer_is_fixed" BEFORE UPDATE ON "transfer" FOR EACH ROW
  WHEN (OLD.operation_id <> NEW.operation_id
     OR OLD.position <> NEW.position
     OR OLD.amount_cents <> NEW.amount_cents
     OR OLD.counterparty <> NEW.counterparty
     OR OLD.expected_payment_id <> NEW.expected_payment_id
     OR OLD.end_to_end_id <> NEW.end_to_end_id
     OR OLD.external_id <> NEW.external_id
     OR OLD.bank_id <> NEW.bank_id)
  EXECUTE FUNCTION "transfer_is_fixed"();
