-- What was open on a past day is what is open now, and what was resolved since: few of all breaks.
CREATE INDEX "break_resolved" ON "break"
  ("account_id", "resolved_at", "opened_day", "opened_at", "amount_cents")
  WHERE (state = 'resolved');
