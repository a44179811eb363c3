// G7: what deciding a line costs as the history grows, and as open breaks and open expected
// payments do. Each book has a database of its own, since the indexes of a database grow with all
// its rows.
import pg from 'pg';
import { testDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import {
  countSearches,
  readLevels,
  readsOfAddedLevels,
  type ByIndex,
} from '../harness/index-levels.js';
import { measuredTogether } from '../harness/rounds.js';
import { measureServerCosts, perItem, type ServerCosts } from '../harness/server-costs.js';
import { LineBook, openReconciliation } from '../reconciliation-book.js';

/** What one round decides: half of the lines match, half become breaks. */
const roundLines = { short: 500, long: 5_000 };
const matchedOfTen = 5;

/**
 * The long history is a hundred times that of the small book, and so is what is open in the third:
 * half of it expected payments, half breaks.
 */
const sizes = { small: 'small book', history: 'long history', open: 'many open' };
const costs = { cpu: 'CPU µs', buffers: 'buffers', wal: 'WAL bytes' };
const costNames = Object.keys(costs) as (keyof ServerCosts)[];

const nameOf = (cost: keyof ServerCosts, size: keyof typeof sizes) =>
  `${costs[cost]}, ${sizes[size]}`;

/**
 * A look-up in a larger table reads a page more for each level that its index has more. The goal
 * allows that.
 */
const buffersButLevels = `${nameOf('buffers', 'history')}, but for added levels of indexes`;

const comparedOf = (cost: keyof ServerCosts, size: 'history' | 'open') =>
  cost === 'buffers' && size === 'history' ? buffersButLevels : nameOf(cost, size);

export const bench: Bench = {
  id: 'G7',
  title: 'Cost of a line beside history and open work',
  unit: 'a line',
  goals: costNames.flatMap((cost) =>
    (['history', 'open'] as const).map((size) => ({
      ...{ of: comparedOf(cost, size), against: nameOf(cost, 'small'), atMost: 1.15 },
    })),
  ),
  open: async ({ isShort, lines }) => {
    const most = lines ?? (isShort ? 20_000 : 1_000_000);
    return openContest(most, isShort);
  },
};

async function openContest(most: number, isShort: boolean): Promise<Contest> {
  const lines = isShort ? roundLines.short : roundLines.long;
  const small = { history: most / 100, open: most / 1_000 };
  const books = {
    small: await openBook(small, lines),
    history: await openBook({ ...small, history: 100 * small.history }, lines),
    open: await openBook({ ...small, open: 100 * small.open }, lines),
  };
  const decide = async (size: keyof typeof sizes) => {
    const { costs, searches } = await books[size].decideRound();
    const figures = Object.fromEntries(costNames.map((cost) => [nameOf(cost, size), costs[cost]]));
    if (size !== 'history') return figures;
    const [levels, elsewhere] = [await books.history.readLevels(), await books.small.readLevels()];
    const added = readsOfAddedLevels(searches, levels, elsewhere);
    return { ...figures, [buffersButLevels]: costs.buffers - added / lines };
  };
  const contestantsOf = (size: keyof typeof sizes) => {
    const names = costNames.map((cost) => nameOf(cost, size));
    if (size === 'history') names.push(buffersButLevels);
    return measuredTogether(names, () => decide(size));
  };
  return {
    contestants: {
      ...contestantsOf('small'),
      ...contestantsOf('history'),
      ...contestantsOf('open'),
    },
    check: async () => {
      for (const book of Object.values(books)) await book.check();
    },
    close: async () => {
      for (const book of Object.values(books)) await book.close();
    },
  };
}

async function openBook({ history, open }: { history: number; open: number }, lines: number) {
  const test = await testDatabase('service');
  // One connection: its process is the one whose time counts, and its statistics are flushed.
  const pool = new pg.Pool({ connectionString: test.url, max: 1, pipeline: true });
  pool.on('error', () => undefined);
  const { reconcile, disconnect } = openReconciliation(pool);
  const book = await LineBook.open(test.pool, 'book', 10);
  await book.addDecidedLines(history);
  book.matchedOfTen = 0;
  await book.addDecidedLines(open / 2);
  await book.addOpenPayments(open / 2);
  book.matchedOfTen = matchedOfTen;
  await test.pool.query('VACUUM ANALYZE');
  const decideRound = async (): Promise<{ costs: ServerCosts; searches: ByIndex }> => {
    await book.addPaymentsFor(lines);
    await reconcile(book.accountId);
    await book.addLines(lines);
    await test.pool.query('CHECKPOINT');
    globalThis.gc?.();
    let ownCpu = 0;
    const decideAll = async () => {
      const before = process.cpuUsage();
      await reconcile(book.accountId);
      const { user, system } = process.cpuUsage(before);
      ownCpu = user + system;
    };
    const measure = () => measureServerCosts(pool, decideAll);
    const { result: costs, searches } = await countSearches(pool, measure);
    return { costs: perItem({ ...costs, cpu: costs.cpu + ownCpu }, lines), searches };
  };
  await decideRound();
  return {
    decideRound,
    readLevels: () => readLevels(test.pool),
    check: async () => {
      const { rows } = await test.pool.query<{ lost: string }>(
        `SELECT count(*) AS lost FROM statement_line t LEFT JOIN line_outcome o
         USING (account_id, nsu) WHERE o.nsu IS NULL`,
      );
      if (rows[0]?.lost !== '0') throw new Error(`${rows[0]?.lost} lines are not decided`);
    },
    close: async () => {
      await disconnect();
      await pool.end();
      await test.drop();
    },
  };
}
