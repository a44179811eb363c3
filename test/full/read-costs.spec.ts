// Reads of a book cost the same however large it is: the blocks that their statements read are
// compared between two books, of which one is five times the other.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { addBookAccount, bookOf, storeBook, type Book } from '../../bench/harness/book.js';
import { pathsOfReads } from '../../bench/harness/book-reads.js';
import { ApiKeysService } from '../../src/access/accounts/api-keys.service.js';
import { listCounterDifferences } from '../../src/reconciliation/runs/recomputation.queries.js';
import { listSimilarExpectedPayments } from '../../src/reconciliation/breaks/break-candidates.queries.js';
import { beginRun, countChanges, endRun } from '../../src/reconciliation/runs/runs.queries.js';
import { findPages } from '../support/console-pages.js';
import { signedInPerson } from '../support/console-visitor.js';
import { measureRowsRead } from '../support/rows-read.js';
import { serviceApplication, type ServiceApplication } from '../support/service-application.js';

const smallLines = 6_000;
/** An index may have one more level, and a page more rows. What grows with the book grows more. */
const allowedGrowth = 2.5;
/** These examine a bounded number of rows, of which the smaller book has fewer. */
const bounded = new Set([
  ...['breakOfLine', 'breakOfPayment', 'criticalBreaks', 'largeBreaks', 'oldBreaks'],
  ...['rareBreaks', 'resolvedBreaks', 'inBreakOfDay'],
]);
const boundOfBlocks = 7_000;
/** Of these, the first three add up what is open or a month, and the others ask the bank. */
const pagesLeftOut = [
  ...['forecast', 'overview', 'months/:id', 'payer', 'webhook-health/registrations'],
];
/** A page examines a bounded number of rows, of which the smaller book has fewer. */
const boundedPages = new Set(['breaks/:id']);
const allowedBlocks = 100;

interface Statement {
  text: string;
  values: unknown[];
}

let service: ServiceApplication;
let recorded: Statement[] | null = null;
/** The statements that change rows, while reads are recorded. */
const changes: string[] = [];
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
    // The queue has a schema of its own, in which only jobs that wait are counted.
    const isOfQueue = /\bFROM job\b/.test(statement.text ?? '');
    const isOfService = this.database === serviceDatabaseName() && !isOfQueue;
    if (recorded && isOfService && /^\s*(INSERT|UPDATE|DELETE)\b/i.test(statement.text ?? ''))
      changes.push(statement.text ?? '');
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

/** Reads as a business system. */
async function fetchAs(key: string, path: string): Promise<void> {
  const response = await fetch(service.url + path, { headers: { 'x-service-api-key': key } });
  expect([path, response.status]).toEqual([path, 200]);
  await response.text();
}

/** How many blocks the statements of a request read. */
async function blocksOf(read: () => Promise<void>): Promise<number> {
  const statements: Statement[] = [];
  recorded = statements;
  await read();
  recorded = null;
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

/** How many blocks the counts of a run read, during which nothing has changed. */
async function blocksOfRun(accountId: number): Promise<number> {
  const { database } = service;
  return blocksOf(() =>
    database.transaction(async (tx) => {
      const run = { accountId, runId: await beginRun(tx, accountId, 'request', null) };
      // It ends here: otherwise the scheduler would run it.
      await endRun(tx, run, await countChanges(tx, run), null);
    }),
  );
}

/** How many expected payments a plan that is kept reads for the candidates of a line. */
async function countPaymentsOfCandidates(accountId: number): Promise<number> {
  const { rowsRead } = await measureRowsRead(service.database, 'expected_payment', async (tx) => {
    await tx.$executeRaw`SET LOCAL plan_cache_mode = force_generic_plan`;
    const where = { accountId, isCredit: true };
    const line = await tx.statementLine.findFirstOrThrow({ where, orderBy: { nsu: 'desc' } });
    expect((await listSimilarExpectedPayments(tx, accountId, line, [])).length).toBeGreaterThan(0);
  });
  return rowsRead;
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
      const before = await blocksOf(() => fetchAs(small.key, small.paths[name] ?? ''));
      const blocks = await blocksOf(() => fetchAs(large.key, path));
      const allowed = bounded.has(name) ? boundOfBlocks : before * allowedGrowth + allowedBlocks;
      if (blocks > allowed)
        grown.push(`${name}: ${before} blocks, and ${blocks} of the larger book`);
    }
    expect(grown).toEqual([]);
    const blocksOfSmall = await blocksOfRun(small.accountId);
    expect(await blocksOfRun(large.accountId)).toBeLessThan(blocksOfSmall + allowedBlocks);
    expect(await countPaymentsOfCandidates(large.accountId)).toBeLessThan(1_000);
    const { prisma } = service.database;
    expect(await listCounterDifferences(prisma, large.accountId)).toEqual([]);
  },
  280_000,
);

/** What people read of a book in the console: lists, a line, and what they search for. */
async function pagesOf(slug: string, accountId: number): Promise<Map<string, () => Promise<void>>> {
  const person = await signedInPerson(service, `${slug}@example.com`, { accountId, role: 'admin' });
  const pages = `/console/accounts/${slug}`;
  const { rows } = await service.database.pool.query<Record<string, string>>(
    `SELECT nsu, end_to_end_id, correlation_id, counterparty_document, counterparty_name,
            replace(round(amount_cents / 100.0, 2)::text, '.', ',') AS amount
     FROM statement_line WHERE account_id = $1 AND correlation_id LIKE 'c%'
     ORDER BY nsu LIMIT 1 OFFSET 100`,
    [accountId],
  );
  const { nsu = '', ...typed } = rows[0] ?? {};
  const open = async (path: string) => {
    const { status } = await person.get(path);
    expect([path, status]).toEqual([path, 200]);
  };
  const search = async (text: string) => {
    const answer = await person.submit(`${pages}/search`, { q: text });
    if (answer.location?.startsWith(`${pages}/search?`)) await person.get(answer.location);
    expect([200, 303]).toContain(answer.status);
  };
  const found = await findPages(person.get, slug, pagesLeftOut);
  const searched = { nsu, ...typed, nothing: 'no-such-id', id: randomUUID() };
  return new Map([
    ...found.map(({ pattern, path }) => [pattern, () => open(path)] as const),
    ['a line', () => open(`${pages}/statement/${nsu}`)],
    ...Object.entries(searched).map(
      ([name, text]) => [`search by ${name}`, () => search(text)] as const,
    ),
  ]);
}

it('reads as many blocks for the pages of people', async () => {
  const small = await store('small-for-people', smallLines, 'matched');
  const large = await store('large-for-people', 5 * smallLines, 'matched');
  const { pool } = service.database;
  // Lines are written once; the books have no names.
  await pool.query('ALTER TABLE statement_line DISABLE TRIGGER USER');
  await pool.query(`UPDATE statement_line SET counterparty_name = 'Payer ' || nsu % 97`);
  await pool.query('ALTER TABLE statement_line ENABLE TRIGGER USER');
  await pool.query('VACUUM ANALYZE');
  const before = await pagesOf('small-for-people', small.accountId);
  const grown: string[] = [];
  changes.length = 0;
  for (const [name, read] of await pagesOf('large-for-people', large.accountId)) {
    const least = await blocksOf(before.get(name) ?? read);
    const blocks = await blocksOf(read);
    const allowed = boundedPages.has(name) ? boundOfBlocks : least * allowedGrowth + allowedBlocks;
    if (blocks > allowed) grown.push(`${name}: ${least} blocks, and ${blocks} of the larger book`);
  }
  // A page reads; the use of a session is stored once a minute. A request takes a token of its
  // address, whichever page it is for.
  const ofPages = changes.filter((text) => !text.includes('rate_limit'));
  expect(ofPages.filter((text) => !text.includes('operator_session'))).toEqual([]);
  expect(ofPages.length).toBeLessThan(10);
  expect(grown).toEqual([]);
}, 280_000);
