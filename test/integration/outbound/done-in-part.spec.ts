import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BodyRetention } from '../../../src/outbound/operations/body-retention.service.js';
import * as journal from '../../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts } from '../../support/parent-rows.js';

describe('an operation that the statement shows only in part', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.ScriptedBankClient;
  let callbacks: string[];
  let absentIds: (readonly string[])[];
  let kind: journal.ChargeKind;
  let instance: ReturnType<typeof journal.createJournal>;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    accountId += 1;
    await journal.measureClock(service.database, accountId);
    callbacks = [];
    absentIds = [];
    bank = new journal.ScriptedBankClient();
    bank.profile.isRepeatSafe = false;
    bank.profile.visibilityBoundMs = 10_000;
    kind = {
      ...journal.chargeKind,
      name: 'send_money',
      repeat: 'unkeyed',
      onRejected: () => Promise.resolve(void callbacks.push('rejected')),
      onSucceeded: (_, __, { response, absentExpectedPaymentIds }) => {
        callbacks.push(response === null ? 'succeeded by statement' : 'succeeded by response');
        absentIds.push(absentExpectedPaymentIds ?? []);
        return Promise.resolve();
      },
      onReopened: () => Promise.resolve(void callbacks.push('reopened')),
    };
    instance = journal.createJournal(service.database, bank, [kind]);
  });

  const perform = (over: object = {}) =>
    instance.operations.perform(kind, {
      ...journal.outgoingOperation({ accountId, key: 'key-1', ...over }),
      ...over,
    } as never);
  /** The operation was sent an hour ago, and no response came. */
  const loseResponse = async (over: object = {}) => {
    bank.script.unshift(journal.unknownResponse());
    await perform(over);
    await journal.makeOlder(service.database, accountId, '1 hour');
  };
  const onlyOperation = () => journal.onlyOperation(service.database, accountId);
  const advance = () =>
    journal.advanceAllOperations(service.database, accountId, instance.recovery);
  const closeStatement = (before?: string) =>
    journal.closeStatement(service.database, accountId, before);
  const currentState = async () => (await onlyOperation()).state;
  const withdrawnPayments = async () =>
    (await service.database.prisma.expectedPayment.findMany({ where: { accountId } })).filter(
      ({ withdrawnAt }) => withdrawnAt !== null,
    );
  const expectedPaymentIds = () => journal.expectedPaymentIds(service.database, accountId);
  const storeLine = (nsu: number, expectedPaymentId = '', cents = 1_000) =>
    journal.storeLine(service.database, accountId, { nsu, expectedPaymentId, cents });
  /** Half an hour passes after the last match, and the statement is closed. */
  const closeLater = async () => {
    await service.database.pool.query(
      `UPDATE match SET created_at = created_at - interval '30 minutes' WHERE account_id = $1`,
      [accountId],
    );
    await closeStatement();
  };

  it('succeeds in part when the closed statement shows some movements, and proves the others absent', async () => {
    await loseResponse({ movements: 3 });
    const [first = '', second = '', third = ''] = await expectedPaymentIds();
    await storeLine(1, second);
    await closeStatement();
    await advance();
    // The other movements may appear for as long after the match as after the sending.
    expect(await currentState()).toBe('unknown');
    await closeLater();
    await advance();
    expect(await onlyOperation()).toMatchObject({ state: 'succeeded', reason: 'seen_in_part' });
    expect(callbacks).toEqual(['succeeded by statement']);
    expect(absentIds).toEqual([[first, third]]);
    expect((await withdrawnPayments()).map(({ id }) => id).sort()).toEqual([first, third]);
  });

  it('stays unknown while an unexplained debit could be one of the missing movements', async () => {
    await loseResponse({ movements: 2 });
    await storeLine(1, (await expectedPaymentIds())[0]);
    await journal.storeLine(service.database, accountId, { nsu: 2 });
    await closeLater();
    await advance();
    expect(await currentState()).toBe('unknown');
    expect(callbacks).toEqual([]);
  });

  it('is unknown again when a line arrives late, and then ends as the statement shows', async () => {
    await loseResponse({ movements: 2 });
    await closeStatement();
    await advance();
    expect(await currentState()).toBe('not_executed');
    const [first = '', second = ''] = await expectedPaymentIds();
    await storeLine(1, first);
    instance.enqueuedJobs.length = 0;
    await instance.recovery.enqueueContradicted();
    expect(instance.enqueuedJobs).toContain('advanceOperation');
    const { id: operationId } = await onlyOperation();
    await instance.recovery.advance({ accountId, operationId });
    expect(await onlyOperation()).toMatchObject({ state: 'unknown', reason: 'seen_in_part' });
    expect(callbacks).toEqual(['rejected', 'reopened']);
    expect(await withdrawnPayments()).toEqual([]);
    // The other movement may still appear, however old the operation is.
    await journal.makeOlder(service.database, accountId, '30 hours');
    await advance();
    expect(await currentState()).toBe('unknown');
    await closeLater();
    await advance();
    expect(await currentState()).toBe('succeeded');
    expect(absentIds).toEqual([[second]]);
    expect(await journal.eventTypesOf(service.database, accountId)).toEqual([
      'operation.unknown',
      'operation.not_executed',
      'operation.unknown',
      'operation.succeeded',
    ]);
  });

  it('is not sent again when it is unknown again after its request was deleted', async () => {
    await loseResponse({ movements: 2 });
    await closeStatement();
    await advance();
    expect(await currentState()).toBe('not_executed');
    await service.database.pool.query(
      `UPDATE operation SET ended_at = ended_at - interval '401 days' WHERE account_id = $1`,
      [accountId],
    );
    const retention = { retention: { requestDays: 400 } } as never;
    await new BodyRetention(service.database, retention).deleteOldBodies();
    expect(await onlyOperation()).toMatchObject({ requestBody: null });
    // Such a repeat would be safe, if the request were still stored.
    Object.assign(kind, { repeat: 'keyed' });
    bank.profile.isRepeatSafe = true;
    await storeLine(1, (await expectedPaymentIds())[0]);
    await advance();
    await advance();
    expect(await onlyOperation()).toMatchObject({ state: 'unknown', attempts: 1 });
    await closeLater();
    await advance();
    expect(await currentState()).toBe('succeeded');
    expect(bank.sent).toHaveLength(1);
  });

  it('stays unknown while only a part of its amount is matched', async () => {
    await loseResponse();
    await closeStatement();
    const [expectedPaymentId = ''] = await expectedPaymentIds();
    await storeLine(1, expectedPaymentId, 400);
    await advance();
    expect(await currentState()).toBe('unknown');
    await storeLine(2, expectedPaymentId, 600);
    await advance();
    expect(await currentState()).toBe('succeeded');
  });

  it('succeeds when all movements are matched, and is unknown while one is not', async () => {
    await loseResponse({ movements: 2 });
    await closeStatement();
    const [first, second] = await expectedPaymentIds();
    await storeLine(1, first);
    await advance();
    expect(await currentState()).toBe('unknown');
    await storeLine(2, second);
    await advance();
    expect(await currentState()).toBe('succeeded');
    expect(callbacks).toEqual(['succeeded by statement']);
  });
});
