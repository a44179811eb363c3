// G6: how fast statement lines are explained, from stored lines to outcomes, matches, totals,
// breaks and events. Beside it: a program that decides line by line with Prisma.
import { createPool } from '../../src/platform/postgres/database.service.js';
import { PrismaClient } from '../../src/generated/service/client.js';
import { prismaAdapter } from '../../src/platform/postgres/prisma-adapter.js';
import { testDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import { LineBook, openReconciliation } from '../reconciliation-book.js';
import { decideLineByLine } from '../yardsticks/line-by-line.js';

/** Of ten lines, so many pay a charge or a transfer. */
const matchedOfTen = 9;
const transactionLimits = { statementTimeoutMs: 60_000, idleTimeoutMs: 60_000 };

export const bench: Bench = {
  id: 'G6',
  title: 'Statement lines explained',
  unit: 'lines/s',
  goals: [{ of: 'matched-heavy', against: 'line by line with Prisma', atLeast: 20 }],
  open: ({ isShort, lines }) =>
    openContest(lines ?? (isShort ? 1_000 : 10_000), isShort ? 20 : 200),
};

async function openContest(lines: number, linesOfYardstick: number): Promise<Contest> {
  const test = await testDatabase('service');
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
  // It warms the product up.
  const first = await openBook(lines);
  await reconcile(first.accountId);
  const prisma = new PrismaClient({ adapter: prismaAdapter(pool, transactionLimits) });
  return {
    contestants: {
      'matched-heavy': async () => {
        const book = await openBook(lines);
        await pool.query('ANALYZE');
        const startedAt = performance.now();
        await reconcile(book.accountId);
        return (lines / (performance.now() - startedAt)) * 1_000;
      },
      'line by line with Prisma': async () => {
        const book = await openBook(linesOfYardstick);
        const nsus = Array.from({ length: linesOfYardstick }, (_, index) => BigInt(index + 1));
        const figure = await decideLineByLine(prisma, book.accountId, nsus);
        await pool.query('DELETE FROM reconciliation_task WHERE account_id = $1', [book.accountId]);
        return figure;
      },
    },
    check: async () => {
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
