// G13: how long reads take on a large book, most of whose lines are in open breaks, and on one most
// of whose lines are matched. Measured from outside, beside a look-up by key.
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { testDatabase } from '../../test/support/postgres.js';
import { addBookAccount, bookOf, storeBook } from '../harness/book.js';
import { pathsOfReads } from '../harness/book-reads.js';
import type { Bench, Contest, Goal, Size } from '../harness/bench.js';

const defaultLines = 100_000;
const shortLines = 2_000;
const kinds = { breaks: 'open breaks', matched: 'matched' } as const;
const goalMs = 30;
/** The reads that the goal names, of the book that they are hardest in. */
const goalReads = [
  ...['summary', 'webhookHealth', 'inBreak', 'inBreakDeep'],
  ...['overdue', 'overdueDeep', 'breakOfLine', 'breakOfPayment'],
];

const goals = Object.keys(kinds).flatMap((kind) =>
  goalReads.map((read): Goal => ({ of: `${kind}: ${read}`, atMost: goalMs })),
);

interface Read {
  url: string;
  key: string;
}

async function openContest({ isShort, lines }: Size): Promise<Contest> {
  const [database, sandbox] = [await testDatabase('service'), await testDatabase('sandbox')];
  const service = await ConciliaProcess.with({
    ...{ DATABASE_URL: database.url, SANDBOX_DATABASE_URL: sandbox.url },
    ...{ CREDENTIALS_KEY: 'bench-key-'.repeat(4), ROLES: 'api', BANK_PROFILE: 'sandbox' },
    ...{ BANK_BASE_URL: 'http://127.0.0.1:1', PUBLIC_URL: 'http://127.0.0.1:1' },
  });
  const close = async () => {
    await service.stop();
    await database.drop();
    await sandbox.drop();
  };
  try {
    await service.start();
    const reads: Record<string, Read> = {};
    const size = lines ?? (isShort ? shortLines : defaultLines);
    for (const [name, kind] of Object.entries(kinds)) {
      const accountId = await addBookAccount(database.pool, name);
      await storeBook(database.pool, bookOf(accountId, size, kind));
      const key = await createKey(service, name);
      for (const [read, path] of Object.entries(await pathsOfReads(database.pool, accountId)))
        reads[`${name}: ${read}`] = { url: service.serviceUrl + path, key };
    }
    await database.pool.query('VACUUM ANALYZE');
    const contestants = Object.fromEntries(
      Object.entries(reads).map(([name, read]) => [name, () => measure(read, isShort ? 3 : 40)]),
    );
    const check = async () => {
      for (const read of Object.values(reads)) await request(read);
    };
    return { contestants, check, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createKey(service: ConciliaProcess, slug: string): Promise<string> {
  const { status, body } = await service.callService<{ key: string }>(
    'POST',
    `/v1/accounts/${slug}/keys`,
    { name: 'bench', scopes: ['read'] },
    { 'x-service-api-key': 'concilia-dev-admin' },
  );
  if (status >= 300) throw new Error(`no key was created: ${status}`);
  return body.key;
}

/** The 95th percentile of the durations. The first requests find cold caches. */
async function measure(read: Read, requests: number): Promise<number> {
  const times: number[] = [];
  for (let count = -2; count < requests; count += 1) {
    const startedAt = performance.now();
    await request(read);
    if (count >= 0) times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * 0.95))] ?? NaN;
}

async function request({ url, key }: Read): Promise<void> {
  const response = await fetch(url, { headers: { 'x-service-api-key': key } });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url} got ${response.status}: ${body}`);
}

export const bench: Bench = {
  id: 'G13',
  title: 'reads of a large book, p95',
  unit: 'ms',
  goals,
  open: openContest,
};
