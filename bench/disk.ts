// `npm run bench -- disk`: what lines cost on disk, by table, after the service has requested,
// imported, matched and reported each of them; and which of its statements reach which accounts.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { alignColumns } from '../test/support/table.js';
import { BenchBank, BenchService } from './harness/deployment.js';
import { withBenchPostgres } from './harness/postgres.js';
import { describeMachine } from './harness/report.js';
import { writeScaling, type DiskResult, type TableSize } from './harness/scaling-page.js';
import { accountReachOf, type PlanNode, type AccountReach } from './harness/statement-reach.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    lines: { type: 'string', default: '20000' },
    publish: { type: 'boolean', default: false },
  },
});
const lines = Number(options.lines);
/** The sizes are compared after each half of the second part: extrapolated only if it is linear. */
const recordedLines = Math.min(200, lines);
const lanes = 16;
const reads = [
  ...['summary', 'transactions', 'transactions?state=matched', 'expected-payments', 'breaks'],
  ...['events', 'operations', 'webhook-health', 'runs', 'days', 'rules', 'customers', 'charges'],
];
const unlimited = {
  ...{ BANK_RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMITS_PER_KEY: 'writes=0' },
  ...{ RATE_LIMITS_PER_ACCOUNT: 'writes=0', RATE_LIMITS_PER_ADDRESS: 'requests=0' },
};
const print = (text: string) => process.stdout.write(`${text}\n`);

async function pay(service: BenchService, count: number): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await service.payCharge();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await service.settled();
}

/** Bytes of each table of the service and of its queue. */
async function sizesOf({ database }: BenchService): Promise<TableSize[]> {
  const { rows } = await database.pool.query<Record<keyof TableSize, string>>(
    `SELECT CASE nspname WHEN 'public' THEN relname ELSE nspname || '.' || relname END AS table,
            (xpath('/row/c/text()', query_to_xml(
              format('SELECT count(*) AS c FROM %I.%I', nspname, relname),
              false, true, '')))[1]::text AS rows,
            pg_relation_size(c.oid) AS heap, pg_indexes_size(c.oid) AS indexes,
            pg_total_relation_size(c.oid) - pg_relation_size(c.oid) - pg_indexes_size(c.oid)
              AS toast
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE relkind = 'r' AND nspname IN ('public', 'bullmq')`,
  );
  return rows.map(({ table, ...sizes }) => ({
    table,
    rows: Number(sizes.rows),
    ...{ heap: Number(sizes.heap), indexes: Number(sizes.indexes), toast: Number(sizes.toast) },
  }));
}

/** Without the space of rows that were changed or deleted, which later rows reuse. */
async function compactSizesOf(service: BenchService): Promise<TableSize[]> {
  await service.database.pool.query('VACUUM FULL');
  return sizesOf(service);
}

const bytesOf = ({ heap, indexes, toast }: TableSize) => heap + indexes + toast;
const sum = (sizes: TableSize[]) => sizes.reduce((total, size) => total + bytesOf(size), 0);

/** What a million lines add, as the lines between two measurements did. */
function perMillion(before: TableSize[], after: TableSize[], added: number): TableSize[] {
  const scale = (one: number, other: number) => Math.round(((other - one) * 1_000_000) / added);
  return after
    .map((size) => {
      const was = before.find(({ table }) => table === size.table) ?? { ...size, rows: 0 };
      return {
        table: size.table,
        ...{ rows: scale(was.rows, size.rows), heap: scale(was.heap, size.heap) },
        ...{ indexes: scale(was.indexes, size.indexes), toast: scale(was.toast, size.toast) },
      };
    })
    .sort((one, other) => bytesOf(other) - bytesOf(one));
}

/** The distinct statements that the service sent, as its server wrote them into its log. */
function statementsIn(log: string, database: string): string[] {
  const entries = log.split(/^(?=@)/m);
  const sent = entries.flatMap((entry) => {
    const [, of, text] = /^@(\w+)@ LOG: {2}(?:execute \S+|statement): (.*)$/s.exec(entry) ?? [];
    // DETAIL follows with the values, as an entry of its own.
    return of === database && text ? [text.replaceAll('\n\t', '\n').trim()] : [];
  });
  return [...new Set(sent)].filter((text) => /^(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text));
}

async function classify(pool: pg.Pool, texts: string[]): Promise<DiskResult['statements']> {
  const owners = ownersOfTables();
  const found: DiskResult['statements'] = [];
  const { rows } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'account_id'`,
  );
  const tables = new Set(rows.map(({ name }) => name));
  for (const text of texts) {
    const planned = await pool
      .query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) ${text}`,
      )
      .catch(() => undefined);
    const plan = planned?.rows[0]?.['QUERY PLAN'][0].Plan;
    const reach: AccountReach = plan ? accountReachOf(plan, tables) : 'unknown';
    const used = [...tables].filter((name) => new RegExp(`\\b${name}\\b`).test(text));
    const modules = [...new Set(used.map((name) => owners.get(name) ?? 'queue'))].sort();
    found.push({ reach, modules, text });
  }
  return found;
}

/** `prisma/service/<module>.prisma` declares the tables of a module. */
function ownersOfTables(): Map<string, string> {
  const folder = join(project, 'prisma/service');
  return new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.prisma'))
      .flatMap((name) =>
        [...readFileSync(join(folder, name), 'utf8').matchAll(/@@map\("(\w+)"\)/g)].map(
          ([, table = '']) => [table, name.replace('.prisma', '')] as const,
        ),
      ),
  );
}

async function measure(log: string): Promise<DiskResult> {
  const bank = await BenchBank.open();
  const service = await BenchService.open(bank, bank.url, unlimited);
  const { pool, url } = service.database;
  const setLog = async (statements: string) => {
    await pool.query(`ALTER SYSTEM SET log_line_prefix = '@%d@ '`);
    await pool.query(`ALTER SYSTEM SET log_statement = '${statements}'`);
    await pool.query('SELECT pg_reload_conf()');
  };
  try {
    await service.subscribe('charge.paid');
    await setLog('all');
    await pay(service, recordedLines);
    for (const path of reads) await service.process.callService('GET', `/v1/${path}`);
    await setLog('none');
    const sent = statementsIn(readFileSync(log, 'utf8'), new URL(url).pathname.slice(1));
    const statements = await classify(pool, sent);
    const sizes = [await compactSizesOf(service)];
    const half = Math.ceil(lines / 2);
    let unvacuumed = 0;
    for (const part of [1, 2]) {
      await pay(service, half);
      unvacuumed = sum(await sizesOf(service));
      sizes.push(await compactSizesOf(service));
      print(`${part * half} lines: ${Math.round(sum(sizes.at(-1) ?? []) / 2 ** 20)} MiB`);
    }
    await service.check();
    const [start = [], middle = [], end = []] = sizes;
    const halves = [sum(middle) - sum(start), sum(end) - sum(middle)] as const;
    return {
      ...{ date: new Date().toISOString().slice(0, 10), machine: describeMachine() },
      ...{ lines: 2 * half, growthOfSecondHalf: halves[1] / halves[0] },
      beforeVacuum: unvacuumed / sum(end),
      tables: perMillion(start, end, 2 * half),
      statements,
    };
  } finally {
    await service.close();
    await bank.close();
  }
}

const result = await withBenchPostgres(measure);
const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
const shown = result.tables.filter((size) => bytesOf(size) > 2 ** 20);
const growth = result.growthOfSecondHalf.toFixed(3);
print(`\nPer million lines, in MiB (the second half took ${growth} of the first):`);
print(
  alignColumns([
    ['table', 'rows', 'heap', 'indexes', 'toast', 'sum'],
    ...shown.map((size) => [
      size.table,
      String(size.rows),
      ...[size.heap, size.indexes, size.toast, bytesOf(size)].map(mebibytes),
    ]),
    ['all', '', '', '', '', mebibytes(sum(result.tables))],
  ]).join('\n'),
);
for (const reach of ['across', 'unknown', 'each'] as const)
  for (const { modules, text } of result.statements.filter((one) => one.reach === reach))
    print(`${reach}: ${modules.join(', ')}: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
mkdirSync(join(project, '.bench'), { recursive: true });
writeFileSync(join(project, '.bench/disk.json'), `${JSON.stringify(result, null, 2)}\n`);
if (options.publish) writeScaling(project, result);
process.exit(0);
