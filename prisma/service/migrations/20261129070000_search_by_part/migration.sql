-- Names are found by any part of them, without accents and in any case.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
-- An index of trigrams begins with the account, like every other.
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- The extension unaccent depends on a dictionary, so an index could not use it as it is; normalize
-- is built in and does the same for the letters of Portuguese. It comes before lower, which knows
-- no accents where the locale is C.
CREATE FUNCTION "plain_name"(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN lower(regexp_replace(normalize($1, NFKD), '[\u0300-\u036f]', '', 'g'));

-- The names of an account's lines, each once: an index of trigrams on the lines themselves would
-- hold each name as often as there are lines with it.
CREATE TABLE "line_name" (
  "account_id" INTEGER NOT NULL,
  -- As in the index statement_line_name.
  "name" TEXT NOT NULL,
  "plain" TEXT NOT NULL,

  CONSTRAINT "line_name_pkey" PRIMARY KEY ("account_id", "name")
);

CREATE FUNCTION "keep_line_names"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "line_name"
  SELECT account_id, name, plain_name(name) FROM (
    SELECT DISTINCT account_id, lower("left"(counterparty_name, 100)) AS name
    FROM new_lines WHERE counterparty_name IS NOT NULL
  ) names
  ORDER BY account_id, name
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "statement_line_name_is_kept" AFTER INSERT ON "statement_line"
  REFERENCING NEW TABLE AS new_lines FOR EACH STATEMENT EXECUTE FUNCTION "keep_line_names"();

-- A name ends with the erasure of the last line that has it. The lock waits for transactions that
-- insert lines, of which this one would not see the name.
CREATE FUNCTION "forget_line_name"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE "line_name" IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM "line_name" n
  WHERE n.account_id = OLD.account_id AND n.name = lower("left"(OLD.counterparty_name, 100))
    AND NOT EXISTS (
      SELECT 1 FROM "statement_line" l
      WHERE l.account_id = n.account_id AND l.counterparty_name IS NOT NULL
        AND lower("left"(l.counterparty_name, 100)) COLLATE "C" = n.name COLLATE "C"
    );
  RETURN NULL;
END $$;
CREATE TRIGGER "erased_line_name_is_forgotten" AFTER UPDATE ON "statement_line" FOR EACH ROW
  WHEN (OLD.counterparty_name IS NOT NULL AND NEW.counterparty_name IS NULL)
  EXECUTE FUNCTION "forget_line_name"();

-- It is empty: an index that is created later would stop erasures meanwhile.
CREATE INDEX "line_name_part" ON "line_name" USING gin ("account_id", "plain" gin_trgm_ops);
