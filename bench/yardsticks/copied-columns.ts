// The columns of a table that a yardstick copies.
import type pg from 'pg';

export interface CopiedColumn {
  name: string;
  type: string;
  /** PostgreSQL numbers the rows. */
  isNumbered: boolean;
}

export async function readCopiedColumns(pool: pg.Pool, table: string): Promise<CopiedColumn[]> {
  const { rows } = await pool.query<CopiedColumn>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type,
            COALESCE(pg_get_expr(adbin, adrelid), '') LIKE 'nextval(%' AS "isNumbered"
     FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE attrelid = ('public.' || $1)::regclass AND attnum > 0 AND NOT attisdropped
     ORDER BY attnum`,
    [table],
  );
  return rows;
}
