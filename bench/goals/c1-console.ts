// C1: how long the service takes for each page of the console, on a large book with many open
// breaks, beside a look-up by key through the API. Measured from outside, one request at a time.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { signInByLink, visitorOf, type Visitor } from '../../test/support/console-visitor.js';
import { findPages } from '../../test/support/console-pages.js';
import { testDatabase } from '../../test/support/postgres.js';
import { pathsOfReads } from '../harness/book-reads.js';
import { addBookAccount, bookOf, storeBook } from '../harness/book.js';
import type { Bench, Contest, Size } from '../harness/bench.js';

const defaultLines = 1_000_000;
const shortLines = 2_000;
/** Of the lines: 50,000 of a million, with the payments that did not come. */
const [inBreak, overdue] = [0.04, 0.01];
const slug = 'book';
const yardstick = 'look-up by key';
/**
 * Every page of the menu, and every detail that a book has a row for. *Cash forecast* is measured
 * and compared with nothing: it adds up each open payment, so its cost follows what is open.
 */
const comparedPages = [
  ...['today', 'first-steps', 'breaks', 'breaks/:id', 'charges', 'charges/:id', 'charges/:id/void'],
  ...['transfers', 'transfers/:id', 'bills', 'refunds', 'operations', 'operations/:id'],
  ...['statement', 'statement/:id', 'statement/unreadable', 'days', 'days/:id'],
  ...['expected-payments', 'expected-payments/:id', 'expected-payments/new'],
  ...['rules', 'rules/:id', 'rules/:id/edit', 'rules/new', 'bulk', 'exports', 'imports'],
  ...['approvals', 'approval-policy', 'payment-controls', 'webhooks', 'webhooks/:id'],
  ...['webhook-health', 'endpoints', 'deliveries', 'alerts', 'alert-rules', 'alert-channels'],
  ...['account', 'keys', 'people', 'audit'],
];
/** These ask the bank, which does not run here. */
const pagesOfTheBank = ['payer', 'webhook-health/registrations'];
const project = fileURLToPath(new URL('../..', import.meta.url));
const environment = { CREDENTIALS_KEY: 'bench-key-'.repeat(4) };

async function openContest({ isShort, lines }: Size): Promise<Contest> {
  const [database, sandbox] = [await testDatabase('service'), await testDatabase('sandbox')];
  const service = await ConciliaProcess.with({
    ...{ DATABASE_URL: database.url, SANDBOX_DATABASE_URL: sandbox.url, ...environment },
    ...{ ROLES: 'api', BANK_PROFILE: 'sandbox' },
    ...{ BANK_BASE_URL: 'http://127.0.0.1:1', PUBLIC_URL: 'http://127.0.0.1:1' },
  });
  const close = async () => {
    await service.stop();
    await database.drop();
    await sandbox.drop();
  };
  try {
    await service.start();
    const size = lines ?? (isShort ? shortLines : defaultLines);
    const accountId = await addBookAccount(database.pool, slug);
    const book = { ...bookOf(accountId, size, 'matched'), inBreak, overdue: overdue * size };
    await storeBook(database.pool, book);
    await database.pool.query('VACUUM ANALYZE');
    const visitor = visitorOf({ url: service.serviceUrl });
    await signInByLink(visitor, await createPerson(database.url));
    const pages = await findPages(visitor.get, slug, pagesOfTheBank);
    const { keyLookUp = '' } = await pathsOfReads(database.pool, accountId);
    const key = await createKey(service);
    const requests = isShort ? 3 : 30;
    const lookUp = () => fetch(service.serviceUrl + keyLookUp, { headers: { ...apiKey(key) } });
    const contestants = Object.fromEntries([
      [yardstick, () => measure(lookUp, requests)],
      ...pages.map(({ pattern, path }) => [
        pattern,
        () => measure(() => visitor.send(path), requests),
      ]),
    ]) as Contest['contestants'];
    return { contestants, check: () => checkPages(visitor, pages), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const apiKey = (key: string) => ({ 'x-service-api-key': key });

/** The link by which a person who may see everything signs in. */
async function createPerson(databaseUrl: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['dist/operator.js', 'create', '--email', 'bench@example.com', '--role', 'admin'],
    { cwd: project, env: { ...process.env, ...environment, DATABASE_URL: databaseUrl } },
  );
  const [link] = /\/console\/link\/[\w-]{43}/.exec(stdout) ?? [];
  if (!link) throw new Error(`no link was printed: ${stdout}`);
  return link;
}

async function createKey(service: ConciliaProcess): Promise<string> {
  const { status, body } = await service.callService<{ key: string }>(
    'POST',
    `/v1/accounts/${slug}/keys`,
    { name: 'bench', scopes: ['read'] },
    apiKey('concilia-dev-admin'),
  );
  if (status >= 300) throw new Error(`no key was created: ${status}`);
  return body.key;
}

/** The median of the durations. The first requests find cold caches. */
async function measure(
  request: () => Promise<{ status: number; text: unknown }>,
  requests: number,
): Promise<number> {
  const times: number[] = [];
  for (let count = -2; count < requests; count += 1) {
    const startedAt = performance.now();
    const response = await request();
    if (response instanceof Response) await response.text();
    if (response.status !== 200) throw new Error(`a page got ${response.status}`);
    if (count >= 0) times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)] ?? NaN;
}

async function checkPages(visitor: Visitor, pages: { pattern: string }[]): Promise<void> {
  const missing = comparedPages.filter((page) => !pages.some(({ pattern }) => pattern === page));
  if (missing.length > 0) throw new Error(`no link leads to ${missing.join(', ')}`);
  const { status } = await visitor.get(`/console/accounts/${slug}/today`);
  if (status !== 200) throw new Error('the session has ended');
}

export const bench: Bench = {
  id: 'C1',
  title: 'pages of the console at 1,000,000 lines and 50,000 open breaks, median',
  unit: 'ms',
  goals: comparedPages.map((of) => ({ of, against: yardstick, atMost: 5 })),
  open: openContest,
};
