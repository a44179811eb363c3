// TEDs through the service, on a sandbox bank: requested, sent once, and settled by the statement.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { TransferStatusChecks } from '../../../src/outbound/transfers/transfer-status-checks.service.js';
import { manualTransfer } from '../../contract/transfer-samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const path = '/baas/api/v2/transfers/ted';

describe('a TED', () => {
  let service: ServiceOnSandbox;
  beforeAll(async () => {
    service = await serviceOnSandbox();
    await service.bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
  });
  afterAll(() => service.stop());

  const send = (
    changes: Record<string, unknown> = {},
    key: string = randomUUID(),
    headers: object = {},
  ) =>
    service.call('POST', path, {
      body: manualTransfer(changes),
      headers: { IdempotencyKey: key, ...headers },
    });
  const fault = (kind: string) =>
    service.bank.call('POST', '/sandbox/faults', {
      body: { endpoint: 'transfers', kind, times: 1, delayMs: 0 },
    });
  const transfer = async (id: string) => (await service.call('GET', `/v1/transfers/${id}`)).body;
  const debits = async (amount: number) => {
    const lines = await service.bank.call('GET', '/baas/api/v2/transactions?limit=100');
    return lines.body.filter(
      (line: { amount: number; type: { name: string } }) =>
        line.amount === amount && line.type.name === 'DEBIT_TRANSFER_EXTERNAL',
    );
  };
  const reconcile = () =>
    service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId: service.accountId });
  const settle = async () => {
    await service.bank.call('POST', '/sandbox/clock', { body: { advance: 'PT1S' } });
    await service.sync();
    await reconcile();
  };
  const checkStatus = async () => {
    await service.pool.query('UPDATE transfer SET next_check_at = now() WHERE shape = $1', ['ted']);
    const checks = service.application.get(TransferStatusChecks, { strict: false });
    await checks.check({ accountId: service.accountId });
  };

  it('is sent once for its key, and settled by its line', async () => {
    const key = randomUUID();
    const { status, body } = await send({ amount: 21.5 }, key);
    expect([status, body.status, body.amount]).toEqual([200, 'PROCESSING', 21.5]);
    expect((await send({ amount: 21.5 }, key)).body).toEqual(body);
    expect((await send({ amount: 21.6 }, key)).status).toBe(422);
    expect(await transfer(body.id)).toMatchObject({ shape: 'ted', settlement: 'open' });
    await settle();
    expect(await debits(21.5)).toHaveLength(1);
    const nsu = (await debits(21.5))[0].nsu;
    expect(await transfer(body.id)).toMatchObject({ settlement: 'settled', nsu });
    await checkStatus();
    expect(await transfer(body.id)).toMatchObject({ state: 'effective', bankStatus: 'EFFECTIVE' });
    expect((await service.call('GET', `${path}/${body.id}`)).body).toMatchObject({
      id: body.id,
      status: 'EFFECTIVE',
    });
  });

  it('that the bank returns is reversed', async () => {
    await fault('async-error');
    const { body } = await send({ amount: 22.5 });
    await settle();
    await checkStatus();
    await reconcile();
    expect(await transfer(body.id)).toMatchObject({
      ...{ state: 'failed', errorCode: 'AC06', settlement: 'reversed' },
      reversals: [{ amount: 22.5 }],
    });
  });

  it('whose response never came succeeds by its line, and is not sent again', async () => {
    await fault('reset-after-effect');
    const key = randomUUID();
    const { status, headers } = await send({ amount: 23.5 }, key);
    expect(status).toBe(202);
    const operationId = headers.get('location')!.split('/').at(-1)!;
    expect((await send({ amount: 23.5 })).status).toBe(409);
    await settle();
    const recovery = service.application.get(OperationRecovery, { strict: false });
    await recovery.advance({ accountId: service.accountId, operationId });
    expect(await transfer(operationId)).toMatchObject({ settlement: 'settled' });
    expect(await debits(23.5)).toHaveLength(1);
  });

  it('awaits approval where the policy names it', async () => {
    const policy = (body: object) => service.call('PUT', '/v1/approval-policy', { body });
    expect((await policy({ aboveAmount: 0, kinds: ['create_ted'] })).status).toBe(200);
    const { status, body } = await send({ amount: 24.5 });
    expect([status, body.state]).toEqual([202, 'awaiting_approval']);
    expect(await debits(24.5)).toEqual([]);
    await policy({ aboveAmount: null });
  });
});
