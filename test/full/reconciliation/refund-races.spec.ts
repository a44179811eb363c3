// A person links a refund to a Pix while another process of the service refunds that Pix: one of
// both is done, and the other is refused.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { serviceProcess, type ServiceProcess } from '../../support/service-application.js';

let bank: SandboxUnderTest;
let test: TestDatabase;
let processes: [ServiceProcess, ServiceProcess];

beforeAll(async () => {
  bank = await sandboxUnderTest();
  test = await testDatabase('service');
  const url = await bank.application.getUrl();
  processes = [await serviceProcess(test, url), await serviceProcess(test, url)];
});
afterAll(async () => {
  for (const { stop } of processes) await stop();
  await test.drop();
  await bank.stop();
});

const post = async (path: string, body: object) => (await bank.call('POST', path, { body })).body;

async function syncAndReconcile() {
  const { application, database } = processes[0];
  const { id: accountId } = await database.prisma.bankAccount.findFirstOrThrow();
  await application.get(StatementSync, { strict: false }).sync(accountId);
  await application.get(ReconciliationService, { strict: false }).reconcile({ accountId });
}

it('makes the link or the refund, and never both', async () => {
  await syncAndReconcile();
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round += 1) {
    const amount = 70 + round;
    const pix = await post('/sandbox/pix/received', { amount });
    // Of no type of refunds: it freezes nothing.
    const fields = { amount, isCredit: false, typeName: 'DEBIT_ADJUSTMENT' };
    const debit = await post('/sandbox/transactions', fields);
    await syncAndReconcile();
    // The refund is under way while the bank is slow.
    const slow = { endpoint: 'refunds', kind: 'slow', times: 1, delayMs: 1_500 };
    await post('/sandbox/faults', slow);
    const refundOf = [{ nsu: pix.nsu, amount }];
    const refund = () =>
      processes[0].call('PUT', `/baas/api/v1/transactions/${pix.nsu}/refund?filterBy=NSU`, {
        body: { amount },
        headers: { IdempotencyKey: randomUUID(), 'Concilia-Allow-Duplicate': 'true' },
      });
    const link = () =>
      processes[1].call('POST', '/v1/matches', {
        body: { nsu: debit.nsu, refundOf, reason: 'as agreed' },
      });
    const [linked, refunded] =
      round % 2 === 0
        ? await Promise.all([link(), refund()])
        : (await Promise.all([refund(), link()])).reverse();
    const results = [linked!.status, linked!.body.code, refunded!.status, refunded!.body.code];
    outcomes.add(JSON.stringify(results.map((one) => one ?? null)));
    await bank.call('DELETE', '/sandbox/faults');
    await syncAndReconcile();
    const { rows } = await test.pool.query(
      `SELECT count(*)::int AS count FROM break WHERE kind = 'over_refunded'`,
    );
    expect(rows).toEqual([{ count: 0 }]);
  }
  const known = [
    JSON.stringify([201, null, 422, 'refund_exceeds_original']),
    JSON.stringify([409, 'refund_under_way', 200, null]),
    JSON.stringify([409, 'refund_under_way', 202, null]),
  ];
  expect([...outcomes].filter((one) => !known.includes(one))).toEqual([]);
});
