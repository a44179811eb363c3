// The first import of a long history, killed halfway: it resumes, and the result is that of an
// uninterrupted import.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { fetchSummary } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';

interface Ledger {
  accounts: { number: string; balance: number }[];
  movements: { nsu: number; amount: number; isCredit: boolean }[];
}
interface Progress {
  complete: boolean;
  import: { lines: number; linesPerSecond: number } | null;
}

const lines = 3_000;
const pages = lines / 100;
/** The delay of each page: slow enough that each kill comes during the import. */
const pageMs = 60;
const killsAt = [lines / 3, (2 * lines) / 3];
/**
 * Pages that a restart may read again: the first, the last one stored, the one lost with the kill,
 * and a spare.
 */
const pagesPerRestart = 4;
/** Pages of scheduled syncs beside the import; a restart from the beginning would read far more. */
const scheduledPages = 10;

describe('the first import of a long history, killed halfway', () => {
  let service: TestDatabase;
  let bankDatabase: TestDatabase;
  let bank: ConciliaProcess;
  let concilia: ConciliaProcess;

  beforeAll(async () => {
    [service, bankDatabase] = [await testDatabase('service'), await testDatabase('sandbox')];
    bank = await ConciliaProcess.with({
      ROLES: 'sandbox',
      SANDBOX_DATABASE_URL: bankDatabase.url,
    });
    await bank.start();
    await bank.callBank('POST', '/sandbox/generate', { count: lines, seed: 7, days: 30 });
    const slow = { endpoint: 'transactions', kind: 'slow', method: 'GET', delayMs: pageMs };
    await bank.callBank('POST', '/sandbox/faults', slow);
    concilia = await ConciliaProcess.with({
      DATABASE_URL: service.url,
      BANK_BASE_URL: bank.bankUrl,
      BANK_PROFILE: 'sandbox',
    });
  }, 60_000);

  afterAll(async () => {
    await concilia.stop();
    await bank.stop();
    await service.drop();
    await bankDatabase.drop();
  });

  const statementOf = async () =>
    (await fetchSummary(concilia)).statement as unknown as Progress & { balance: number };
  const pagesRead = async () => {
    const { body } = await bank.callBank<{ faults: { fired: number }[] }>('GET', '/sandbox/faults');
    return body.faults.reduce((sum, { fired }) => sum + fired, 0);
  };

  it('resumes, reports its progress, and stores each line once', async () => {
    let imported = 0;
    for (const killAt of [...killsAt, Infinity]) {
      await concilia.start();
      for (let hasReached = false; !hasReached; await sleep(50)) {
        const progress = await statementOf();
        if (progress.import) {
          expect(progress.complete).toBe(false);
          expect(progress.import.lines).toBeGreaterThanOrEqual(imported);
          expect(progress.import.lines).toBeLessThanOrEqual(lines);
          imported = progress.import.lines;
        }
        hasReached = killAt === Infinity ? progress.complete : imported >= killAt;
      }
      if (killAt === Infinity) break;
      // The kill comes during the import.
      expect(imported).toBeLessThan(lines);
      await concilia.kill();
    }
    expect(await pagesRead()).toBeLessThanOrEqual(
      pages + killsAt.length * pagesPerRestart + scheduledPages,
    );

    let { statement, transactions } = await fetchSummary(concilia);
    for (; transactions.pending > 0; { statement, transactions } = await fetchSummary(concilia))
      await sleep(100);
    const ledger = (await bank.callBank<Ledger>('GET', '/sandbox/ledger?account=1000001')).body;
    const account = ledger.accounts.find(({ number }) => number === '1000001');
    expect(statement).toMatchObject({ complete: true, import: null, balance: account?.balance });
    expect(transactions).toMatchObject({ total: lines, matched: 0, pending: 0 });
    expect(transactions.inBreak + transactions.classified).toBe(lines);

    const stored = await service.pool.query<{ nsu: number; amount: number; isCredit: boolean }>(
      `SELECT nsu::int, amount_cents::float8 / 100 AS amount, is_credit AS "isCredit"
       FROM statement_line ORDER BY nsu`,
    );
    const booked = ledger.movements.map(({ nsu, amount, isCredit }) => ({ nsu, amount, isCredit }));
    expect(stored.rows).toEqual(booked.sort((a, b) => a.nsu - b.nsu));
    const events = await service.pool.query<{ type: string; events: number; lines: number }>(
      `SELECT type, count(*)::int AS events, count(DISTINCT data::jsonb ->> 'nsu')::int AS lines
       FROM event WHERE type IN ('break.opened', 'transaction.unexpected')
       GROUP BY type ORDER BY type`,
    );
    const once = { events: transactions.inBreak, lines: transactions.inBreak };
    expect(events.rows).toEqual([
      { type: 'break.opened', ...once },
      { type: 'transaction.unexpected', ...once },
    ]);
  }, 150_000);
});
