-- migrate: outside a transaction
-- The age of a break of a line counts from the day of the line. Each part is a transaction of its
-- own: whoever changes one of its breaks waits for it.
DO $$
DECLARE
  read_account int := 0;
  read_nsu bigint := 0;
BEGIN
  LOOP
    WITH part AS MATERIALIZED (
      SELECT account_id, id, nsu FROM "break"
      WHERE nsu IS NOT NULL AND (account_id, nsu) > (read_account, read_nsu)
      ORDER BY account_id, nsu FETCH FIRST 1000 ROWS WITH TIES
    ), dated AS (
      UPDATE "break" b SET opened_day = "day_of_line"(t.occurred_at)
      FROM part JOIN "statement_line" t USING (account_id, nsu)
      WHERE b.account_id = part.account_id AND b.id = part.id
        AND b.opened_day IS DISTINCT FROM "day_of_line"(t.occurred_at)
    )
    SELECT account_id, nsu INTO read_account, read_nsu
    FROM part ORDER BY account_id DESC, nsu DESC LIMIT 1;
    EXIT WHEN NOT FOUND;
    COMMIT;
  END LOOP;
END $$;
