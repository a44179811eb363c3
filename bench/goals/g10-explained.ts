// How fast a history is read from the bank and explained, beside a bare loop over the same pages
// that copies the lines to a table. A second loop then writes the rows of their explanations too,
// without deciding anything: what a program could reach that spends nothing on it.
import type pg from 'pg';
import { testDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import { BenchBank, BenchService } from '../harness/deployment.js';
import { copyIn } from '../yardsticks/copy-in.js';
import { WrittenRows } from '../yardsticks/written-rows.js';

const pageLines = 1_000;
const sizes = { 'a short history': 20_000, 'a long history': 200_000 };
const ofBareLoop = (size: string) => `${size}, pages and COPY`;
const ofLoopWithRows = (size: string) => `${size}, pages, COPY and rows`;

export const bench: Bench = {
  id: 'G10',
  title: 'A history of 20,000 and of 200,000 lines, read from the bank and explained',
  unit: 'lines/s',
  goals: Object.keys(sizes).map((size) => ({ of: size, against: ofBareLoop(size), atLeast: 0.25 })),
  async open({ isShort, lines }) {
    const counts = isShort
      ? { 'a short history': 1_000, 'a long history': 2_000 }
      : { ...sizes, ...(lines ? { 'a long history': lines } : {}) };
    const banks: BenchBank[] = [];
    const contestants: Contest['contestants'] = {};
    for (const [size, count] of Object.entries(counts)) {
      const bank = await BenchBank.open();
      banks.push(bank);
      await bank.generate(count);
      contestants[ofBareLoop(size)] = () => copyHistory(bank, count);
      contestants[size] = () => importAndExplain(bank, count);
      // All rows are in memory: of the long history, that would be gigabytes.
      if (size === 'a short history')
        contestants[ofLoopWithRows(size)] = () => copyWithRows(bank, count);
    }
    return {
      contestants,
      // Each round checks its own database.
      check: () => Promise.resolve(),
      close: async () => {
        for (const bank of banks) await bank.close();
      },
    };
  },
};

async function importAndExplain(bank: BenchBank, count: number): Promise<number> {
  const service = await BenchService.open(bank);
  try {
    await service.explained(count);
    const { rows } = await service.database.pool.query<{ ms: number; lines: number }>(
      `SELECT extract(epoch FROM clock_timestamp() - import_started_at)::float8 * 1000 AS ms,
              (SELECT count(*)::int FROM line_outcome) AS lines
       FROM statement_state`,
    );
    if (rows[0]?.lines !== count) throw new Error(`${rows[0]?.lines} of ${count} are explained`);
    await service.check();
    return (count * 1_000) / rows[0].ms;
  } finally {
    await service.close();
  }
}

async function copyHistory(bank: BenchBank, count: number): Promise<number> {
  const database = await testDatabase();
  const client = await database.pool.connect();
  try {
    return await copyPages(bank, client, count);
  } finally {
    client.release();
    await database.drop();
  }
}

/** The rows are those that the service has written, which is stopped. */
async function copyWithRows(bank: BenchBank, count: number): Promise<number> {
  const service = await BenchService.open(bank);
  try {
    await service.explained(count);
    await service.process.stop();
    const { pool } = service.database;
    const { rows: accounts } = await pool.query<{ id: number }>('SELECT id FROM bank_account');
    const accountId = accounts[0]?.id ?? NaN;
    const rows = await WrittenRows.read(pool, accountId, pageLines);
    await rows.prepare();
    const client = await pool.connect();
    try {
      const explain = (page: number) => rows.writeBatch(client, page - 1);
      const figure = await copyPages(bank, client, count, explain);
      await rows.check(accountId);
      return figure;
    } finally {
      client.release();
    }
  } finally {
    await service.close();
  }
}

/**
 * Reads all pages and copies their lines. Where `explain` writes about those of a page, the next
 * one is read meanwhile. Returns lines a second.
 */
async function copyPages(
  { url }: BenchBank,
  client: pg.PoolClient,
  count: number,
  explain?: (page: number) => Promise<void>,
): Promise<number> {
  const read = async (page: number) => {
    const path = `/baas/api/v2/transactions?page=${page}&limit=${pageLines}`;
    const response = await fetch(url + path, {
      headers: { 'x-service-api-key': 'sandbox-dev-key' },
    });
    return (await response.json()) as { nsu: number }[];
  };
  await client.query('CREATE TABLE bare_line (nsu bigint PRIMARY KEY, content text)');
  const startedAt = performance.now();
  let reading = read(1);
  for (let page = 1; ; page += 1) {
    const lines = await reading;
    if (lines.length === 0) break;
    const rows = lines.map((line) => [String(line.nsu), JSON.stringify(line)]);
    if (explain) reading = read(page + 1);
    await copyIn(client, 'bare_line', ['nsu', 'content'], rows);
    if (explain) await explain(page);
    else reading = read(page + 1);
  }
  const elapsedMs = performance.now() - startedAt;
  const { rows } = await client.query<{ lines: number }>(
    'SELECT count(*)::int AS lines FROM bare_line',
  );
  if (rows[0]?.lines !== count) throw new Error(`${rows[0]?.lines} of ${count} were copied`);
  return (count * 1_000) / elapsedMs;
}
