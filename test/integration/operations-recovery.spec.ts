import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OperationRecovery } from '../../src/operations/operation-recovery.service.js';
import type { OperationsService } from '../../src/operations/operations.service.js';
import * as journal from '../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const { yes, no, unknown } = journal;

describe('what becomes of an operation whose answer went astray', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.AnsweringBank;
  let forgotten: string[];
  let recovery: OperationRecovery;
  let operations: OperationsService;

  const kind: journal.Kind = {
    ...journal.chargeKind,
    onRejected: (_, { id }) => Promise.resolve(void forgotten.push(id)),
  };

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());

  beforeEach(() => {
    accountId += 1;
    forgotten = [];
    bank = new journal.AnsweringBank();
    ({ operations, recovery } = journal.journalOn(service.database, bank, [kind]));
  });

  const perform = ({
    account = accountId,
    ...over
  }: { account?: number } & Partial<journal.Asked> = {}) =>
    operations.perform(kind, journal.chargeOperation({ accountId: account, key: 'key-1', ...over }));
  const codeOf = (asked: Promise<unknown>) =>
    asked.then(
      () => 'answered',
      (error: unknown) => (error as { code: string }).code,
    );
  const only = () => journal.onlyOperation(service.database, accountId);
  const advance = () => journal.advanceAll(service.database, accountId, recovery);

  it('is sent once when many ask under keys of their own for one correlationId', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => perform({ key })));
    await Promise.all(keys.map((key) => perform({ key })));
    expect(bank.sent).toHaveLength(1);
  });

  it('joins a key of one operation and an id of another to neither', async () => {
    await perform({ key: 'a', id: 'order-a' });
    await perform({ key: 'b', id: 'order-b' });
    expect(await codeOf(perform({ key: 'a', id: 'order-b' }))).toBe('idempotency_key_reused');
    expect(bank.sent).toHaveLength(2);
  });

  it('is another one for another account, and nobody else’s to look at', async () => {
    await perform();
    await perform({ account: accountId + 100_000 });
    expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(2);
    const { id } = await only();
    expect(await codeOf(operations.get(accountId + 100_000, id))).toBe('not_found');
  });

  it('leaves its correlationId free when a rejection is told again', async () => {
    bank.script = [no];
    expect((await perform()).status).toBe(422);
    expect((await perform()).headers['Idempotent-Replayed']).toBe('true');
    expect(forgotten).toHaveLength(1);
    expect((await perform({ key: 'key-2', cents: 2_000n })).status).toBe(200);
    expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(2);
  });

  it('may still be rejected when no byte of it had left', async () => {
    bank.script = [unknown('not_sent'), unknown('not_sent'), no];
    await perform();
    await advance();
    expect(await only()).toMatchObject({ state: 'received', attempts: 2 });
    await advance();
    expect(await only()).toMatchObject({ state: 'rejected', attempts: 3 });
  });

  it('stays unknown when a repeat did not leave or was refused: the first may have had its effect', async () => {
    bank.script = [unknown('no_answer'), unknown('not_sent'), no, unknown('not_sent'), no];
    await perform();
    for (let times = 0; times < 4; times += 1) {
      await advance();
      expect((await only()).state).toBe('unknown');
    }
    expect(forgotten).toEqual([]);
    expect(await codeOf(perform({ key: 'key-2', cents: 2_000n }))).toBe('idempotency_key_reused');
    const [payment] = await service.database.prisma.expectedPayment.findMany({
      where: { accountId },
    });
    expect(payment?.withdrawnAt).toBeNull();
  });

  it.each([true, false])(
    'is sent again by nobody while its lease runs (repeat safe: %s)',
    async (isSafe) => {
      bank.profile.isRepeatSafe = isSafe;
      bank.script = [
        async () => {
          await recovery.advance({ accountId, operationId: (await only()).id });
          return yes;
        },
      ];
      await perform();
      expect(bank.sent).toHaveLength(1);
      expect(await only()).toMatchObject({ state: 'succeeded', attempts: 1 });
    },
  );

  it('is believed when the bank says yes after the lease of the attempt has ended', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [
      async () => {
        await advance();
        expect((await only()).state).toBe('unknown');
        return yes;
      },
    ];
    await perform();
    expect(await only()).toMatchObject({ state: 'succeeded', responseBody: '{"ok":true}' });
    expect(bank.sent).toHaveLength(1);
  });

  it('is not ended by a no that comes after the lease of the attempt has ended', async () => {
    bank.profile.isRepeatSafe = false;
    bank.script = [
      async () => {
        await advance();
        return no;
      },
    ];
    await perform();
    expect((await only()).state).toBe('unknown');
    expect(forgotten).toEqual([]);
  });

  it('ends once: what comes after its end changes nothing', async () => {
    bank.profile.isRepeatSafe = true;
    bank.script = [
      async () => {
        await advance();
        expect((await only()).state).toBe('succeeded');
        return no;
      },
    ];
    const reply = await perform();
    expect([reply.status, reply.body]).toEqual([200, '{"ok":true}']);
    expect(await only()).toMatchObject({ state: 'succeeded', attempts: 2, reason: null });
    expect(new Set(bank.sent.map(({ key }) => key)).size).toBe(1);
  });

  it('keeps a record of each attempt and what it came to, and makes none after a refusal', async () => {
    bank.script = [unknown('too_late'), unknown('bank_error', { status: 503 }), no];
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
    // Five seconds to begin the call, and ten for all of it: it may wait for a connection.
    for (const { sendBy, startedAt } of attempts) {
      const mayLeaveMs = sendBy.getTime() - startedAt.getTime();
      expect([mayLeaveMs >= 15_000, mayLeaveMs <= 15_100]).toEqual([true, true]);
    }
  });
});
