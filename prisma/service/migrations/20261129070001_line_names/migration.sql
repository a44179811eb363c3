-- migrate: outside a transaction
-- The names of the lines that were there before the triggers. Each part is a transaction of its
-- own: a line with one of its names, and an erasure, wait for it. The lock precedes the reading, so
-- that no name is kept of which the last line is erased meanwhile.
DO $$
DECLARE
  read_account int := 0;
  read_nsu bigint := 0;
BEGIN
  LOOP
    LOCK TABLE "line_name" IN ROW EXCLUSIVE MODE;
    WITH part AS MATERIALIZED (
      SELECT account_id, nsu, lower("left"(counterparty_name, 100)) AS name
      FROM "statement_line"
      WHERE (account_id, nsu) > (read_account, read_nsu) ORDER BY account_id, nsu LIMIT 1000
    ), kept AS (
      INSERT INTO "line_name"
      SELECT account_id, name, plain_name(name) FROM (
        SELECT DISTINCT account_id, name FROM part WHERE name IS NOT NULL
      ) names
      WHERE NOT EXISTS (
        SELECT FROM "line_name" n WHERE n.account_id = names.account_id AND n.name = names.name
      )
      ORDER BY account_id, name
      ON CONFLICT DO NOTHING
    )
    SELECT account_id, nsu INTO read_account, read_nsu
    FROM part ORDER BY account_id DESC, nsu DESC LIMIT 1;
    EXIT WHEN NOT FOUND;
    COMMIT;
  END LOOP;
END $$;
