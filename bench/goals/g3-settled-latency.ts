// From a payment at the bank to the signed event about it, beside an empty and beside a large book.
import { testDatabase } from '../../test/support/postgres.js';
import { until } from '../../test/support/until.js';
import type { Bench } from '../harness/bench.js';
import { BenchBank, BenchService } from '../harness/deployment.js';
import { summarizeRounds } from '../harness/rounds.js';
import { SettleYardstick } from '../yardsticks/settle.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const defaultLines = 100_000;
const shortLines = 500;
const warmUpPayments = 100;
const yardstickKey = 'sandbox-dev-key-2';

export const bench: Bench = {
  id: 'G3',
  title: 'From a payment at the bank to its signed event, median',
  unit: 'ms',
  goals: [
    { of: 'empty book', against: 'webhook, page, INSERT, POST', atMost: 5 },
    { of: 'large book', against: 'empty book', atMost: 1.25 },
  ],
  async open({ isShort, lines }) {
    // The yardstick takes a few milliseconds: a median of few payments would spread too far.
    const paymentsPerRound = isShort ? 2 : 40;
    const count = lines ?? (isShort ? shortLines : defaultLines);
    const banks = [await BenchBank.open(), await BenchBank.open()] as const;
    await banks[1].generate(count);
    const services: BenchService[] = [];
    for (const bank of banks) services.push(await BenchService.open(bank));
    const [empty, large] = services as [BenchService, BenchService];
    await large.explained(count);
    await large.database.pool.query('VACUUM ANALYZE');
    for (const service of services) await service.subscribe('charge.paid');
    const yardstick = await openYardstick(banks[0]);
    const medianOf = (settle: () => Promise<number>) => async () => {
      const times: number[] = [];
      for (let payment = 0; payment < paymentsPerRound; payment += 1) times.push(await settle());
      return summarizeRounds(times).median;
    };
    // The process with the large book has decided it. The other would be measured cold.
    for (let payment = 0; payment < (isShort ? 1 : warmUpPayments); payment += 1) {
      for (const service of services) await service.settleCharge();
      await yardstick.settle();
    }
    return {
      contestants: {
        'webhook, page, INSERT, POST': medianOf(() => yardstick.settle()),
        'empty book': medianOf(() => empty.settleCharge()),
        'large book': medianOf(() => large.settleCharge()),
      },
      check: async () => {
        for (const service of services) await service.check();
      },
      close: async () => {
        await yardstick.close();
        for (const service of services) await service.close();
        for (const bank of banks) await bank.close();
      },
    };
  },
};

/** Payments of another account of the same bank, and the yardstick that reports them. */
async function openYardstick(bank: BenchBank) {
  const database = await testDatabase();
  let received = 0;
  let receivedAt = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      receivedAt = performance.now();
      received += 1;
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const eventUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const target = { bankUrl: bank.url, apiKey: yardstickKey, eventUrl };
  const yardstick = await SettleYardstick.start(database.pool, target);
  return {
    settle: async () => {
      const before = received;
      const startedAt = performance.now();
      await fetch(`${bank.url}/sandbox/pix/received`, {
        method: 'POST',
        headers: { 'x-service-api-key': yardstickKey, 'content-type': 'application/json' },
        body: JSON.stringify({ amount: 10 }),
      });
      await until('the event is received', () => received > before);
      return receivedAt - startedAt;
    },
    close: async () => {
      await yardstick.stop();
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
      await database.drop();
    },
  };
}
