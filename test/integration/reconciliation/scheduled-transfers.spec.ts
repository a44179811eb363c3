// A transfer that is requested for later counts on the day on which it takes effect, for every
// reader of it; the bank sends it then.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addDays, isBusinessDay, type PlainDate } from '../../../src/brazil/calendar.js';
import { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { TransferStatusChecks } from '../../../src/outbound/transfers/transfer-status-checks.service.js';
import { eventually } from '../../contract/bank-under-test.js';
import { internalTransfer, manualTransfer } from '../../contract/transfer-samples.js';
import { advanceAllOperations } from '../../support/journal.js';
import { adminKey } from '../../support/service-application.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const transfers = '/baas/api/v2/transfers';
const today: PlainDate = '2037-11-23';
/** A Saturday. */
const effectDay = addDays(today, 5);
const transferAt = `${effectDay}T15:00:00Z`;

describe('a transfer for later', () => {
  let service: ServiceOnSandbox;
  beforeAll(async () => {
    service = await serviceOnSandbox({ BANK_VISIBILITY_BOUND_MS: '1000' });
    await setClock({ now: `${today}T15:00:00Z` });
    await service.bank.call('PATCH', '/sandbox/modes', { body: { pixStepMs: 0 } });
    await service.sync();
  });
  afterAll(() => service.stop());

  const setClock = async (body: object) => {
    expect((await service.bank.call('POST', '/sandbox/clock', { body })).status).toBe(200);
  };
  const get = <Type>(type: new (...of: never[]) => Type) =>
    service.application.get<Type>(type as never, { strict: false });
  const send = (body: object, headers: Record<string, string> = {}, path = transfers) =>
    service.call('POST', path, {
      body: { transferAt, ...body },
      headers: { IdempotencyKey: randomUUID(), 'Concilia-Allow-Duplicate': 'true', ...headers },
    });
  const accepted = async (...request: Parameters<typeof send>) => {
    const { status, body, text } = await send(...request);
    expect([status, text]).toEqual([200, text]);
    expect(body.status).toBe('SCHEDULED');
    return body.id as string;
  };
  const setLimits = (limits: object) =>
    service.call('PUT', '/v1/accounts/main/payment-controls', {
      body: { actor: 'Ana', reason: 'policy', limits },
      apiKey: adminKey,
    });
  const reconcile = async () => {
    await service.sync();
    await get(ReconciliationService).reconcile({ accountId: service.accountId });
  };
  const stateOf = async (id: string) =>
    (await service.call('GET', `/v1/transfers/${id}`)).body as {
      state: string;
      settlement: string;
    };
  const debitsOf = async (amount: number) => {
    const { body } = await service.bank.call('GET', '/baas/api/v2/transactions?limit=100');
    return (body as { amount: number }[]).filter((line) => line.amount === amount).length;
  };

  it('is a limit’s payment of its own day', async () => {
    await setLimits({ perDay: 10 });
    await accepted(manualTransfer({ amount: 8.01 }));
    const now = await send({ ...manualTransfer({ amount: 8.02 }), transferAt: null });
    expect(now.status).toBe(200);
    const later = await send(manualTransfer({ amount: 8.03 }));
    expect([later.status, later.body.code]).toEqual([422, 'limit_exceeded']);
    await setLimits({ perDay: null });
  });

  it('is in the cash forecast on its own day, also where that is no business day', async () => {
    expect(isBusinessDay(effectDay)).toBe(false);
    const read = async () => {
      await reconcile();
      const query = `from=${today}&to=${addDays(effectDay, 2)}`;
      const { days, undated } = (await service.call('GET', `/v1/cash-forecast?${query}`)).body;
      const day = days.find(({ date }: { date: string }) => date === effectDay);
      return { expectedOut: day.expectedOut, undated: undated.out };
    };
    const before = await read();
    await accepted(manualTransfer({ amount: 40 }));
    await accepted(internalTransfer({ amount: 50 }));
    await accepted(manualTransfer({ amount: 60 }), {}, `${transfers}/ted`);
    const { expectedOut, undated } = await read();
    expect([expectedOut - before.expectedOut, undated - before.undated]).toEqual([150, 0]);
  });

  it('is a possible duplicate until it takes effect', async () => {
    const body = internalTransfer({ amount: 3.21 });
    await accepted(body);
    await service.pool.query(
      `UPDATE operation SET ended_at = now() - interval '25 hours' WHERE amount_cents = 321`,
    );
    const again = await send(body, { 'Concilia-Allow-Duplicate': 'false' });
    expect([again.status, again.body.code]).toEqual([409, 'possible_duplicate']);
  });

  it('is never missing, nor proven not executed, before it takes effect', async () => {
    await service.bank.call('POST', '/sandbox/faults', {
      body: { endpoint: 'transfers', kind: 'reset-after-effect', times: 1 },
    });
    const { status, body } = await send(manualTransfer({ amount: 70 }));
    expect(status).toBe(202);
    const id = await accepted(manualTransfer({ amount: 80 }));
    await setClock({ now: `${addDays(today, 3)}T15:00:00Z` });
    await service.sync();
    await service.pool.query(
      `UPDATE statement_state SET closed_from = '2020-01-01',
         closed_until = $1::timestamptz`,
      [`${addDays(today, 3)}T14:59:00Z`],
    );
    await reconcile();
    await get(ReconciliationService).reconcile({ accountId: service.accountId });
    const { body: breaks } = await service.call('GET', '/v1/breaks?limit=100');
    expect(breaks.data.filter(({ kind }: { kind: string }) => kind === 'missing')).toEqual([]);
    const states = await service.call('GET', `/v1/operations/${body.id}`);
    expect(states.body.state).toBe('unknown');
    expect((await stateOf(id)).state).toBe('accepted');
  });

  it('is sent by the bank when it is due, and settled by its line', async () => {
    const id = await accepted(manualTransfer({ amount: 90 }));
    const poor = await accepted(manualTransfer({ amount: 99_999 }));
    expect(await debitsOf(90)).toBe(0);
    await setClock({ now: `${effectDay}T15:00:01Z` });
    for (const amount of [40, 50, 60, 70, 80, 90])
      await eventually(async () => expect([amount, await debitsOf(amount)]).toEqual([amount, 1]));
    expect(await debitsOf(99_999)).toBe(0);
    await service.pool.query('UPDATE transfer SET next_check_at = now()');
    await get(TransferStatusChecks).check({ accountId: service.accountId });
    await reconcile();
    expect(await stateOf(id)).toMatchObject({ state: 'effective', settlement: 'settled' });
    expect((await stateOf(poor)).state).toBe('failed');
    // The line of the one whose response was lost shows that it was accepted.
    await advanceAllOperations(service.database, service.accountId, get(OperationRecovery));
    const { data } = (await service.call('GET', '/v1/operations?state=unknown')).body;
    expect(data).toEqual([]);
    const { movements, audit } = (await service.bank.call('GET', '/sandbox/ledger')).body;
    expect([movements.length > 6, audit.clean]).toEqual([true, true]);
  });
});
