// How fast a history is read from the bank and explained, beside a bare loop over the same pages
// that copies the lines to a table.
import type pg from 'pg';
import { testDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import { BenchBank, BenchService } from '../harness/deployment.js';
import { copyIn } from '../yardsticks/copy-in.js';

const pageLines = 1_000;
const sizes = { 'a short history': 20_000, 'a long history': 200_000 };
const ofBareLoop = (size: string) => `${size}, pages and COPY`;

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

/** Reads all pages and copies their lines. Returns lines a second. */
async function copyPages(
  { url }: BenchBank,
  client: pg.PoolClient,
  count: number,
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
  for (let page = 1; ; page += 1) {
    const lines = await read(page);
    if (lines.length === 0) break;
    const rows = lines.map((line) => [String(line.nsu), JSON.stringify(line)]);
    await copyIn(client, 'bare_line', ['nsu', 'content'], rows);
  }
  const elapsedMs = performance.now() - startedAt;
  const { rows } = await client.query<{ lines: number }>(
    'SELECT count(*)::int AS lines FROM bare_line',
  );
  if (rows[0]?.lines !== count) throw new Error(`${rows[0]?.lines} of ${count} were copied`);
  return (count * 1_000) / elapsedMs;
}
