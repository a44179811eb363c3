import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BankAnswer } from '../../src/bank/answer.js';
import { createCharge } from '../../src/contract/charges.js';
import { ExpectedPaymentsService } from '../../src/expected-payments/expected-payments.service.js';
import { OperationSender } from '../../src/operations/operation-sender.service.js';
import { noWishes, type Intent, type OperationKind } from '../../src/operations/operation.js';
import { OperationsService } from '../../src/operations/operations.service.js';
import { SecretBox } from '../../src/platform/secret-box.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

type Answer = BankAnswer<never>;
const yes = {
  outcome: 'success',
  status: 200,
  text: '{"ok":true}',
  value: {},
  date: null,
} as never as Answer;
const no: Answer = { outcome: 'rejection', status: 422, text: '{"title":"no"}' };
const unknown = (reason: 'no_answer' | 'not_sent' | 'too_late'): Answer => ({
  outcome: 'unknown',
  reason,
  status: null,
});

describe('what becomes of an operation whose answer went astray', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let script: (Answer | (() => Promise<Answer>))[];
  let sent: string[];
  let isRepeatSafe: boolean;
  let forgotten: string[];
  let sender: OperationSender;
  let operations: OperationsService;

  const kind: OperationKind<typeof createCharge> = {
    name: 'create_charge',
    route: createCharge,
    repeat: 'keyed',
    echoes: () => true,
    onRejected: (_, { id }) => Promise.resolve(void forgotten.push(id)),
  };

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());

  beforeEach(() => {
    accountId += 1;
    [script, sent, isRepeatSafe, forgotten] = [[], [], true, []];
    const bank = {
      get profile() {
        return { isRepeatSafe };
      },
      call: async (_: unknown, __: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
        sent.push(idempotencyKey);
        const next = script.shift() ?? yes;
        return typeof next === 'function' ? next() : next;
      },
    } as never;
    const accounts = { get: (id: number) => Promise.resolve({ id, slug: 'main' }) } as never;
    const expected = new ExpectedPaymentsService();
    const wakeUps = { wake: () => Promise.resolve() } as never;
    const secretBox = new SecretBox({ credentialsKey: 'x'.repeat(32) } as never);
    sender = new OperationSender(service.database, accounts, bank, expected, wakeUps);
    operations = new OperationsService(
      service.database,
      accounts,
      expected,
      secretBox,
      sender,
      wakeUps,
    );
    operations.register(kind);
  });

  const perform = ({ key = 'key-1', id = 'order-1', cents = 1_000n, account = accountId } = {}) =>
    operations.perform(kind, {
      accountId: account,
      idempotencyKey: key,
      naturalIdentity: `correlationId ${id}`,
      input: {
        params: {},
        query: {},
        idempotencyKey: key,
        body: {
          type: 'BANKSLIP',
          correlationId: id,
          dueDate: '2030-12-31',
          Amount: cents,
          payer: { name: 'Maria', document: '12345678909' },
        },
      },
      expectedPayments: [
        {
          isCredit: true,
          amountCents: cents,
          dueDate: '2030-12-31',
          terms: null,
          isMultiUse: false,
          references: [{ kind: 'correlation_id', value: id }],
        },
      ],
      joinsSameRequest: false,
      outgoing: null,
      wishes: noWishes,
      record: () => Promise.resolve(),
    } satisfies Intent<typeof createCharge>);
  const codeOf = (asked: Promise<unknown>) =>
    asked.then(
      () => 'answered',
      (error: unknown) => (error as { code: string }).code,
    );
  const only = async () => {
    const [operation, ...others] = await service.database.prisma.operation.findMany({
      where: { accountId },
    });
    expect(others).toEqual([]);
    if (!operation) throw new Error('there is no operation');
    return operation;
  };
  /** The time has come at which it is looked at again: a pause is over, or a lease has ended. */
  const advance = async () => {
    await service.database.pool.query(
      `UPDATE operation SET next_action_at = now() - interval '1 second'
       WHERE account_id = $1 AND next_action_at IS NOT NULL`,
      [accountId],
    );
    await sender.advance(accountId, (await only()).id);
  };

  it('is sent once when many ask under keys of their own for one correlationId', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => perform({ key })));
    await Promise.all(keys.map((key) => perform({ key })));
    expect(sent).toHaveLength(1);
  });

  it('joins a key of one operation and an id of another to neither', async () => {
    await perform({ key: 'a', id: 'order-a' });
    await perform({ key: 'b', id: 'order-b' });
    expect(await codeOf(perform({ key: 'a', id: 'order-b' }))).toBe('idempotency_key_reused');
    expect(sent).toHaveLength(2);
  });

  it('is another one for another account, and nobody else’s to look at', async () => {
    await perform();
    await perform({ account: accountId + 100_000 });
    expect(new Set(sent).size).toBe(2);
    const { id } = await only();
    expect(await codeOf(operations.get(accountId + 100_000, id))).toBe('not_found');
  });

  it('leaves its correlationId free when a rejection is told again', async () => {
    script = [no];
    expect((await perform()).status).toBe(422);
    expect((await perform()).headers['Idempotent-Replayed']).toBe('true');
    expect(forgotten).toHaveLength(1);
    expect((await perform({ key: 'key-2', cents: 2_000n })).status).toBe(200);
    expect(new Set(sent).size).toBe(2);
  });

  it('may still be rejected when no byte of it had left', async () => {
    script = [unknown('not_sent'), unknown('not_sent'), no];
    await perform();
    await advance();
    expect(await only()).toMatchObject({ state: 'received', attempts: 2 });
    await advance();
    expect(await only()).toMatchObject({ state: 'rejected', attempts: 3 });
  });

  it('stays unknown when a repeat did not leave or was refused: the first may have had its effect', async () => {
    script = [unknown('no_answer'), unknown('not_sent'), no, unknown('not_sent'), no];
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
      isRepeatSafe = isSafe;
      script = [
        async () => {
          await sender.advance(accountId, (await only()).id);
          return yes;
        },
      ];
      await perform();
      expect(sent).toHaveLength(1);
      expect(await only()).toMatchObject({ state: 'succeeded', attempts: 1 });
    },
  );

  it('is believed when the bank says yes after the lease of the attempt has ended', async () => {
    isRepeatSafe = false;
    script = [
      async () => {
        await advance();
        expect((await only()).state).toBe('unknown');
        return yes;
      },
    ];
    await perform();
    expect(await only()).toMatchObject({ state: 'succeeded', responseBody: '{"ok":true}' });
    expect(sent).toHaveLength(1);
  });

  it('is not ended by a no that comes after the lease of the attempt has ended', async () => {
    isRepeatSafe = false;
    script = [
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
    isRepeatSafe = true;
    script = [
      async () => {
        await advance();
        expect((await only()).state).toBe('succeeded');
        return no;
      },
    ];
    const reply = await perform();
    expect([reply.status, reply.body]).toEqual([200, '{"ok":true}']);
    expect(await only()).toMatchObject({ state: 'succeeded', attempts: 2, reason: null });
    expect(new Set(sent).size).toBe(1);
  });

  it('keeps a record of each attempt and what it came to', async () => {
    script = [unknown('too_late'), no];
    await perform();
    await advance();
    await advance();
    const attempts = await service.database.prisma.operationAttempt.findMany({
      where: { accountId },
      orderBy: { number: 'asc' },
    });
    expect(attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['unknown', 'too_late'],
      ['unknown', 'refused_a_repeat'],
      ['succeeded', null],
    ]);
    for (const { sendBy, startedAt } of attempts)
      expect(sendBy.getTime() - startedAt.getTime()).toBeLessThanOrEqual(5_100);
  });
});
