// G13: how long the reads of the API and the pages of the console take on a large book with many
// open breaks. Measured from outside, one request at a time.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { signInByLink, visitorOf } from '../../test/support/console-visitor.js';
import { findPages } from '../../test/support/console-pages.js';
import { testDatabase } from '../../test/support/postgres.js';
import { pathsOfReads } from '../harness/book-reads.js';
import { addBookAccount, bookOf, storeBook } from '../harness/book.js';
import { measuredTogether } from '../harness/rounds.js';
import type { Bench, Contest, Size } from '../harness/bench.js';

const defaultLines = 1_000_000;
const shortLines = 2_000;
/** Of the lines: 50,000 of a million, with the payments that did not come. */
const [inBreak, overdue] = [0.04, 0.01];
const slug = 'book';
/** These ask the bank, which does not run here. */
const pagesOfTheBank = ['payer', 'webhook-health/registrations'];
/** Adds up each open payment, so its cost follows what is open: a figure of its own. */
const forecast = 'forecast';
const project = fileURLToPath(new URL('../..', import.meta.url));
const environment = { CREDENTIALS_KEY: 'bench-key-'.repeat(4) };

const figures = ['slowest read', 'slowest page', 'cash forecast'] as const;

export const bench: Bench = {
  id: 'G13',
  title: 'Reads and pages of a book of 1,000,000 lines and 50,000 open breaks, p95',
  unit: 'ms',
  goals: figures.map((of) => ({ of, atMost: 40 })),
  open: openContest,
};

type Send = () => Promise<{ status: number }>;

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
    const key = await createKey(service);
    const read = async (path: string) => {
      const headers = { 'x-service-api-key': key };
      const response = await fetch(service.serviceUrl + path, { headers });
      await response.text();
      return response;
    };
    const reads = Object.values(await pathsOfReads(database.pool, accountId));
    const pages = await findPages(visitor.get, slug, pagesOfTheBank);
    const [ofForecast, others] = [
      pages.filter(({ pattern }) => pattern === forecast),
      pages.filter(({ pattern }) => pattern !== forecast),
    ];
    const open = (found: typeof pages) =>
      found.map(
        ({ path }) =>
          () =>
            visitor.send(path),
      );
    const requests = isShort ? 3 : 40;
    const measure = async () => ({
      'slowest read': await slowestOf(
        reads.map((path) => () => read(path)),
        requests,
      ),
      'slowest page': await slowestOf(open(others), requests),
      'cash forecast': await slowestOf(open(ofForecast), requests),
    });
    const check = async () => {
      if (reads.length < 20 || others.length < 40 || ofForecast.length !== 1)
        throw new Error(`${reads.length} reads and ${pages.length} pages were found`);
      const { status } = await visitor.get(`/console/accounts/${slug}/today`);
      if (status !== 200) throw new Error('the session has ended');
    };
    return { contestants: measuredTogether(figures, measure), check, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function slowestOf(sends: Send[], requests: number): Promise<number> {
  const durations: number[] = [];
  for (const send of sends) durations.push(await percentile95(send, requests));
  return Math.max(...durations);
}

/** Of the durations. The first requests find cold caches. */
async function percentile95(send: Send, requests: number): Promise<number> {
  const times: number[] = [];
  for (let count = -2; count < requests; count += 1) {
    const startedAt = performance.now();
    const { status } = await send();
    if (status !== 200) throw new Error(`a request got ${status}`);
    if (count >= 0) times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * 0.95))] ?? NaN;
}

/** The link by which a person who may see everything signs in. */
async function createPerson(databaseUrl: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['dist/cli.js', 'people', 'invite', '--email', 'bench@example.com', '--role', 'admin'],
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
    { 'x-service-api-key': 'concilia-dev-admin' },
  );
  if (status >= 300) throw new Error(`no key was created: ${status}`);
  return body.key;
}
