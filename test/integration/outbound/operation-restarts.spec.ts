import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { noPreferences } from '../../../src/outbound/operations/operation.js';
import { listDueOperations } from '../../../src/outbound/operations/operations.queries.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import * as journal from '../../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts } from '../../support/parent-rows.js';

describe('operations that a killed process left unfinished', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.ScriptedBankClient;
  let rejectedCalls: number;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(async () => {
    await expectDeclaredEvents(service.database.pool, [
      'operation.unknown',
      'operation.succeeded',
      'operation.rejected',
      'operation.not_executed',
      'operation.needs_operator',
    ]);
    await service.drop();
  });
  beforeEach(() => {
    accountId += 1;
    rejectedCalls = 0;
    bank = new journal.ScriptedBankClient();
  });

  const kindOf = (repeat: journal.ChargeKind['repeat']): journal.ChargeKind => ({
    ...journal.chargeKind,
    name: 'create_transfer',
    repeat,
    onRejected: () => Promise.resolve(void (rejectedCalls += 1)),
  });
  /** Each call stands for a process of its own. */
  const startProcess = (kind: journal.ChargeKind) =>
    journal.createJournal(service.database, bank, [kind]);
  const onlyOperation = () => journal.onlyOperation(service.database, accountId);
  const eventTypes = () => journal.eventTypesOf(service.database, accountId);
  const advanceAll = (recovery: ReturnType<typeof startProcess>['recovery']) =>
    journal.advanceAllOperations(service.database, accountId, recovery);
  const perform = (kind: journal.ChargeKind, over: object = {}) =>
    startProcess(kind).operations.perform(kind, {
      ...journal.outgoingOperation({ accountId, key: 'key-1' }),
      ...over,
    } as never);
  const setUnfinished = (state: string, attempts: number) =>
    service.database.pool.query(
      `UPDATE operation SET state = $2, attempts = $3, ended_at = NULL, response_status = NULL,
         response_body = NULL, next_action_at = now(), is_detached = false, bank_reference = NULL
       WHERE account_id = $1`,
      [accountId, state, attempts],
    );

  it('sends its own operation when the answer to its commit was lost', async () => {
    const transaction = service.database.transaction.bind(service.database);
    const lost = jest
      .spyOn(service.database, 'transaction')
      .mockImplementationOnce(async (work) => {
        await transaction(work);
        throw new Error('Connection terminated unexpectedly');
      });
    expect((await perform(kindOf('unkeyed'))).status).toBe(200);
    lost.mockRestore();
    expect(await onlyOperation()).toMatchObject({ state: 'succeeded', attempts: 1 });
    expect(bank.sent).toHaveLength(1);
  });

  it.each([
    ['received', 'keyed', 0, { state: 'succeeded', attempts: 1 }, 1],
    ['received', 'unkeyed', 0, { state: 'succeeded', attempts: 1 }, 1],
    ['received', 'never', 0, { state: 'not_executed', reason: 'never_sent' }, 0],
    ['sending', 'keyed', 1, { state: 'succeeded', attempts: 2 }, 1],
    ['sending', 'unkeyed', 1, { state: 'unknown', reason: 'interrupted' }, 0],
    ['sending', 'never', 1, { state: 'needs_operator', reason: 'interrupted' }, 0],
    ['unknown', 'keyed', 1, { state: 'succeeded', attempts: 2 }, 1],
    ['unknown', 'unkeyed', 1, { state: 'unknown' }, 0],
    ['unknown', 'never', 1, { state: 'needs_operator' }, 0],
  ] as const)(
    'are advanced once by two processes: state %s, repeat %s',
    async (state, repeat, attempts, expected, sendings) => {
      const kind = kindOf(repeat);
      await perform(kind, repeat === 'never' ? { redactedBody: { password: '***' } } : {});
      await setUnfinished(state, attempts);
      if (attempts === 0)
        await service.database.prisma.operationAttempt.deleteMany({ where: { accountId } });
      bank.sent = [];
      const { id } = await onlyOperation();
      await Promise.all(
        [startProcess(kind), startProcess(kind)].map(({ recovery }) =>
          recovery.advance({ accountId, operationId: id }),
        ),
      );
      expect(await onlyOperation()).toMatchObject(expected);
      expect(bank.sent).toHaveLength(sendings);
      for (const { key } of bank.sent) expect(key).toBe(id);
      expect(rejectedCalls).toBe(expected.state === 'not_executed' ? 1 : 0);
    },
  );

  it('record one event when the outcome is unknown and one when they end', async () => {
    const kind = kindOf('keyed');
    bank.script = [journal.unknownResponse(), journal.unknownResponse()];
    await perform(kind);
    const { recovery } = startProcess(kind);
    await advanceAll(recovery);
    await advanceAll(recovery);
    expect((await onlyOperation()).state).toBe('succeeded');
    expect(await eventTypes()).toEqual(['operation.unknown', 'operation.succeeded']);
    const [event] = await service.database.prisma.event.findMany({ where: { accountId } });
    expect(JSON.parse(event?.data ?? '')).toEqual({
      operationId: (await onlyOperation()).id,
      kind: 'create_transfer',
      idempotencyKey: 'key-1',
      state: 'unknown',
      reason: 'no_response',
    });
  });

  it('record no event when the caller got the response', async () => {
    await perform(kindOf('keyed'));
    bank.script = [journal.rejected];
    await perform(kindOf('keyed'), { idempotencyKey: 'key-2' });
    expect(await eventTypes()).toEqual([]);
  });

  it('record an event for an end that the caller did not wait for', async () => {
    const kind = kindOf('unkeyed');
    bank.script = [journal.rejected];
    await perform(kind, { preferences: { ...noPreferences, respondAsync: true } });
    expect(bank.sent).toHaveLength(0);
    await advanceAll(startProcess(kind).recovery);
    expect(await eventTypes()).toEqual(['operation.rejected']);
  });

  describe('that could not be sent for an hour', () => {
    const makeAnHourOlder = () => journal.makeOlder(service.database, accountId, '61 minutes');

    it.each([
      ['after failed attempts', false, 2],
      ['without an attempt, because no process was running', true, 0],
    ])('end as not executed: %s', async (_, respondAsync, attempts) => {
      const kind = kindOf('keyed');
      bank.script = Array.from({ length: attempts }, () => journal.unknownResponse('not_sent'));
      await perform(kind, { preferences: { ...noPreferences, respondAsync } });
      const { recovery, operations } = startProcess(kind);
      for (let times = 1; times < attempts; times += 1) await advanceAll(recovery);
      await makeAnHourOlder();
      await advanceAll(recovery);
      expect(await onlyOperation()).toMatchObject({ state: 'not_executed', reason: 'never_sent' });
      expect(bank.sent).toHaveLength(attempts);
      expect(rejectedCalls).toBe(1);
      expect(await eventTypes()).toEqual(['operation.not_executed']);
      // Nothing left: a new request with the same key is a new operation.
      const request = journal.outgoingOperation({ accountId, key: 'key-1' });
      expect((await operations.perform(kind, request)).status).toBe(200);
      expect(bank.sent).toHaveLength(attempts + 1);
    });

    it('do not end as not executed when any attempt may have left', async () => {
      const kind = kindOf('keyed');
      bank.script = [journal.unknownResponse('not_sent')];
      await perform(kind);
      await service.database.pool.query(
        `UPDATE operation_attempt SET outcome = NULL, reason = NULL WHERE account_id = $1`,
        [accountId],
      );
      await makeAnHourOlder();
      await advanceAll(startProcess(kind).recovery);
      expect((await onlyOperation()).state).not.toBe('not_executed');
    });
  });

  it('of one account are due although another account has a thousand', async () => {
    const kind = kindOf('keyed');
    await perform(kind);
    await service.database.pool.query(
      `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params,
         next_action_at)
       SELECT $1 + 1, gen_random_uuid(), 'create_transfer', 'unknown', 'h', '{}',
         now() - interval '1 day'
       FROM generate_series(1, 1000)`,
      [accountId],
    );
    await setUnfinished('unknown', 1);
    const due = await listDueOperations(service.database.prisma, 200);
    expect(due.filter((ref) => ref.accountId === accountId)).toHaveLength(1);
    expect(due.filter((ref) => ref.accountId === accountId + 1)).toHaveLength(200);
    await service.database.pool.query(`DELETE FROM operation WHERE account_id > $1`, [accountId]);
  });

  describe('that hold secrets', () => {
    const secret = { redactedBody: { password: '***' } };

    it('are sent whole by the process that received them, even with respond-async', async () => {
      const preferences = { ...noPreferences, respondAsync: true };
      expect((await perform(kindOf('never'), { ...secret, preferences })).status).toBe(200);
      expect(bank.sent).toHaveLength(1);
      expect(bank.sent[0]?.body).toContain('Maria');
      expect((await onlyOperation()).requestBody).toBe('{"password":"***"}');
    });

    it('need an operator at once when no response comes', async () => {
      bank.script = [journal.unknownResponse()];
      expect((await perform(kindOf('never'), secret)).status).toBe(202);
      expect((await onlyOperation()).state).toBe('needs_operator');
      expect(await eventTypes()).toEqual(['operation.needs_operator']);
    });

    it('end as not executed when they did not leave, and their caller gets an error', async () => {
      bank.script = [journal.unknownResponse('not_sent')];
      await expect(perform(kindOf('never'), secret)).rejects.toMatchObject({
        code: 'bank_unreachable',
      });
      expect(await onlyOperation()).toMatchObject({ state: 'not_executed', reason: 'never_sent' });
      expect(rejectedCalls).toBe(1);
    });

    it('are sent as a new operation for a repeat with the same key when they did not leave', async () => {
      bank.script = [journal.unknownResponse('not_sent')];
      const kind = kindOf('never');
      const request = { ...secret, idempotencyKey: 'k-1' };
      await expect(perform(kind, request)).rejects.toMatchObject({ code: 'bank_unreachable' });
      expect((await perform(kind, request)).status).toBe(200);
      const operations = await journal.listStoredOperations(service.database, accountId);
      expect(operations.map(({ state }) => state)).toEqual(['not_executed', 'succeeded']);
    });

    it('return the exact response once and store it redacted', async () => {
      bank.script = [{ outcome: 'rejection', status: 422, text: '{"title":"739102 is simple"}' }];
      const kind = kindOf('never');
      kind.redactResponse = (_, text) => text.replace('739102', '***');
      expect((await perform(kind, secret)).body).toBe('{"title":"739102 is simple"}');
      expect((await onlyOperation()).responseBody).toBe('{"title":"*** is simple"}');
      expect((await perform(kind, secret)).body).toBe('{"title":"*** is simple"}');
    });

    it('are stored without a response body where their kind does not redact it', async () => {
      bank.script = [{ outcome: 'rejection', status: 422, text: '{"title":"739102"}' }];
      expect((await perform(kindOf('never'), secret)).status).toBe(422);
      expect((await onlyOperation()).responseBody).toBe('{}');
    });

    it('are refused for a kind that can be resent, as the redacted body would be sent', async () => {
      await expect(perform(kindOf('keyed'), secret)).rejects.toThrow('holds secrets');
      expect(await journal.listStoredOperations(service.database, accountId)).toEqual([]);
    });
  });
});
