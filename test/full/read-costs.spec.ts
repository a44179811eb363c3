// Reads of a book cost the same however large it is: the blocks that their statements read are
// compared between two books, of which one is five times the other.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { addBookAccount, bookOf, storeBook, type Book } from '../../bench/harness/book.js';
import { pathsOfReads } from '../../bench/harness/book-reads.js';
import { ApiKeysService } from '../../src/accounts/api-keys.service.js';
import { listCounterDifferences } from '../../src/reconciliation/recomputation.queries.js';
import { serviceApplication, type ServiceApplication } from '../support/service-application.js';

const smallLines = 6_000;
/** An index may have one more level, and a page more rows. What grows with the book grows more. */
const allowedGrowth = 2.5;
/** These examine a bounded number of rows, of which the smaller book has fewer. */
const bounded = new Set([
  ...['breakOfLine', 'breakOfPayment', 'criticalBreaks', 'largeBreaks', 'oldBreaks'],
]);
const boundOfBlocks = 7_000;
const allowedBlocks = 100;

interface Statement {
  text: string;
  values: unknown[];
}

let service: ServiceApplication;
let recorded: Statement[] | null = null;
const { query } = pg.Client.prototype;

beforeAll(async () => {
  service = await serviceApplication();
  // Prisma and the pool both pass the text and its values as one object, or as two arguments.
  pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    const [first, second] = args;
    const statement = (typeof first === 'string' ? { text: first, values: second } : first) as {
      text?: string;
      values?: unknown;
    };
    // The sandbox bank in this process has a database of its own.
    const isOfService = this.database === serviceDatabaseName();
    if (recorded && isOfService && /^\s*(SELECT|WITH)\b/i.test(statement.text ?? ''))
      recorded.push({
        text: statement.text ?? '',
        values: Array.isArray(statement.values) ? statement.values : [],
      });
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof query;
}, 120_000);
afterAll(async () => {
  pg.Client.prototype.query = query;
  await service.stop();
});

function serviceDatabaseName(): string {
  const { connectionString = '' } = service.database.pool.options;
  return new URL(connectionString).pathname.slice(1);
}

async function store(slug: string, lines: number, kind: 'open breaks' | 'matched') {
  const { pool } = service.database;
  const accountId = await addBookAccount(pool, slug);
  const book: Book = { ...bookOf(accountId, lines, kind), days: 90 };
  await storeBook(pool, book);
  const keys = service.application.get(ApiKeysService, { strict: false });
  const { key } = await keys.create(accountId, { name: null, kind: 'api', scopes: ['read'] });
  return { accountId, key, paths: await pathsOfReads(pool, accountId) };
}

/** How many blocks the statements of a request read. */
async function blocksOf(path: string, key: string): Promise<number> {
  const statements: Statement[] = [];
  recorded = statements;
  const response = await fetch(service.url + path, { headers: { 'x-service-api-key': key } });
  recorded = null;
  expect([path, response.status]).toEqual([path, 200]);
  await response.text();
  let blocks = 0;
  for (const { text, values } of statements) {
    const { rows } = await service.database.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
      values,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    blocks += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
  }
  return blocks;
}

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

it.each(['open breaks', 'matched'] as const)(
  'reads as many blocks of a book of %s as of one of a fifth of its size',
  async (kind) => {
    const small = await store(`small ${kind}`.replaceAll(' ', '-'), smallLines, kind);
    const large = await store(`large ${kind}`.replaceAll(' ', '-'), 5 * smallLines, kind);
    await service.database.pool.query('VACUUM ANALYZE');
    const grown: string[] = [];
    const { ready: _, ...paths } = large.paths;
    for (const [name, path] of Object.entries(paths)) {
      const before = await blocksOf(small.paths[name] ?? '', small.key);
      const blocks = await blocksOf(path, large.key);
      const allowed = bounded.has(name) ? boundOfBlocks : before * allowedGrowth + allowedBlocks;
      if (blocks > allowed)
        grown.push(`${name}: ${before} blocks, and ${blocks} of the larger book`);
    }
    expect(grown).toEqual([]);
    const { prisma } = service.database;
    expect(await listCounterDifferences(prisma, large.accountId)).toEqual([]);
  },
  280_000,
);
