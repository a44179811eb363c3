import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OperationRecovery } from '../../../src/outbound/operations/operation-recovery.service.js';
import type { OperationsService } from '../../../src/outbound/operations/operations.service.js';
import * as journal from '../../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts } from '../../support/parent-rows.js';

const { accepted, rejected, unknownResponse } = journal;

describe('an operation whose response did not come', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.ScriptedBankClient;
  let rejectedIds: string[];
  let recovery: OperationRecovery;
  let operations: OperationsService;

  const kind: journal.ChargeKind = {
    ...journal.chargeKind,
    onRejected: (_, { id }) => Promise.resolve(void rejectedIds.push(id)),
  };

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(() => service.drop());

  beforeEach(() => {
    accountId += 1;
    rejectedIds = [];
    bank = new journal.ScriptedBankClient();
    ({ operations, recovery } = journal.createJournal(service.database, bank, [kind]));
  });

  const perform = (over: Partial<journal.ChargeOptions> = {}) =>
    operations.perform(kind, journal.chargeOperation({ accountId, key: 'key-1', ...over }));
  const codeOf = (result: Promise<unknown>) =>
    result.then(
      () => 'no error',
      (error: unknown) => (error as { code: string }).code,
    );
  const onlyOperation = () => journal.onlyOperation(service.database, accountId);
  const advance = () => journal.advanceAllOperations(service.database, accountId, recovery);

  it('is sent once when requests with different keys have one correlationId', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => perform({ key })));
    await Promise.all(keys.map((key) => perform({ key })));
    expect(bank.sent).toHaveLength(1);
  });

  it('refuses the key of one operation with the correlationId of another', async () => {
    await perform({ key: 'a', correlationId: 'order-a' });
    await perform({ key: 'b', correlationId: 'order-b' });
    const mixed = perform({ key: 'a', correlationId: 'order-b' });
    expect(await codeOf(mixed)).toBe('idempotency_key_reused');
    expect(bank.sent).toHaveLength(2);
  });

  it('is not shared with another account, which cannot read it either', async () => {
    await perform();
    await perform({ accountId: accountId + 100 });
    expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(2);
    const { id } = await onlyOperation();
    expect(await codeOf(operations.get(accountId + 100, id))).toBe('not_found');
  });

  it('leaves its correlationId free when a rejection is replayed', async () => {
    bank.script = [rejected];
    expect((await perform()).status).toBe(422);
    expect((await perform()).headers['Idempotent-Replayed']).toBe('true');
    expect(rejectedIds).toHaveLength(1);
    expect((await perform({ key: 'key-2', amountCents: 2_000n })).status).toBe(200);
    expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(2);
  });

  it('can be rejected while no byte has left', async () => {
    bank.script = [unknownResponse('not_sent'), unknownResponse('not_sent'), rejected];
    await perform();
    await advance();
    expect(await onlyOperation()).toMatchObject({ state: 'received', attempts: 2 });
    await advance();
    expect(await onlyOperation()).toMatchObject({ state: 'rejected', attempts: 3 });
  });

  it('stays unknown when a repeat does not leave or is refused after a possible effect', async () => {
    const notSent = unknownResponse('not_sent');
    bank.script = [unknownResponse('no_response'), notSent, rejected, notSent, rejected];
    await perform();
    for (let times = 0; times < 4; times += 1) {
      await advance();
      expect((await onlyOperation()).state).toBe('unknown');
    }
    expect(rejectedIds).toEqual([]);
    const different = perform({ key: 'key-2', amountCents: 2_000n });
    expect(await codeOf(different)).toBe('idempotency_key_reused');
    const [payment] = await service.database.prisma.expectedPayment.findMany({
      where: { accountId },
    });
    expect(payment?.withdrawnAt).toBeNull();
  });

  it.each([true, false])(
    'is not sent by another process during its lease (repeat safe: %s)',
    async (isRepeatSafe) => {
      bank.profile.isRepeatSafe = isRepeatSafe;
      bank.script = [
        async () => {
          await recovery.advance({ accountId, operationId: (await onlyOperation()).id });
          return accepted;
        },
      ];
      await perform();
      expect(bank.sent).toHaveLength(1);
      expect(await onlyOperation()).toMatchObject({ state: 'succeeded', attempts: 1 });
    },
  );

  it('succeeds when the bank accepts it after the lease of the attempt expired', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [
      async () => {
        await advance();
        expect((await onlyOperation()).state).toBe('unknown');
        return accepted;
      },
    ];
    await perform();
    expect(await onlyOperation()).toMatchObject({
      state: 'succeeded',
      responseBody: '{"ok":true}',
    });
    expect(bank.sent).toHaveLength(1);
  });

  it('is not rejected by a response after the lease of the attempt expired', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [
      async () => {
        await advance();
        return rejected;
      },
    ];
    await perform();
    expect((await onlyOperation()).state).toBe('unknown');
    expect(rejectedIds).toEqual([]);
  });

  it('ends once: a rejection after it succeeded changes nothing', async () => {
    bank.profile.isRepeatSafe = true;
    bank.script = [
      async () => {
        await advance();
        expect((await onlyOperation()).state).toBe('succeeded');
        return rejected;
      },
    ];
    const reply = await perform();
    expect([reply.status, reply.body]).toEqual([200, '{"ok":true}']);
    expect(await onlyOperation()).toMatchObject({
      state: 'succeeded',
      attempts: 2,
      reason: null,
    });
    expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(1);
  });

  it('records each attempt with its result, and makes none after a refused repeat', async () => {
    bank.script = [
      unknownResponse('too_late'),
      unknownResponse('bank_error', { status: 503 }),
      rejected,
    ];
    await perform();
    await advance();
    await advance();
    await advance();
    const attempts = await service.database.prisma.operationAttempt.findMany({
      where: { accountId },
      orderBy: { number: 'asc' },
    });
    expect(attempts.map(({ outcome, status, reason }) => [outcome, status, reason])).toEqual([
      ['unknown', null, 'too_late'],
      ['unknown', 503, 'bank_error'],
      ['unknown', 422, 'refused_a_repeat'],
    ]);
    await advance();
    expect(bank.sent).toHaveLength(3);
    // Five seconds to begin the call and ten for all of it: the call may wait for a connection.
    for (const { sendBy, startedAt } of attempts) {
      const durationMs = sendBy.getTime() - startedAt.getTime();
      expect([durationMs >= 15_000, durationMs <= 15_100]).toEqual([true, true]);
    }
  });
});
