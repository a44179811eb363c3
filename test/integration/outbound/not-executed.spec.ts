import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OperationState } from '../../../src/outbound/operations/operation.js';
import * as journal from '../../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts } from '../../support/parent-rows.js';

describe('an operation that the bank never acknowledged', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.ScriptedBankClient;
  let callbacks: string[];
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
    bank = new journal.ScriptedBankClient();
    bank.profile.isRepeatSafe = false;
    bank.profile.visibilityBoundMs = 10_000;
    kind = {
      ...journal.chargeKind,
      name: 'send_money',
      repeat: 'unkeyed',
      onRejected: () => Promise.resolve(void callbacks.push('rejected')),
      onSucceeded: (_, __, { response }) => {
        callbacks.push(response === null ? 'succeeded by statement' : 'succeeded by response');
        return Promise.resolve();
      },
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
    await makeOlder('1 hour');
  };
  const makeOlder = (interval: string) => journal.makeOlder(service.database, accountId, interval);
  const onlyOperation = () => journal.onlyOperation(service.database, accountId);
  const advance = () =>
    journal.advanceAllOperations(service.database, accountId, instance.recovery);
  const advanceOnly = async () => {
    const { id: operationId } = await onlyOperation();
    await instance.recovery.advance({ accountId, operationId });
  };
  const closeStatement = (before?: string) =>
    journal.closeStatement(service.database, accountId, before);
  const storeLine = (line: Parameters<typeof journal.storeLine>[2]) =>
    journal.storeLine(service.database, accountId, line);
  const currentState = async (): Promise<OperationState> => (await onlyOperation()).state;
  const query = (text: string) => service.database.pool.query(text, [accountId]);
  const firstExpectedPaymentId = async () =>
    (await journal.expectedPaymentIds(service.database, accountId))[0] ?? '';

  it('is not executed when the closed statement does not show it, and releases everything', async () => {
    await loseResponse();
    await closeStatement();
    await advance();
    expect(await onlyOperation()).toMatchObject({
      state: 'not_executed',
      reason: 'absent_from_statement',
      nextActionAt: null,
    });
    expect(callbacks).toEqual(['rejected']);
    const [payment] = await service.database.prisma.expectedPayment.findMany({
      where: { accountId },
    });
    expect(payment?.withdrawnAt).not.toBeNull();
    expect(await journal.eventTypesOf(service.database, accountId)).toEqual([
      'operation.unknown',
      'operation.not_executed',
    ]);
    expect(instance.enqueuedJobs).toContain('reconcile');
    expect(bank.sent).toHaveLength(1);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the statement is not closed', () => Promise.resolve()],
    ['the closed period ends before the last effect could show', () => closeStatement('1 hour')],
    [
      'the closed period begins after the first attempt',
      async () => {
        await closeStatement();
        await query(`UPDATE statement_state SET closed_from = now() - interval '59 minutes'
                     WHERE account_id = $1`);
      },
    ],
    [
      'it is scheduled to take effect later',
      async () => {
        await closeStatement();
        await query(
          `UPDATE operation SET effective_from = now() + interval '1 hour' WHERE account_id = $1`,
        );
      },
    ],
    [
      'a line of the period is not decided',
      async () => {
        await closeStatement();
        await storeLine({ nsu: 1, cents: 77 });
        await query(`UPDATE reconciliation_state SET decided_arrival = 0 WHERE account_id = $1`);
      },
    ],
    [
      'a debit of its amount in the period is pending',
      async () => {
        await closeStatement();
        await storeLine({ nsu: 1 });
        await query(
          `INSERT INTO line_outcome (account_id, nsu, state, version, leaf_hash, sequence)
           VALUES ($1, 1, 'pending', 1, '', 1)`,
        );
      },
    ],
    [
      'a debit of its amount has no explanation',
      async () => {
        await closeStatement();
        await storeLine({ nsu: 1 });
      },
    ],
    [
      'a line since the first attempt is unreadable',
      async () => {
        await closeStatement();
        await query(`INSERT INTO unreadable_line (account_id, content_hash, kind, reason, content)
                     VALUES ($1, 'h', 'unreadable', 'x', '{}')`);
      },
    ],
  ])('stays unknown while %s', async (_, arrange) => {
    await loseResponse();
    await arrange();
    await advance();
    expect(await currentState()).toBe('unknown');
    expect(callbacks).toEqual([]);
  });

  it('is proven absent although an unreadable line was resolved', async () => {
    await loseResponse();
    await closeStatement();
    await query(`INSERT INTO unreadable_line (account_id, content_hash, kind, reason, content,
                   resolved_at, resolution)
                 VALUES ($1, 'h', 'unreadable', 'x', '{}', clock_timestamp(), 'read')`);
    await advance();
    expect(await currentState()).toBe('not_executed');
  });

  it('is proven absent although other lines of the period are explained', async () => {
    await loseResponse();
    await closeStatement();
    await storeLine({ nsu: 1, cents: 77 });
    await storeLine({ nsu: 2 });
    await query(`INSERT INTO classification (account_id, nsu, rule) VALUES ($1, 2, 'fee')`);
    await advance();
    expect(await currentState()).toBe('not_executed');
  });

  it('is not proven absent while a rule of the account alone explains a debit of its amount', async () => {
    await loseResponse();
    await closeStatement();
    await storeLine({ nsu: 2 });
    await query(`INSERT INTO classification (account_id, nsu, rule, final_at)
                 VALUES ($1, 2, 'declared', clock_timestamp())`);
    await advance();
    expect(await currentState()).toBe('unknown');
  });

  it('is proven absent despite pending debits of another amount or outside the period', async () => {
    await loseResponse();
    await closeStatement();
    await storeLine({ nsu: 1, cents: 77 });
    // A debit of its amount, later than any debit of this operation could appear.
    await storeLine({ nsu: 2, ago: '30 minutes' });
    await query(
      `INSERT INTO line_outcome (account_id, nsu, state, version, leaf_hash, sequence)
       VALUES ($1, 1, 'pending', 1, '', 1), ($1, 2, 'pending', 1, '', 1)`,
    );
    await advance();
    expect(await currentState()).toBe('not_executed');
  });

  it('stays unknown until the latest effect that its kind allows', async () => {
    kind.latestEffectAt = (_, lastSendBy) => new Date(lastSendBy.getTime() + 2 * 3_600_000);
    await loseResponse();
    await closeStatement();
    await advance();
    expect(await currentState()).toBe('unknown');
    await makeOlder('3 hours');
    await advance();
    expect(await currentState()).toBe('not_executed');
  });

  it('requests a statement closing only when the period can be closed', async () => {
    bank.script = [journal.unknownResponse()];
    await perform();
    await advance();
    expect(instance.enqueuedJobs).not.toContain('closeStatement');
    await makeOlder('40 seconds');
    await advance();
    expect(instance.enqueuedJobs).toContain('closeStatement');
  });

  const setOffsets = (table: string, suffix: string, ms: number) =>
    service.database.pool.query(
      `UPDATE ${table} SET clock_offset${suffix}_ms = $2::bigint,
         clock_offset${suffix}_max_ms = $2::bigint + 999
       WHERE account_id = $1`,
      [accountId, ms],
    );
  const hour = 3_600_000;

  it.each([-24 * hour, -hour, hour, 24 * hour])(
    'is proven absent by the bank’s clock, which is %d ms ahead',
    async (aheadMs) => {
      await loseResponse();
      await setOffsets('operation_attempt', '', aheadMs);
      await closeStatement();
      await setOffsets('statement_state', '', aheadMs);
      const setClosed = (shiftMs: number) =>
        service.database.pool.query(
          `UPDATE statement_state
           SET closed_from = now() - interval '70 minutes' + $2 * interval '1 millisecond',
               closed_until = now() + $2 * interval '1 millisecond'
           WHERE account_id = $1`,
          [accountId, shiftMs],
        );
      await setClosed(0);
      await advance();
      expect(await currentState()).toBe('unknown');
      await setClosed(aheadMs);
      await advance();
      expect(await currentState()).toBe('not_executed');
    },
  );

  it('is not proven absent before its last effect could show, whatever is closed', async () => {
    bank.script.unshift(journal.unknownResponse());
    await perform();
    await makeOlder('16 seconds');
    await closeStatement();
    await query(
      `UPDATE statement_state SET closed_until = now() + interval '1 day' WHERE account_id = $1`,
    );
    await advance();
    expect(await currentState()).toBe('unknown');
  });

  it.each([
    ['before it', `UPDATE operation_attempt SET clock_offset_ms = NULL WHERE account_id = $1`],
    [
      'since it',
      `UPDATE statement_state SET clock_measured_at = now() - interval '2 hours'
       WHERE account_id = $1`,
    ],
  ])('is not proven absent while the bank has not shown its clock %s', async (_, change) => {
    await loseResponse();
    await closeStatement();
    await query(change);
    await advance();
    expect(await currentState()).toBe('unknown');
  });

  it.each([
    ['before it', 'operation_attempt', ''],
    ['after it', 'operation_attempt', '_after'],
    ['at the last sync', 'statement_state', ''],
  ])('is not proven absent while a clock showed another time %s', async (_, table, suffix) => {
    await loseResponse();
    await closeStatement();
    await setOffsets('operation_attempt', '', 0);
    await setOffsets('operation_attempt', '_after', 0);
    for (const differenceMs of [-24 * hour, -10_000, 10_000, hour]) {
      await setOffsets(table, suffix, differenceMs);
      await query(
        `UPDATE statement_state SET closed_from = now() - interval '9 days',
           closed_until = now() + interval '9 days'
         WHERE account_id = $1`,
      );
      await advance();
      expect(await currentState()).toBe('unknown');
    }
    // Within the accuracy of the bank's Date header and the duration of the calls.
    await setOffsets(table, suffix, 4_000);
    await query(`UPDATE statement_state SET closed_until = now() WHERE account_id = $1`);
    await advance();
    expect(await currentState()).toBe('not_executed');
  });

  it.each(['not_executed', 'needs_operator', 'unknown'] as const)(
    'succeeds when a line shows it although it was %s',
    async (state) => {
      await loseResponse();
      if (state === 'not_executed') await closeStatement();
      if (state === 'needs_operator') {
        bank.profile.visibilityBoundMs = null;
        await makeOlder('1 hour');
      }
      await advance();
      expect(await currentState()).toBe(state);
      callbacks = [];
      await storeLine({ nsu: 9, expectedPaymentId: await firstExpectedPaymentId() });
      instance.enqueuedJobs.length = 0;
      await instance.recovery.enqueueContradicted();
      if (state !== 'unknown') expect(instance.enqueuedJobs).toContain('advanceOperation');
      await advanceOnly();
      expect(await onlyOperation()).toMatchObject({
        state: 'succeeded',
        reason: 'seen_on_statement',
      });
      expect(callbacks).toEqual(['succeeded by statement']);
      const [payment] = await service.database.prisma.expectedPayment.findMany({
        where: { accountId },
      });
      expect(payment?.withdrawnAt).toBeNull();
      const eventTypes = await journal.eventTypesOf(service.database, accountId);
      expect(eventTypes.at(-1)).toBe('operation.succeeded');
      expect(eventTypes[0]).toBe('operation.unknown');
    },
  );

  it('stores the response that comes after the line, and calls its module again', async () => {
    bank.script = [
      async () => {
        await query(`UPDATE operation SET state = 'unknown' WHERE account_id = $1`);
        await storeLine({ nsu: 5, expectedPaymentId: await firstExpectedPaymentId() });
        await advanceOnly();
        expect(await onlyOperation()).toMatchObject({ state: 'succeeded', responseStatus: null });
        return journal.accepted;
      },
    ];
    expect((await perform()).status).toBe(200);
    expect(callbacks).toEqual(['succeeded by statement', 'succeeded by response']);
  });

  it('succeeds when its response comes after it was proven absent', async () => {
    bank.script = [
      async () => {
        await makeOlder('1 hour');
        // Its lease has ended, so it is unknown first; then what is due about it is decided.
        await advance();
        await closeStatement();
        await advance();
        expect(await currentState()).toBe('not_executed');
        return journal.accepted;
      },
    ];
    await perform();
    expect(await onlyOperation()).toMatchObject({ state: 'succeeded', responseStatus: 200 });
    expect(callbacks).toEqual(['rejected', 'succeeded by response']);
  });

  it.each([
    ['an id', { status: 200, text: '{"id":"bank-7"}' }, 'bank-7'],
    ['a status', { status: 200, text: '{"odd":1}' }, 'status 200'],
  ])('is never proven absent after an unusable 2xx with %s', async (_, more, bankReference) => {
    bank.script = [journal.unknownResponse('unexpected_response', more)];
    await perform();
    await makeOlder('1 hour');
    await closeStatement();
    await advance();
    expect(await onlyOperation()).toMatchObject({ state: 'needs_operator', bankReference });
  });

  it('is sent again for an identical request only ten minutes after it was proven absent', async () => {
    await loseResponse({ idempotencyKey: null, joinsSameRequest: true });
    await closeStatement();
    await advance();
    const repeat = { idempotencyKey: null, joinsSameRequest: true };
    expect((await perform(repeat)).status).toBe(202);
    expect(bank.sent).toHaveLength(1);
    await query(
      `UPDATE operation SET ended_at = now() - interval '11 minutes' WHERE account_id = $1`,
    );
    expect((await perform(repeat)).status).toBe(200);
    expect(bank.sent).toHaveLength(2);
  });
});
