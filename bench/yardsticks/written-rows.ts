// The yardstick of deciding lines: writes the same rows as the product, in batches of as many
// lines, by set-based statements, into tables with the same columns, indexes, checks and foreign
// keys. It reads no line and decides nothing, and its tables have no triggers.
import type pg from 'pg';
import { readCopiedColumns, type CopiedColumn } from './copied-columns.js';

const byLine = 'JOIN copy.batch batch USING (account_id, nsu)';
/** A table of rows that a decision inserts, and the batch of each row (written). */
const inserted: Record<string, string> = {
  match: byLine,
  classification: byLine,
  line_outcome: byLine,
  break: byLine,
  break_history_entry: `
    JOIN break b ON b.account_id = written.account_id AND b.id = written.break_id
    JOIN copy.batch batch ON batch.account_id = b.account_id AND batch.nsu = b.nsu`,
  event: `JOIN LATERAL (
      SELECT (written.position - 1) * (SELECT max(number) FROM copy.batch) / p.position + 1
        AS number
      FROM event_position p WHERE p.account_id = written.account_id
    ) batch ON true`,
};
const copied = [...Object.keys(inserted), 'expected_payment_total'];
const updated = [
  'payment_count',
  'paid_cents',
  'reversed_cents',
  'refunded_cents',
  'unrefunded_cents',
  'settlement',
];

interface Batch {
  /** The parameters of each statement: one array a column. */
  inserts: { sql: string; values: unknown[][] }[];
  update: { sql: string; values: unknown[][] };
}

/** The rows that were written about the lines of an account, ready to be written again. */
export class WrittenRows {
  /** From `prepare` on, until they are written. */
  private batches: Batch[] = [];

  private constructor(
    private readonly pool: pg.Pool,
    /** As JSON outside of the heap: the collector of the product in this process would mark it. */
    private readonly kept: Buffer,
    readonly lines: number,
  ) {}

  /** `batchLines`: as many lines as the product decides in one transaction. */
  static async read(pool: pg.Pool, accountId: number, batchLines: number): Promise<WrittenRows> {
    await pool.query('CREATE SCHEMA copy');
    await pool.query(`CREATE TABLE copy.batch AS
      SELECT account_id, nsu, (row_number() OVER (ORDER BY nsu) - 1) / ${batchLines} + 1 AS number
      FROM line_outcome WHERE account_id = ${accountId}`);
    const { rows } = await pool.query<{ lines: string; batches: string }>(
      'SELECT count(*) AS lines, max(number) AS batches FROM copy.batch',
    );
    const batches = Array.from({ length: Number(rows[0]?.batches) }, (): Batch => {
      return { inserts: [], update: { sql: '', values: [] } };
    });
    for (const [table, join] of Object.entries(inserted)) {
      await pool.query(`CREATE TABLE copy.${table} (LIKE public.${table} INCLUDING ALL)`);
      const columns = await readCopiedColumns(pool, table);
      const source = `public.${table} written ${join}`;
      const sql = insertSql(table, columns);
      for (const [index, values] of await readColumns(pool, source, columns, accountId))
        batches[index]?.inserts.push({ sql, values });
    }
    await pool.query(
      'CREATE TABLE copy.expected_payment_total (LIKE expected_payment_total INCLUDING ALL)',
    );
    for (const table of copied) await addForeignKeys(pool, table);
    const totals = (await readCopiedColumns(pool, 'expected_payment_total')).filter(({ name }) =>
      ['expected_payment_id', ...updated].includes(name),
    );
    const source = `public.expected_payment_total written
      JOIN LATERAL (
        SELECT batch.number FROM match m JOIN copy.batch batch USING (account_id, nsu)
        WHERE m.account_id = written.account_id
          AND m.expected_payment_id = written.expected_payment_id
        LIMIT 1
      ) batch ON true`;
    for (const [index, values] of await readColumns(pool, source, totals, accountId)) {
      const batch = batches[index];
      if (batch) batch.update = { sql: updateSql(accountId, totals), values };
    }
    const kept = Buffer.from(JSON.stringify(batches));
    return new WrittenRows(pool, kept, Number(rows[0]?.lines));
  }

  /** Empties the copies; the totals are there before, of payments that are open. */
  async prepare(): Promise<void> {
    this.batches = JSON.parse(this.kept.toString()) as Batch[];
    await this.pool.query(`TRUNCATE ${copied.map((table) => `copy.${table}`).join(', ')}`);
    const names = 'account_id, expected_payment_id, last_payment_day, deadline';
    await this.pool.query(`INSERT INTO copy.expected_payment_total
        (${names}, ${updated.join(', ')})
      SELECT ${names}, ${updated.map((name) => (name === 'settlement' ? `'open'` : 0)).join(', ')}
      FROM expected_payment_total`);
    await this.pool.query('VACUUM ANALYZE copy.expected_payment_total');
  }

  /** Writes all batches, each in a transaction. Returns lines a second. */
  async write(): Promise<number> {
    const client = await this.pool.connect();
    const startedAt = performance.now();
    try {
      for (const index of this.batches.keys()) await this.writeBatch(client, index);
    } finally {
      client.release();
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    this.batches = [];
    return this.lines / seconds;
  }

  /** Writes one batch in a transaction. */
  async writeBatch(client: pg.ClientBase, index: number): Promise<void> {
    const { inserts = [], update } = this.batches[index] ?? {};
    await client.query('BEGIN');
    for (const { sql, values } of inserts) await client.query(sql, values);
    if (update && update.sql !== '') await client.query(update.sql, update.values);
    await client.query('COMMIT');
  }

  /** Throws unless the copy has as many rows as what the product wrote. */
  async check(accountId: number): Promise<void> {
    for (const table of Object.keys(inserted)) {
      const { rows } = await this.pool.query<{ missing: string }>(
        `SELECT (SELECT count(*) FROM public.${table} WHERE account_id = $1)
           - (SELECT count(*) FROM copy.${table}) AS missing`,
        [accountId],
      );
      if (rows[0]?.missing !== '0')
        throw new Error(`the copy of ${table} lacks ${rows[0]?.missing} rows`);
    }
  }
}

/** The foreign keys of a table, on its copy. What is copied too is named in its copy. */
async function addForeignKeys(pool: pg.Pool, table: string): Promise<void> {
  const { rows } = await pool.query<{ definition: string; target: string }>(
    `SELECT pg_get_constraintdef(oid) AS definition, confrelid::regclass::text AS target
     FROM pg_constraint WHERE conrelid = ('public.' || $1)::regclass AND contype = 'f'`,
    [table],
  );
  for (const { definition, target } of rows) {
    // The service checks some of them by triggers, which the copies do not have.
    const enforced = definition.replace(' NOT ENFORCED', '');
    const named = copied.includes(target)
      ? enforced.replace(`REFERENCES ${target}(`, `REFERENCES copy.${target}(`)
      : enforced;
    await pool.query(`ALTER TABLE copy.${table} ADD ${named}`);
  }
}

/** The values of each column, by the index of the batch. */
async function readColumns(
  pool: pg.Pool,
  source: string,
  columns: CopiedColumn[],
  accountId: number,
): Promise<Map<number, (string | null)[][]>> {
  const texts = columns.map(({ name }) => `written."${name}"::text`).join(', ');
  const { rows } = await pool.query<(string | null)[]>({
    text: `SELECT batch.number::text, ${texts} FROM ${source} WHERE written.account_id = $1`,
    values: [accountId],
    rowMode: 'array',
  });
  const byBatch = new Map<number, (string | null)[][]>();
  for (const [number, ...values] of rows) {
    const index = Number(number) - 1;
    let arrays = byBatch.get(index);
    if (!arrays) byBatch.set(index, (arrays = columns.map(() => [])));
    values.forEach((value, column) => arrays[column]?.push(value));
  }
  return byBatch;
}

const arraysOf = (columns: CopiedColumn[]) =>
  columns.map(({ type }, index) => `$${index + 1}::text[]::${type}[]`).join(', ');

function insertSql(table: string, columns: CopiedColumn[]): string {
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  return `INSERT INTO copy.${table} (${names}) SELECT * FROM unnest(${arraysOf(columns)})`;
}

function updateSql(accountId: number, columns: CopiedColumn[]): string {
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  return `UPDATE copy.expected_payment_total total
    SET ${updated.map((name) => `${name} = new.${name}`).join(', ')}
    FROM unnest(${arraysOf(columns)}) AS new(${names})
    WHERE total.account_id = ${accountId}
      AND total.expected_payment_id = new.expected_payment_id`;
}
