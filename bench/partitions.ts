// `npm run bench -- partitions [ROWS]`: whether a large table costs less when it is split by the
// account. Each table is copied with its indexes into two layouts, whole and in parts by a hash of
// the account, filled by SQL with rows of a thousand accounts, and then written, read, emptied by
// age and vacuumed as the service does. Triggers and foreign keys are left out of both.
import pg from 'pg';
import { testDatabase } from '../test/support/postgres.js';
import { alignColumns } from '../test/support/table.js';
import { withBenchPostgres } from './harness/postgres.js';
import { measureServerCosts, perItem, type ServerCosts } from './harness/server-costs.js';

const accounts = 1_000;
const parts = 16;
/** As a sync stores them. */
const rowsPerWrite = 20;
const writes = 500;
const lookUps = 4_000;
/** As `src/platform/retention.ts` deletes them in one run. */
const rowsPerBatch = 500;
const batches = 20;
/** What is measured is what was caused. */
const withoutAutovacuum = 'WITH (autovacuum_enabled = false)';
const layouts = { whole: 1, [`${parts} parts`]: parts };

interface MeasuredTable {
  name: string;
  /** Row `n` of account `a`: the list of a SELECT. */
  columns: string;
  values: string;
  /** Finds one row, by account `$1` and number `$2`. */
  lookUp: string;
  /** Deletes or empties `rowsPerBatch` of the oldest, of account `$1` where it is named. */
  retention: ((target: string, isWhole: boolean) => string) | null;
}

const uuidOf = (n: string) =>
  `('0190' || lpad(to_hex(${n}), 8, '0') || '7000800000000000000' || (${n}) % 10)::uuid`;
const timeOf = (n: string) => `now() - (2000000000 - ${n}) * interval '10 milliseconds'`;

const tables: MeasuredTable[] = [
  {
    name: 'statement_line',
    columns: `account_id, nsu, arrival, bank_id, is_credit, amount_cents, type_name, end_to_end_id,
      correlation_id, counterparty, counterparty_document, notes, balance_previous_cents,
      current_balance_cents, occurred_at, content_hash, content`,
    values: `a, n, n, 'b' || n, true, 1 + n % 99999, 'CREDIT_PIX', 'E99999999' || n, 'c' || n,
      '1/1/' || n % 50000, lpad((n % 50000)::text, 11, '0'), 'Pix ' || n, n, n, ${timeOf('n')},
      md5(n::text), '{"nsu":' || n || ',"text":"' || md5(n::text) || repeat('x', 500) || '"}'`,
    lookUp: `end_to_end_id = 'E99999999' || $2::text`,
    retention: null,
  },
  {
    name: 'webhook_event',
    columns: `account_id, event_type, body_hash, body, state, reference_kind, reference,
      received_at, received_at_bank_time, processed_at`,
    values: `a, 'PIX_RECEIVED', md5(n::text), convert_to(repeat('x', 900), 'UTF8'),
      'processed', 'nsu', n::text, ${timeOf('n')}, ${timeOf('n')}, ${timeOf('n')}`,
    lookUp: `event_type = 'PIX_RECEIVED' AND body_hash = md5($2::text)`,
    // As the service does. In parts, a ctid alone would name a row of each part.
    retention: (target, isWhole) => {
      const old = (columns: string) => `SELECT ${columns} FROM ${target}
        WHERE state = 'processed' AND body IS NOT NULL AND processed_at < (SELECT now())
        ORDER BY processed_at LIMIT ${rowsPerBatch} FOR NO KEY UPDATE SKIP LOCKED`;
      const isOld = isWhole
        ? `ctid = ANY (ARRAY(${old('ctid')}))`
        : `(tableoid, ctid) IN (${old('tableoid, ctid')})`;
      return `UPDATE ${target} SET body = NULL WHERE state = 'processed' AND ${isOld}`;
    },
  },
  {
    name: 'delivery',
    columns: `account_id, id, event_id, endpoint_id, state, attempts, last_status, created_at,
      delivered_at`,
    values: `a, ${uuidOf('n')}, ${uuidOf('n')}, ${uuidOf('a')}, 'delivered', 1, 200,
      ${timeOf('n')}, ${timeOf('n')}`,
    lookUp: `id = ${uuidOf('$2::int')}`,
    // Account by account, as events are swept, which are left out.
    retention: (target) => `DELETE FROM ${target} WHERE account_id = $1 AND id = ANY (ARRAY(
      SELECT id FROM ${target} WHERE account_id = $1 ORDER BY id LIMIT ${rowsPerBatch}))`,
  },
];

const rowsOf = ({ columns, values }: MeasuredTable, target: string, source: string) =>
  `INSERT INTO ${target} (${columns}) SELECT ${values} FROM ${source}`;

async function createLayout(pool: pg.Pool, table: MeasuredTable, count: number, rows: number) {
  const { name } = table;
  const target = `measured.${name}`;
  const like = `LIKE public.${name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE`;
  await pool.query(`DROP SCHEMA IF EXISTS measured CASCADE; CREATE SCHEMA measured`);
  if (count === 1) await pool.query(`CREATE TABLE ${target} (${like}) ${withoutAutovacuum}`);
  else await pool.query(`CREATE TABLE ${target} (${like}) PARTITION BY HASH (account_id)`);
  for (let part = 0; count > 1 && part < count; part += 1)
    await pool.query(`CREATE TABLE ${target}_${part} PARTITION OF ${target}
      FOR VALUES WITH (MODULUS ${count}, REMAINDER ${part}) ${withoutAutovacuum}`);
  const source = `(SELECT n, n % ${accounts} AS a FROM generate_series(1, ${rows}) n) each`;
  await pool.query(rowsOf(table, target, source));
  const { rows: indexes } = await pool.query<{ definition: string }>(
    `SELECT replace(pg_get_indexdef(indexrelid), ' ON public.', ' ON measured.') AS definition
     FROM pg_index WHERE indrelid = $1::regclass`,
    [`public.${name}`],
  );
  for (const { definition } of indexes) await pool.query(definition);
  await pool.query(`VACUUM ANALYZE ${target}`);
  await pool.query('CHECKPOINT');
  return target;
}

type Figures = Record<string, string>;

async function measureLayout(pool: pg.Pool, table: MeasuredTable, count: number, rows: number) {
  const target = await createLayout(pool, table, count, rows);
  const { rows: sizes } = await pool.query<{ bytes: string }>(
    `SELECT pg_total_relation_size($1::regclass) + COALESCE((
              SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree($1::regclass)
              WHERE isleaf AND relid <> $1::regclass), 0) AS bytes`,
    [target],
  );
  const figures: Figures = { 'bytes a row': format(Number(sizes[0]?.bytes) / rows) };
  const written = await costsOf(pool, writes * rowsPerWrite, async () => {
    for (let write = 0; write < writes; write += 1) {
      const first = rows + write * rowsPerWrite;
      const numbers = `generate_series(1, ${rowsPerWrite}) i`;
      const source = `(SELECT ${first} + i AS n, $1::int AS a FROM ${numbers}) w`;
      await pool.query(rowsOf(table, target, source), [(write * 7) % accounts]);
    }
  });
  Object.assign(figures, named('a row written', written));
  const read = await costsOf(pool, lookUps, async () => {
    const sql = `SELECT 1 FROM ${target} WHERE account_id = $1 AND ${table.lookUp}`;
    for (let look = 0; look < lookUps; look += 1) {
      const n = 1 + ((look * 7919) % rows);
      const { rowCount } = await pool.query(sql, [n % accounts, n]);
      if (rowCount !== 1) throw new Error(`row ${n} of ${table.name} was found ${rowCount} times`);
    }
  });
  Object.assign(figures, named('a look-up', { ...read, wal: NaN }));
  return { ...figures, ...(await measureRetention(pool, table, target, count === 1)) };
}

async function measureRetention(
  pool: pg.Pool,
  { retention }: MeasuredTable,
  target: string,
  isWhole: boolean,
): Promise<Figures> {
  const figures: Figures = {};
  if (retention !== null) {
    const sql = retention(target, isWhole);
    let old = 0;
    const startedAt = performance.now();
    const costs = await measureServerCosts(pool, async () => {
      for (let batch = 0; batch < batches; batch += 1) {
        const values = sql.includes('$1') ? [batch] : [];
        old += (await pool.query(sql, values)).rowCount ?? 0;
      }
    });
    figures[`ms a batch of ${old / batches} old rows`] = format(
      (performance.now() - startedAt) / batches,
    );
    Object.assign(figures, named('an old row', perItem(costs, old)));
  }
  const startedAt = performance.now();
  const vacuum = await measureServerCosts(pool, () => pool.query(`VACUUM ${target}`));
  figures['VACUUM, ms'] = format(performance.now() - startedAt);
  figures['VACUUM, pages'] = format(vacuum.buffers);
  return figures;
}

async function costsOf(
  pool: pg.Pool,
  items: number,
  work: () => Promise<unknown>,
): Promise<ServerCosts> {
  return perItem(await measureServerCosts(pool, work), items);
}

function named(what: string, { cpu, buffers, wal }: ServerCosts): Figures {
  const figures: Figures = {
    [`${what}: CPU µs of the server`]: format(cpu),
    [`${what}: pages`]: format(buffers),
  };
  if (!Number.isNaN(wal)) figures[`${what}: WAL bytes`] = format(wal);
  return figures;
}

const format = (figure: number) =>
  figure >= 100 ? Math.round(figure).toLocaleString('en-US') : figure.toPrecision(3);

async function measure(pool: pg.Pool, rows: number): Promise<void> {
  for (const table of tables) {
    const byLayout: Figures[] = [];
    for (const count of Object.values(layouts))
      byLayout.push(await measureLayout(pool, table, count, rows));
    const names = Object.keys(byLayout[0] ?? {});
    const lines = names.map((name) => [name, ...byLayout.map((figures) => figures[name] ?? '')]);
    const title = `${table.name}, ${rows.toLocaleString('en-US')} rows`;
    console.log(`\n${alignColumns([[title, ...Object.keys(layouts)], ...lines]).join('\n')}`);
  }
}

async function measurePartitions(rows: readonly number[]): Promise<void> {
  const test = await testDatabase('service');
  const pool = new pg.Pool({ connectionString: test.url, max: 1 });
  pool.on('error', () => undefined);
  // How many full-page images there are follows from the checkpoints, not from the table.
  const writeFullPages = async (value: string) => {
    await test.pool.query(`ALTER SYSTEM SET full_page_writes = ${value}`);
    await test.pool.query('SELECT pg_reload_conf()');
  };
  await writeFullPages('off');
  try {
    for (const count of rows) await measure(pool, count);
  } finally {
    await writeFullPages('DEFAULT');
    await pool.end();
    await test.drop();
  }
}

const given = process.argv.slice(2).map(Number);
await withBenchPostgres(() => measurePartitions(given.length > 0 ? given : [100_000, 1_000_000]));
