// Measures the memory of closing one long day of the statement: before, during and after the two
// full reads. No line is stored, because only the memory of the reads matters here.
import { it } from '@jest/globals';
import type { PageResult } from '../src/statement/line-recording.queries.js';
import { ComputedBank } from '../test/support/computed-bank.js';
import { serviceDatabase } from '../test/support/service-database.js';
import { alignColumns } from '../test/support/table.js';

const lines = Number(process.env.BENCH_DAY_LINES ?? 20_000);
const pageSize = 500;
const nothingNew: PageResult = {
  ...{ lines: 0, newLines: 0, lowestNsu: null, order: null },
  ...{ newUnreadable: 0, resolved: 0 },
};

it('measures the closing of a long day', async () => {
  const service = await serviceDatabase();
  const { database, accountId } = service;
  const bank = new ComputedBank(lines, pageSize);
  const { statement, closing } = bank.services(database);
  const table = [['step', 'heap MiB', 'rss MiB', 'lines/s']];
  let reported = { pages: 0, at: performance.now() };
  const report = (step: string) => {
    global.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    const read = (bank.pagesRead - reported.pages) * pageSize;
    const seconds = (performance.now() - reported.at) / 1_000;
    const [heap, resident] = [heapUsed, rss].map((bytes) => Math.round(bytes / 2 ** 20));
    table.push([step, `${heap}`, `${resident}`, `${Math.round(read / seconds)}`]);
    process.stdout.write(`${table.at(-1)?.join('  ')}\n`);
    reported = { pages: bank.pagesRead, at: performance.now() };
  };
  try {
    bank.lines = 1;
    await statement.sync(accountId);
    bank.lines = lines;
    statement.recordPage = () => Promise.resolve(nothingNew);
    // The guard against endless pages is derived from the number of stored lines.
    await database.pool.query('UPDATE statement_state SET line_count = $1', [lines]);
    await database.pool.query(
      `INSERT INTO day_close_state (account_id, next_date) VALUES ($1, '2026-11-21')`,
      [accountId],
    );
    const pages = Math.ceil(lines / pageSize);
    bank.beforePage = (page) => {
      if (page > 1 && page % Math.ceil(pages / 4) === 0) report(`page ${page}`);
    };
    report('before');
    await closing.close({ accountId });
    report('after');
    const { closedUntil } = await database.prisma.statementState.findUniqueOrThrow({
      where: { accountId },
    });
    table.push([`closed until ${closedUntil?.toISOString()}`]);
    process.stdout.write(`\n${lines} lines in one day\n${alignColumns(table).join('\n')}\n\n`);
  } finally {
    await service.drop();
  }
}, 14_400_000);
