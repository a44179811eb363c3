// The first reading of a long history, killed in its midst: it goes on where it was, and the book is as if it had not been.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { summaryOf } from '../support/payments.js';
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
/** So slow is the bank that a kill comes in the midst. */
const pageMs = 60;
const killsAt = [lines / 3, (2 * lines) / 3];
/** Of a restart: the first page, the last that was known, the one that was lost with the kill, and one to spare. */
const pagesOfRestart = 4;
/** Polls by the clock, beside the import; far fewer than beginning again would take. */
const spared = 10;

describe('the first import of a long history, killed in its midst', () => {
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
    await bank.bank('POST', '/sandbox/generate', { count: lines, seed: 7, days: 30 });
    const slow = { endpoint: 'transactions', kind: 'slow', method: 'GET', delayMs: pageMs };
    await bank.bank('POST', '/sandbox/faults', slow);
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
    (await summaryOf(concilia)).statement as unknown as Progress & { balance: number };
  const pagesRead = async () => {
    const { body } = await bank.bank<{ faults: { fired: number }[] }>('GET', '/sandbox/faults');
    return body.faults.reduce((sum, { fired }) => sum + fired, 0);
  };

  it('goes on where it was, tells how far it is, and loses and doubles nothing', async () => {
    let told = 0;
    for (const killAt of [...killsAt, Infinity]) {
      await concilia.start();
      for (let isOver = false; !isOver; await sleep(50)) {
        const progress = await statementOf();
        if (progress.import) {
          expect(progress.complete).toBe(false);
          expect(progress.import.lines).toBeGreaterThanOrEqual(told);
          expect(progress.import.lines).toBeLessThanOrEqual(lines);
          told = progress.import.lines;
        }
        isOver = killAt === Infinity ? progress.complete : told >= killAt;
      }
      if (killAt === Infinity) break;
      // In its midst: neither of the kills came too late to tell anything.
      expect(told).toBeLessThan(lines);
      await concilia.kill();
    }
    expect(await pagesRead()).toBeLessThanOrEqual(pages + killsAt.length * pagesOfRestart + spared);

    let { statement, transactions } = await summaryOf(concilia);
    for (; transactions.pending > 0; { statement, transactions } = await summaryOf(concilia))
      await sleep(100);
    const ledger = (await bank.bank<Ledger>('GET', '/sandbox/ledger?account=1000001')).body;
    const account = ledger.accounts.find(({ number }) => number === '1000001');
    expect(statement).toMatchObject({ complete: true, import: null, balance: account?.balance });
    expect(transactions).toMatchObject({ total: lines, matched: 0, pending: 0 });
    expect(transactions.inBreak + transactions.classified).toBe(lines);

    const mirrored = await service.pool.query<{ nsu: number; amount: number; isCredit: boolean }>(
      `SELECT nsu::int, amount_cents::float8 / 100 AS amount, is_credit AS "isCredit" FROM statement_line ORDER BY nsu`,
    );
    const booked = ledger.movements.map(({ nsu, amount, isCredit }) => ({ nsu, amount, isCredit }));
    expect(mirrored.rows).toEqual(booked.sort((a, b) => a.nsu - b.nsu));
    const events = await service.pool.query<{ type: string; told: number; lines: number }>(
      `SELECT type, count(*)::int AS told, count(DISTINCT data::jsonb ->> 'nsu')::int AS lines
       FROM event WHERE type IN ('break.opened', 'transaction.unexpected') GROUP BY type ORDER BY type`,
    );
    const once = { told: transactions.inBreak, lines: transactions.inBreak };
    expect(events.rows).toEqual([
      { type: 'break.opened', ...once },
      { type: 'transaction.unexpected', ...once },
    ]);
  }, 60_000);
});
