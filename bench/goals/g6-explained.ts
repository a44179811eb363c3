// G6: how fast statement lines are explained, from stored lines to outcomes, matches, totals,
// breaks and events. Beside it: a program that decides line by line with Prisma, and the physical
// limit, the same rows written without deciding anything.
import { createPool } from '../../src/platform/postgres/database.service.js';
import { PrismaClient } from '../../src/generated/service/client.js';
import { prismaAdapter } from '../../src/platform/postgres/prisma-adapter.js';
import { batchSize } from '../../src/reconciliation/apply/reconciliation.service.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import { LineBook, openReconciliation } from '../reconciliation-book.js';
import { decideLineByLine } from '../yardsticks/line-by-line.js';
import { WrittenRows } from '../yardsticks/written-rows.js';

const books = { 'matched-heavy': 9, 'break-heavy': 1 };
const transactionLimits = { statementTimeoutMs: 60_000, idleTimeoutMs: 60_000 };

export const bench: Bench = {
  id: 'G6',
  title: 'Statement lines explained',
  unit: 'lines/s',
  goals: [{ of: 'matched-heavy', against: 'line by line with Prisma', atLeast: 20 }],
  open: async ({ isShort, lines }) => openContest(lines ?? (isShort ? 1_000 : 10_000), isShort),
};

async function openContest(lines: number, isShort: boolean): Promise<Contest> {
  const databases = await Promise.all(
    Object.values(books).map(async (matchedOfTen) => {
      const test = await testDatabase('service');
      return openDatabase(test, matchedOfTen, lines);
    }),
  );
  const [matched] = databases;
  if (!matched) throw new Error('no book');
  const contestants: Contest['contestants'] = {};
  for (const [index, name] of Object.keys(books).entries()) {
    const database = databases[index];
    if (!database) continue;
    contestants[name] = database.decide;
    contestants[`${name}, rows only`] = database.writeRows;
  }
  contestants['line by line with Prisma'] = () => matched.decideLineByLine(isShort ? 20 : 200);
  return {
    contestants,
    check: async () => {
      for (const database of databases) await database.check();
    },
    close: async () => {
      for (const database of databases) await database.close();
    },
  };
}

async function openDatabase(test: TestDatabase, matchedOfTen: number, lines: number) {
  const { pool } = test;
  const servicePool = createPool(test.url, () => undefined);
  const { reconcile, disconnect } = openReconciliation(servicePool);
  let accounts = 0;
  /** An account with new lines, whose payments are decided. */
  const openBook = async (count: number) => {
    accounts += 1;
    const book = await LineBook.open(pool, `book-${accounts}`, matchedOfTen);
    await book.addPaymentsFor(count);
    await reconcile(book.accountId);
    await book.addLines(count);
    return book;
  };
  // Its rows are what the yardstick writes. It warms the product up, too.
  const first = await openBook(lines);
  await reconcile(first.accountId);
  const rows = await WrittenRows.read(pool, first.accountId, batchSize);
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool, transactionLimits) });
  return {
    decide: async () => {
      const book = await openBook(lines);
      await pool.query('ANALYZE');
      const startedAt = performance.now();
      await reconcile(book.accountId);
      return (lines / (performance.now() - startedAt)) * 1_000;
    },
    writeRows: async () => {
      await rows.prepare();
      return rows.write();
    },
    decideLineByLine: async (count: number) => {
      const book = await openBook(count);
      const nsus = Array.from({ length: count }, (_, index) => BigInt(index + 1));
      const figure = await decideLineByLine(prisma, book.accountId, nsus);
      await pool.query('DELETE FROM reconciliation_task WHERE account_id = $1', [book.accountId]);
      return figure;
    },
    check: async () => {
      await rows.check(first.accountId);
      const { rows: wrong } = await pool.query<{ undecided: string; doubled: string }>(
        `SELECT (SELECT count(*) FROM statement_line t LEFT JOIN line_outcome o
                 USING (account_id, nsu) WHERE o.nsu IS NULL) AS undecided,
                (SELECT count(*) FROM (
                   SELECT FROM match WHERE unlinked_at IS NULL
                   GROUP BY account_id, nsu HAVING count(*) > 1) m) AS doubled`,
      );
      if (wrong[0]?.undecided !== '0' || wrong[0].doubled !== '0')
        throw new Error(`lines lost or doubled: ${JSON.stringify(wrong[0])}`);
    },
    close: async () => {
      await prisma.$disconnect();
      await disconnect();
      await servicePool.end();
      await test.drop();
    },
  };
}
