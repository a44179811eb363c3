import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { noPreferences } from '../../src/operations/operation.js';
import { listDue } from '../../src/operations/operations.queries.js';
import * as journal from '../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

describe('operations that a killed process left behind', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.AnsweringBank;
  let freed: number;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    freed = 0;
    bank = new journal.AnsweringBank();
  });

  const kindOf = (repeat: journal.Kind['repeat']): journal.Kind => ({
    ...journal.chargeKind,
    name: 'send_money',
    repeat,
    onRejected: () => Promise.resolve(void (freed += 1)),
  });
  /** A process of its own. */
  const start = (kind: journal.Kind) => journal.journalOn(service.database, bank, [kind]);
  const only = () => journal.onlyOperation(service.database, accountId);
  const perform = (kind: journal.Kind, over: object = {}) =>
    start(kind).operations.perform(kind, {
      ...journal.outgoingOperation({ accountId, key: 'key-1' }),
      ...over,
    } as never);
  const put = (state: string, attempts: number) =>
    service.database.pool.query(
      `UPDATE operation SET state = $2, attempts = $3, ended_at = NULL, response_status = NULL,
         response_body = NULL, next_action_at = now(), is_detached = false, bank_reference = NULL
       WHERE account_id = $1`,
      [accountId, state, attempts],
    );

  it.each([
    ['received', 'keyed', 0, { state: 'succeeded', attempts: 1 }, 1],
    ['received', 'another', 0, { state: 'succeeded', attempts: 1 }, 1],
    ['received', 'never', 0, { state: 'not_executed', reason: 'never_sent' }, 0],
    ['sending', 'keyed', 1, { state: 'succeeded', attempts: 2 }, 1],
    ['sending', 'another', 1, { state: 'unknown', reason: 'interrupted' }, 0],
    ['sending', 'never', 1, { state: 'needs_operator', reason: 'interrupted' }, 0],
    ['unknown', 'keyed', 1, { state: 'succeeded', attempts: 2 }, 1],
    ['unknown', 'another', 1, { state: 'unknown' }, 0],
    ['unknown', 'never', 1, { state: 'needs_operator' }, 0],
  ] as const)(
    'in %s, of a kind that repeats %s: taken up',
    async (state, repeat, attempts, end, sendings) => {
      const kind = kindOf(repeat);
      await perform(kind, repeat === 'never' ? { redactedBody: { password: '***' } } : {});
      await put(state, attempts);
      if (attempts === 0)
        await service.database.prisma.operationAttempt.deleteMany({ where: { accountId } });
      bank.sent = [];
      // Two processes reach for it.
      const { id } = await only();
      await Promise.all(
        [start(kind), start(kind)].map((one) =>
          one.recovery.advance({ accountId, operationId: id }),
        ),
      );
      expect(await only()).toMatchObject(end);
      expect(bank.sent).toHaveLength(sendings);
      for (const { key } of bank.sent) expect(key).toBe(id);
      expect(freed).toBe(end.state === 'not_executed' ? 1 : 0);
    },
  );

  it('tells once that nobody knows the outcome, and then how it ended', async () => {
    const kind = kindOf('keyed');
    bank.script = [journal.unknown(), journal.unknown()];
    await perform(kind);
    const { recovery } = start(kind);
    await journal.advanceAll(service.database, accountId, recovery);
    await journal.advanceAll(service.database, accountId, recovery);
    expect((await only()).state).toBe('succeeded');
    expect(await journal.eventsOf(service.database, accountId)).toEqual([
      'operation.unknown',
      'operation.succeeded',
    ]);
    const [event] = await service.database.prisma.event.findMany({ where: { accountId } });
    expect(JSON.parse(event?.data ?? '')).toEqual({
      operationId: (await only()).id,
      kind: 'send_money',
      state: 'unknown',
      reason: 'no_answer',
    });
  });

  it('tells nothing of what its caller was answered', async () => {
    await perform(kindOf('keyed'));
    bank.script = [journal.no];
    await perform(kindOf('keyed'), { idempotencyKey: 'key-2' });
    expect(await journal.eventsOf(service.database, accountId)).toEqual([]);
  });

  it('tells the end of what its caller did not wait for', async () => {
    const kind = kindOf('another');
    bank.script = [journal.no];
    await perform(kind, { preferences: { ...noPreferences, respondAsync: true } });
    expect(bank.sent).toHaveLength(0);
    await journal.advanceAll(service.database, accountId, start(kind).recovery);
    expect(await journal.eventsOf(service.database, accountId)).toEqual(['operation.rejected']);
  });

  describe('that could not be sent for an hour', () => {
    const hourPasses = () => journal.letPass(service.database, accountId, '61 minutes');

    it.each([
      ['tried in vain', false, 2],
      ['never tried, because no process was there', true, 0],
    ])('were not executed: %s', async (_, respondAsync, tries) => {
      const kind = kindOf('keyed');
      bank.script = Array.from({ length: tries }, () => journal.unknown('not_sent'));
      await perform(kind, { preferences: { ...noPreferences, respondAsync } });
      const { recovery, operations } = start(kind);
      for (let times = 1; times < tries; times += 1)
        await journal.advanceAll(service.database, accountId, recovery);
      await hourPasses();
      await journal.advanceAll(service.database, accountId, recovery);
      expect(await only()).toMatchObject({ state: 'not_executed', reason: 'never_sent' });
      expect(bank.sent).toHaveLength(tries);
      expect(freed).toBe(1);
      expect(await journal.eventsOf(service.database, accountId)).toEqual([
        'operation.not_executed',
      ]);
      // Nothing left: whoever asks under its key again is asking for it now.
      const again = operations.perform(kind, journal.outgoingOperation({ accountId, key: 'key-1' }));
      expect((await again).status).toBe(200);
      expect(bank.sent).toHaveLength(tries + 1);
    });

    it('are never given up when any attempt may have left', async () => {
      const kind = kindOf('keyed');
      bank.script = [journal.unknown('not_sent')];
      await perform(kind);
      await service.database.pool.query(
        `UPDATE operation_attempt SET outcome = NULL, reason = NULL WHERE account_id = $1`,
        [accountId],
      );
      await hourPasses();
      await journal.advanceAll(service.database, accountId, start(kind).recovery);
      expect((await only()).state).not.toBe('not_executed');
    });
  });

  it('of one account are not held up by the thousands of another', async () => {
    const kind = kindOf('keyed');
    await perform(kind);
    await service.database.pool.query(
      `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, next_action_at)
       SELECT $1 + 1000000, gen_random_uuid(), 'send_money', 'unknown', 'h', '{}', now() - interval '1 day'
       FROM generate_series(1, 1000)`,
      [accountId],
    );
    await put('unknown', 1);
    const due = await listDue(service.database.prisma, 200);
    expect(due.filter((one) => one.accountId === accountId)).toHaveLength(1);
    expect(due.filter((one) => one.accountId === accountId + 1_000_000)).toHaveLength(200);
    await service.database.pool.query(`DELETE FROM operation WHERE account_id > 1000000`);
  });

  describe('that hold secrets', () => {
    const secret = { redactedBody: { password: '***' } };

    it('are sent whole by the process that was given them, even when told not to wait', async () => {
      const preferences = { ...noPreferences, respondAsync: true };
      expect((await perform(kindOf('never'), { ...secret, preferences })).status).toBe(200);
      expect(bank.sent).toHaveLength(1);
      expect(bank.sent[0]?.body).toContain('Maria');
      expect((await only()).requestBody).toBe('{"password":"***"}');
    });

    it('end at once with a person when no answer comes', async () => {
      bank.script = [journal.unknown()];
      expect((await perform(kindOf('never'), secret)).status).toBe(202);
      expect((await only()).state).toBe('needs_operator');
      expect(await journal.eventsOf(service.database, accountId)).toEqual([
        'operation.needs_operator',
      ]);
    });

    it('were not executed when they did not leave, and their caller is told so', async () => {
      bank.script = [journal.unknown('not_sent')];
      await expect(perform(kindOf('never'), secret)).rejects.toMatchObject({
        code: 'bank_unreachable',
      });
      expect(await only()).toMatchObject({ state: 'not_executed', reason: 'never_sent' });
      expect(freed).toBe(1);
    });

    it('are asked for anew by a repeat under the same key when they did not leave', async () => {
      bank.script = [journal.unknown('not_sent')];
      const kind = kindOf('never');
      const repeat = { ...secret, idempotencyKey: 'k-1' };
      await expect(perform(kind, repeat)).rejects.toMatchObject({ code: 'bank_unreachable' });
      expect((await perform(kind, repeat)).status).toBe(200);
      const states = await journal.operationsOf(service.database, accountId);
      expect(states.map(({ state }) => state)).toEqual(['not_executed', 'succeeded']);
    });

    it('are answered exactly once: what is kept has nothing that the bank repeated of them', async () => {
      bank.script = [{ outcome: 'rejection', status: 422, text: '{"title":"739102 is simple"}' }];
      const kind = kindOf('never');
      kind.redactAnswer = (_, text) => text.replace('739102', '***');
      expect((await perform(kind, secret)).body).toBe('{"title":"739102 is simple"}');
      expect((await only()).responseBody).toBe('{"title":"*** is simple"}');
      expect((await perform(kind, secret)).body).toBe('{"title":"*** is simple"}');
    });

    it('are kept without their answer where their kind does not say what may be kept', async () => {
      bank.script = [{ outcome: 'rejection', status: 422, text: '{"title":"739102"}' }];
      expect((await perform(kindOf('never'), secret)).status).toBe(422);
      expect((await only()).responseBody).toBe('{}');
    });

    it('belong to no other kind: what is kept without them would be sent', async () => {
      await expect(perform(kindOf('keyed'), secret)).rejects.toThrow('holds secrets');
      expect(await journal.operationsOf(service.database, accountId)).toEqual([]);
    });
  });
});
