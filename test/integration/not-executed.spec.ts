import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OperationState } from '../../src/operations/operation.js';
import * as journal from '../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('an operation that nobody has seen', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.AnsweringBank;
  let told: string[];
  let kind: journal.Kind;
  let at: ReturnType<typeof journal.journalOn>;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    told = [];
    bank = new journal.AnsweringBank();
    bank.profile.isRepeatSafe = false;
    bank.profile.visibilityBoundMs = 10_000;
    kind = {
      ...journal.chargeKind,
      name: 'send_money',
      repeat: 'another',
      onRejected: () => Promise.resolve(void told.push('rejected')),
      onSucceeded: (_, __, { answer }) =>
        Promise.resolve(void told.push(answer === null ? 'seen' : 'answered')),
    };
    at = journal.journalOn(service.database, bank, [kind]);
  });

  const perform = (over: object = {}) =>
    at.operations.perform(kind, {
      ...journal.outgoingOperation({ accountId, key: 'key-1', ...over }),
      ...over,
    } as never);
  /** Sent an hour ago, and no answer came. */
  const lose = async (over: object = {}) => {
    bank.script.unshift(journal.unknown());
    await perform(over);
    await journal.letPass(service.database, accountId, '1 hour');
  };
  const only = () => journal.onlyOperation(service.database, accountId);
  const advance = () => journal.advanceAll(service.database, accountId, at.recovery);
  const close = (before?: string) => journal.closeStatement(service.database, accountId, before);
  const stateOf = async (): Promise<OperationState> => (await only()).state;
  const query = (text: string) => service.database.pool.query(text, [accountId]);
  const expected = async () => (await journal.expectedIds(service.database, accountId))[0] ?? '';

  it('was not executed when the closed statement does not show it; what it took is free', async () => {
    await lose();
    await close();
    await advance();
    expect(await only()).toMatchObject({
      state: 'not_executed',
      reason: 'absent_from_statement',
      nextActionAt: null,
    });
    expect(told).toEqual(['rejected']);
    const [payment] = await service.database.prisma.expectedPayment.findMany({
      where: { accountId },
    });
    expect(payment?.withdrawnAt).not.toBeNull();
    expect(await journal.eventsOf(service.database, accountId)).toEqual([
      'operation.unknown',
      'operation.not_executed',
    ]);
    expect(at.woken).toContain('reconcile');
    expect(bank.sent).toHaveLength(1);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the statement is not closed', () => Promise.resolve()],
    ['it is closed only until before the last effect could show', () => close('1 hour')],
    [
      'it is closed only since after the first sending',
      async () => {
        await close();
        await query(`UPDATE statement_state SET closed_from = now() - interval '59 minutes'
                     WHERE account_id = $1`);
      },
    ],
    [
      'it is to take effect later',
      async () => {
        await close();
        await query(
          `UPDATE operation SET effective_from = now() + interval '1 hour' WHERE account_id = $1`,
        );
      },
    ],
    [
      'a line of that time is not judged',
      async () => {
        await close();
        await journal.storeLine(service.database, accountId, { nsu: 1, cents: 77 });
        await query(`UPDATE reconciliation_state SET decided_arrival = 0 WHERE account_id = $1`);
      },
    ],
    [
      'a debit of its amount and of that time waits to be judged',
      async () => {
        await close();
        await journal.storeLine(service.database, accountId, { nsu: 1 });
        await query(`INSERT INTO deferred_line (account_id, nsu) VALUES ($1, 1)`);
      },
    ],
    [
      'a debit of its amount has no explanation',
      async () => {
        await close();
        await journal.storeLine(service.database, accountId, { nsu: 1 });
      },
    ],
    [
      'a line since then could not be read',
      async () => {
        await close();
        await query(`INSERT INTO unreadable_line (account_id, content_hash, kind, reason, content)
                     VALUES ($1, 'h', 'unreadable', 'x', '{}')`);
      },
    ],
  ])('stays unknown while %s', async (_, arrange) => {
    await lose();
    await arrange();
    await advance();
    expect(await stateOf()).toBe('unknown');
    expect(told).toEqual([]);
  });

  it('is not proven absent by lines that have an explanation of their own', async () => {
    await lose();
    await close();
    await journal.storeLine(service.database, accountId, { nsu: 1, cents: 77 });
    await journal.storeLine(service.database, accountId, { nsu: 2 });
    await query(`INSERT INTO classification (account_id, nsu, rule) VALUES ($1, 2, 'fee')`);
    await advance();
    expect(await stateOf()).toBe('not_executed');
  });

  it('is not held up by debits that wait to be judged and cannot be it', async () => {
    await lose();
    await close();
    await journal.storeLine(service.database, accountId, { nsu: 1, cents: 77 });
    await query(`INSERT INTO deferred_line (account_id, nsu) VALUES ($1, 1), ($1, 2)`);
    // Of its amount, and after the last moment at which it could have shown.
    await journal.storeLine(service.database, accountId, { nsu: 2, ago: '30 minutes' });
    await advance();
    expect(await stateOf()).toBe('not_executed');
  });

  it('waits as long as its kind says that the bank may take', async () => {
    kind.latestEffect = (_, lastSendBy) => new Date(lastSendBy.getTime() + 2 * 3_600_000);
    await lose();
    await close();
    await advance();
    expect(await stateOf()).toBe('unknown');
    await journal.letPass(service.database, accountId, '3 hours');
    await advance();
    expect(await stateOf()).toBe('not_executed');
  });

  it('asks for a closed statement only when a reading could close it', async () => {
    bank.script = [journal.unknown()];
    await perform();
    await advance();
    expect(at.woken).not.toContain('closeStatement');
    await journal.letPass(service.database, accountId, '40 seconds');
    await advance();
    expect(at.woken).toContain('closeStatement');
  });

  it('counts by the bank’s clock, and by the wider span when that was set in between', async () => {
    await lose();
    await close();
    await query(`UPDATE operation_attempt SET clock_offset_ms = 7200000 WHERE account_id = $1`);
    await advance();
    expect(await stateOf()).toBe('unknown');
    await query(
      `UPDATE statement_state SET closed_until = now() + interval '2 hours' WHERE account_id = $1`,
    );
    await advance();
    expect(await stateOf()).toBe('not_executed');
  });

  it.each(['not_executed', 'needs_operator', 'unknown'] as const)(
    'has succeeded when a line shows it although it was %s',
    async (state) => {
      await lose();
      if (state === 'not_executed') await close();
      if (state === 'needs_operator') {
        bank.profile.visibilityBoundMs = null;
        await journal.letPass(service.database, accountId, '1 hour');
      }
      await advance();
      expect(await stateOf()).toBe(state);
      told = [];
      await journal.storeLine(service.database, accountId, { nsu: 9, paying: await expected() });
      at.woken.length = 0;
      await at.recovery.enqueueDue();
      if (state !== 'unknown') expect(at.woken).toContain('advanceOperation');
      await at.recovery.advance({ accountId, operationId: (await only()).id });
      expect(await only()).toMatchObject({ state: 'succeeded', reason: 'seen_on_statement' });
      expect(told).toEqual(['seen']);
      const [payment] = await service.database.prisma.expectedPayment.findMany({
        where: { accountId },
      });
      expect(payment?.withdrawnAt).toBeNull();
      expect((await journal.eventsOf(service.database, accountId)).at(-1)).toBe(
        'operation.succeeded',
      );
      expect((await journal.eventsOf(service.database, accountId))[0]).toBe('operation.unknown');
    },
  );

  it('takes the answer that comes after the statement’s evidence, and tells its room again', async () => {
    bank.script = [
      async () => {
        await query(`UPDATE operation SET state = 'unknown' WHERE account_id = $1`);
        await journal.storeLine(service.database, accountId, { nsu: 5, paying: await expected() });
        await at.recovery.advance({ accountId, operationId: (await only()).id });
        expect(await only()).toMatchObject({ state: 'succeeded', responseStatus: null });
        return journal.yes;
      },
    ];
    expect((await perform()).status).toBe(200);
    expect(told).toEqual(['seen', 'answered']);
  });

  it('has succeeded when its own answer comes after it was proven absent', async () => {
    bank.script = [
      async () => {
        await journal.letPass(service.database, accountId, '1 hour');
        await close();
        await advance();
        expect(await stateOf()).toBe('not_executed');
        return journal.yes;
      },
    ];
    await perform();
    expect(await only()).toMatchObject({ state: 'succeeded', responseStatus: 200 });
    expect(told).toEqual(['rejected', 'answered']);
  });

  it.each([
    ['an id', { status: 200, text: '{"id":"bank-7"}' }, 'bank-7'],
    ['a status', { status: 200, text: '{"odd":1}' }, 'status 200'],
  ])('is never proven absent when an odd answer told %s', async (_, more, bankReference) => {
    bank.script = [journal.unknown('unexpected_answer', more)];
    await perform();
    await journal.letPass(service.database, accountId, '1 hour');
    await close();
    await advance();
    expect(await only()).toMatchObject({ state: 'needs_operator', bankReference });
  });

  it('is sent again by its joined request only ten minutes after it was proven absent', async () => {
    await lose({ idempotencyKey: null, joinsSameRequest: true });
    await close();
    await advance();
    const again = { idempotencyKey: null, joinsSameRequest: true };
    expect((await perform(again)).status).toBe(202);
    expect(bank.sent).toHaveLength(1);
    await query(
      `UPDATE operation SET ended_at = now() - interval '11 minutes' WHERE account_id = $1`,
    );
    expect((await perform(again)).status).toBe(200);
    expect(bank.sent).toHaveLength(2);
  });
});
