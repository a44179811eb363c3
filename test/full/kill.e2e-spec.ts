// Kills the whole service with kill -9 while charges are requested and paid.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import {
  sampleChargeRequest,
  forEachConcurrently,
  registerReceiver,
  fetchSummary,
} from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

interface Ledger {
  accounts: { number: string; balance: number }[];
  movements: { nsu: number; correlationId: string | null; amount: number }[];
  audit: { clean: boolean };
}

const kills = 3;
const payments = 60;

describe('the service after a kill -9 and a restart', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let concilia: ConciliaProcess;
  let receiver: Receiver;

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    receiver = await Receiver.listen();
    concilia = await ConciliaProcess.with({
      DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
    });
    await concilia.start();
    await registerReceiver(concilia, receiver);
  }, 60_000);

  afterAll(async () => {
    await concilia.stop();
    await receiver.close();
    await service.drop();
    await bank.drop();
  });

  it('loses no payment and reports each once', async () => {
    const ids = Array.from({ length: payments }, (_, index) => `killed-${index}`);
    let isSending = true;
    const killing = (async () => {
      for (let round = 1; round <= kills && isSending; round += 1) {
        await sleep(400 + round * 130);
        await concilia.kill();
        await concilia.start();
      }
    })();
    // Without a response, the business system repeats the request under the same correlationId. The
    // payer repeats the payment.
    await forEachConcurrently(ids, 4, async (id) => {
      await until(
        `charge ${id} is created`,
        async () => {
          const { status } = await concilia.callService(
            'POST',
            '/baas/v1/charges',
            sampleChargeRequest(id),
          );
          return status === 200;
        },
        60_000,
      );
      await until(
        `charge ${id} is paid`,
        async () => {
          const { status } = await concilia.callBank('POST', `/baas/v1/charges/${id}/pay`);
          return status === 200 || status === 409;
        },
        60_000,
      );
    });
    isSending = false;
    await killing;

    const ledger = (await concilia.callBank<Ledger>('GET', '/sandbox/ledger?account=1000001')).body;
    expect(ledger.audit.clean).toBe(true);
    const paidAtBank = ledger.movements.map(({ correlationId }) => correlationId).sort();
    await until(
      'each payment at the bank has an event',
      () =>
        receiver.distinct('charge.paid').length + receiver.distinct('charge.overpaid').length >=
        paidAtBank.length,
      60_000,
    );
    const events = [...receiver.distinct('charge.paid'), ...receiver.distinct('charge.overpaid')];
    expect(events.map(({ data }) => data.nsu).sort()).toEqual(
      ledger.movements.map(({ nsu }) => nsu).sort(),
    );
    expect(new Set(events.map(({ data }) => data.correlationId))).toEqual(new Set(ids));

    const summary = await fetchSummary(concilia);
    expect(summary.transactions).toMatchObject({
      total: ledger.movements.length,
      matched: ledger.movements.length,
      pending: 0,
    });
    const account = ledger.accounts.find(({ number }) => number === '1000001');
    expect(summary.statement).toMatchObject({ complete: true, balance: account?.balance });
    const operations = await service.pool.query(
      `SELECT state, count(*)::int AS operations FROM operation GROUP BY state`,
    );
    expect(operations.rows).toEqual([{ state: 'succeeded', operations: ids.length }]);
  }, 180_000);
});
