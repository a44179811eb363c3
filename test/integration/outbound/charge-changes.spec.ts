// What clients of the bank use beyond the contract, through the service: voids, due dates, charges
// and transfers as the bank has them, and balances.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { BankService } from '../../../src/bank/bank.service.js';
import { ChargeStatusChecks } from '../../../src/outbound/charges/charge-status.service.js';
import { addDays } from '../../../src/brazil/calendar.js';
import { saoPauloDay } from '../../../src/brazil/statement-day.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import { dayFromToday, expectError, newKeyHeader, pixSlip, slip } from '../../contract/samples.js';
import { internalTransfer, manualTransfer } from '../../contract/transfer-samples.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

let service: ServiceOnSandbox;
beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.sync();
});
afterAll(async () => {
  await expectDeclaredEvents(service.database.pool, ['charge.cancelled']);
  await service.stop();
});

const issue = async (request: { correlationId: string } = slip()) => {
  const { status } = await service.call('POST', '/baas/v1/charges', { body: request });
  expect(status).toBe(200);
  return request.correlationId;
};
const pathOf = (id: string) => `/baas/v1/charges/${id}`;
const voidCharge = (id: string, headers = {}) =>
  service.call('POST', `${pathOf(id)}/void`, { headers });
const changeDueDate = (id: string, dueDate: string) =>
  service.call('PATCH', pathOf(id), { body: { dueDate } });
const read = async (id: string) => (await service.call('GET', `/v1/charges/${id}`)).body;
const fault = (kind: string, method: string) =>
  service.bank.call('POST', '/sandbox/faults', {
    body: { endpoint: 'charges', kind, times: 1, method },
  });
const eventsOf = async (id: string) => {
  const { body } = await service.call('GET', '/v1/events?limit=100');
  return body.data
    .filter(({ resource }: { resource: { id: string } }) => resource.id === id)
    .map(({ type }: { type: string }) => type);
};
/** Recovers an operation as its job would, after its pause. */
const recover = async (operationId: string) => {
  await service.pool.query('UPDATE operation SET next_action_at = now() WHERE id = $1', [
    operationId,
  ]);
  await service.application
    .get(OperationRecovery, { strict: false })
    .advance({ accountId: service.accountId, operationId });
};

describe('a void', () => {
  it('is passed on, cancels the charge and is reported once', async () => {
    const id = await issue();
    const { status, body } = await voidCharge(id);
    expect([status, body.status]).toEqual([200, 'Voided']);
    expect((await voidCharge(id)).body).toEqual(body);
    expect(await read(id)).toMatchObject({ status: 'Voided', settlement: 'cancelled' });
    expect((await service.call('GET', pathOf(id))).body.status).toBe('Voided');
    await service.application
      .get(ChargeStatusChecks, { strict: false })
      .checkDueCharges({ accountId: service.accountId });
    expect(await eventsOf(id)).toEqual(['charge.cancelled']);
  });

  it('of a paid charge is refused by the bank, and of an unknown one is 404', async () => {
    const id = await issue();
    await service.call('POST', `${pathOf(id)}/pay`);
    const refused = await voidCharge(id);
    expectError(refused, 409);
    expect(refused.body.code).toBe('charge_already_paid');
    expect((await read(id)).cancelledAt).toBeNull();
    expectError(await voidCharge('unknown-charge'), 404);
  });

  it('without a response is 202, and succeeds when the bank shows the charge as voided', async () => {
    const id = await issue();
    await fault('error-after-effect', 'POST');
    const { status, body } = await voidCharge(id);
    expect([status, body.state]).toEqual([202, 'unknown']);
    await recover(body.id);
    const operation = (await service.call('GET', `/v1/operations/${body.id}`)).body;
    expect(operation).toMatchObject({ kind: 'void_charge', state: 'succeeded' });
    expect(await read(id)).toMatchObject({ settlement: 'cancelled' });
  });
});

describe('a new due date', () => {
  it.each([slip, pixSlip])('is passed on and counts from then on', async (request) => {
    const id = await issue(request({ dueDate: dayFromToday(2) }));
    const dueDate = dayFromToday(30);
    const { status, body } = await changeDueDate(id, dueDate);
    expect([status, body.dueDate]).toEqual([200, dueDate]);
    expect(await read(id)).toMatchObject({ dueDate, settlement: 'open' });
    expect((await service.call('GET', pathOf(id))).body.dueDate).toBe(dueDate);
  });

  it('revives a charge that had expired', async () => {
    const id = await issue();
    await service.call('PUT', `${pathOf(id)}/expire`);
    await service.application
      .get(ChargeStatusChecks, { strict: false })
      .checkDueCharges({ accountId: service.accountId });
    expect(await read(id)).toMatchObject({ settlement: 'expired' });
    expect((await changeDueDate(id, dayFromToday(5))).status).toBe(200);
    expect(await read(id)).toMatchObject({ settlement: 'open', expiredAt: null });
  });

  it('outlasts a status check that the bank answered before it', async () => {
    const id = await issue();
    await service.call('PUT', `${pathOf(id)}/expire`);
    const bank = service.application.get(BankService, { strict: false });
    const call = bank.call.bind(bank) as (...request: unknown[]) => Promise<unknown>;
    const spy = jest.spyOn(bank, 'call').mockImplementation((async (...request: unknown[]) => {
      const answered = await call(...request);
      spy.mockRestore();
      await changeDueDate(id, dayFromToday(5));
      return answered;
    }) as never);
    await service.application
      .get(ChargeStatusChecks, { strict: false })
      .checkDueCharges({ accountId: service.accountId });
    const dueDate = dayFromToday(5);
    expect(await read(id)).toMatchObject({ settlement: 'open', expiredAt: null, dueDate });
  });

  it('that is no date, in the past, or of a voided charge is refused', async () => {
    const id = await issue();
    expectError(await changeDueDate(id, '2026-02-30'), 400, '$.dueDate');
    expectError(await changeDueDate(id, dayFromToday(-1)), 400, '$.dueDate');
    await voidCharge(id);
    expect((await changeDueDate(id, dayFromToday(5))).body.code).toBe('charge_voided');
    expect((await read(id)).dueDate).toBe(dayFromToday(10));
  });

  it('is sent again after another one, also without a key', async () => {
    const id = await issue();
    const dueDates = [20, 30, 20].map(dayFromToday);
    for (const dueDate of dueDates) {
      expect((await changeDueDate(id, dueDate)).body.dueDate).toBe(dueDate);
      expect((await service.call('GET', pathOf(id))).body.dueDate).toBe(dueDate);
      expect((await read(id)).dueDate).toBe(dueDate);
    }
  });

  it('waits for the outcome of an earlier one, which would be sent again after it', async () => {
    const id = await issue();
    await fault('error-before-effect', 'PATCH');
    const { status, body } = await changeDueDate(id, dayFromToday(20));
    expect([status, body.state]).toEqual([202, 'unknown']);
    const early = await changeDueDate(id, dayFromToday(30));
    expectError(early, 409);
    expect(early.body.code).toBe('charge_change_in_progress');
    await recover(body.id);
    expect((await read(id)).dueDate).toBe(dayFromToday(20));
    expect((await changeDueDate(id, dayFromToday(30))).status).toBe(200);
    expect((await service.call('GET', pathOf(id))).body.dueDate).toBe(dayFromToday(30));
  });

  it('without a response succeeds when the bank shows it', async () => {
    const id = await issue();
    await fault('error-after-effect', 'PATCH');
    const { body } = await changeDueDate(id, dayFromToday(40));
    expect(body.state).toBe('unknown');
    await recover(body.id);
    expect((await service.call('GET', `/v1/operations/${body.id}`)).body.state).toBe('succeeded');
    expect((await read(id)).dueDate).toBe(dayFromToday(40));
  });
});

describe('a new due date without a response, of a charge that is void meanwhile', () => {
  const stateAfterVoid = async (kind: string, dueDate: string, atBank?: string) => {
    const id = await issue();
    expect((await changeDueDate(id, dayFromToday(15))).status).toBe(200);
    await fault(kind, 'PATCH');
    const { body } = await changeDueDate(id, dueDate);
    expect(body.state).toBe('unknown');
    if (atBank) await service.bank.call('PATCH', pathOf(id), { body: { dueDate: atBank } });
    expect((await voidCharge(id)).status).toBe(200);
    await recover(body.id);
    const operation = (await service.call('GET', `/v1/operations/${body.id}`)).body;
    return [operation.state, (await read(id)).dueDate];
  };

  it('is not executed where the bank shows the due date from before', async () => {
    const after = await stateAfterVoid('error-before-effect', dayFromToday(40));
    expect(after).toEqual(['not_executed', dayFromToday(15)]);
  });

  it('is executed where the bank shows the new one', async () => {
    const after = await stateAfterVoid('error-after-effect', dayFromToday(40));
    expect(after).toEqual(['succeeded', dayFromToday(40)]);
  });

  it('stays unknown where the bank shows a third one', async () => {
    const after = await stateAfterVoid('error-before-effect', dayFromToday(40), dayFromToday(50));
    expect(after[0]).toBe('unknown');
  });
});

describe('a payment after a new due date', () => {
  const moveClock = async (days: number) => {
    const advance = `P${days}D`;
    const { status } = await service.bank.call('POST', '/sandbox/clock', { body: { advance } });
    expect(status).toBe(200);
  };
  const bankDay = async (days: number) => {
    const { now } = (await service.bank.call('GET', '/sandbox/clock')).body;
    return addDays(saoPauloDay(new Date(now)), days);
  };
  const reconcile = async () => {
    await service.sync();
    await service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId: service.accountId });
  };
  const fined = async (dueDate: string) =>
    pixSlip({
      ...{ dueDate, Amount: 100 },
      discount: undefined,
      lateFine: { type: 'Percentage', date: dueDate, amount: 2 },
      latePayment: { type: 'Fixed', date: dueDate, amount: 1 },
    });
  const breaksOf = async (id: string) => {
    const { expectedPaymentId } = await read(id);
    const { body } = await service.call('GET', '/v1/breaks?limit=100');
    return body.data.filter(
      (one: { expectedPaymentId: string }) => one.expectedPaymentId === expectedPaymentId,
    );
  };

  it('is in time by the new one, whoever changed it', async () => {
    const id = await issue(await fined(await bankDay(4)));
    const second = await bankDay(31);
    expect((await changeDueDate(id, second)).status).toBe(200);
    await moveClock(20);
    await service.call('POST', `${pathOf(id)}/pay`);
    await reconcile();
    expect(await read(id)).toMatchObject({
      settlement: 'settled',
      dueDate: second,
      dueDates: [{ operationId: null }, { dueDate: second, operationId: expect.any(String) }],
    });
    expect(await breaksOf(id)).toEqual([]);
  });

  it('is in time by one that the bank showed only later', async () => {
    const id = await issue(await fined(await bankDay(4)));
    const second = await bankDay(31);
    const body = { dueDate: second };
    expect((await service.bank.call('PATCH', pathOf(id), { body })).status).toBe(200);
    await moveClock(20);
    await service.call('POST', `${pathOf(id)}/pay`);
    await reconcile();
    await service.application
      .get(ChargeStatusChecks, { strict: false })
      .requestStatusCheck(service.accountId, id);
    await service.application
      .get(ChargeStatusChecks, { strict: false })
      .checkDueCharges({ accountId: service.accountId });
    await reconcile();
    expect(await read(id)).toMatchObject({ settlement: 'settled', dueDate: second });
    expect((await breaksOf(id)).filter(({ state }: { state: string }) => state === 'open')).toEqual(
      [],
    );
  });
});

describe('reads of the bank', () => {
  it('return a transfer by each of its ids, also by the id of its operation', async () => {
    const sent = await service.call('POST', '/baas/api/v2/transfers', {
      body: internalTransfer(),
      headers: { ...newKeyHeader(), 'Concilia-Allow-Duplicate': 'true' },
    });
    const operationId = sent.headers.get('concilia-operation')!;
    for (const identifier of [sent.body.id, sent.body.externalId, operationId]) {
      const path = `/baas/api/v2/transfers/${identifier}`;
      expect((await service.call('GET', path)).body).toMatchObject({
        ...{ id: sent.body.id, status: 'EFFECTIVE', type: 'INTERNAL' },
      });
    }
    const pix = await service.call('POST', '/baas/api/v2/transfers', {
      body: manualTransfer(),
      headers: newKeyHeader(),
    });
    const byEndToEndId = `/baas/api/v2/transfers/${pix.body.endToEndId}`;
    expect((await service.call('GET', byEndToEndId)).body.id).toBe(pix.body.id);
    expectError(await service.call('GET', '/baas/api/v2/transfers/unknown'), 404);
  });

  it('return charges and balances as the bank has them', async () => {
    const id = await issue();
    const list = (await service.call('GET', '/baas/v1/charges?limit=1')).body;
    expect(list).toMatchObject([{ correlationId: id }]);
    const atBank = (await service.bank.call('GET', '/baas/api/v1/balances')).body;
    expect((await service.call('GET', '/baas/api/v1/balances')).body).toEqual(atBank);
    expectError(await service.call('GET', pathOf('unknown')), 404);
  });

  it('are 404 at a bank that does not have them', async () => {
    const bank = service.application.get(BankService, { strict: false });
    const call = jest.spyOn(bank, 'call').mockResolvedValue({
      ...{ outcome: 'rejection', status: 404, text: '{"title":"Not Found","status":404}' },
    } as never);
    try {
      expectError(await service.call('GET', '/baas/api/v1/balances'), 404);
    } finally {
      call.mockRestore();
    }
  });
});
