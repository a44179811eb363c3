import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { noPreferences } from '../../src/operations/operation.js';
import * as journal from '../support/journal.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const kind: journal.Kind = { ...journal.chargeKind, name: 'send_money', repeat: 'another' };

describe('a second request for the same money', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.AnsweringBank;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    bank = new journal.AnsweringBank();
    bank.profile.isRepeatSafe = false;
  });

  const ask = (
    key: string,
    over: Partial<Parameters<typeof journal.outgoingOperation>[0]> & { allow?: boolean } = {},
    policy: 'off' | 'warn' | 'refuse' = 'off',
  ) => {
    const { operations } = journal.journalOn(service.database, bank, [kind], {
      policy,
      windowMinutes: 10,
    });
    const intent = journal.outgoingOperation({ accountId, key, ...over });
    const preferences = { ...noPreferences, allowDuplicate: over.allow ?? false };
    return operations.perform(kind, { ...intent, preferences });
  };
  const setState = (state: string, age = '0 seconds') =>
    service.database.pool.query(
      `UPDATE operation SET state = $2, created_at = now() - $3::interval,
         ended_at = CASE WHEN $2 IN ('succeeded', 'rejected', 'not_executed', 'needs_operator')
                    THEN now() - $3::interval END,
         next_action_at = CASE WHEN $2 IN ('received', 'sending', 'unknown') THEN now() + interval '1 hour' END
       WHERE account_id = $1`,
      [accountId, state, age],
    );
  const first = async () => {
    bank.script = [journal.unknown()];
    await ask('first', { isDistinguishable: false });
    return (await journal.onlyOperation(service.database, accountId)).id;
  };
  const outcome = (asked: Promise<{ status: number; headers: Record<string, string> }>) =>
    asked.then(
      ({ status, headers }) => ({ status, warned: headers['Possible-Duplicate'] ?? null }),
      (error: { status: number; code: string; details: { headers?: Record<string, string> } }) => ({
        status: error.status,
        code: error.code,
        location: error.details.headers?.Location,
      }),
    );

  it.each([
    ['unknown', '0 seconds', true],
    ['needs_operator', '1 day', true],
    ['received', '3 seconds', true],
    ['sending', '3 seconds', true],
    ['received', '0 seconds', false],
    ['sending', '0 seconds', false],
    ['succeeded', '3 seconds', false],
    ['rejected', '3 seconds', false],
    ['not_executed', '3 seconds', false],
  ])('while the first is %s, for %s: refused %s', async (state, age, isRefused) => {
    const id = await first();
    await setState(state, age);
    expect(await outcome(ask('second'))).toEqual(
      isRefused
        ? { status: 409, code: 'possible_duplicate', location: `/v1/operations/${id}` }
        : { status: 200, warned: null },
    );
    expect(bank.sent).toHaveLength(isRefused ? 1 : 2);
  });

  it.each<[string, object, number]>([
    ['another amount', { cents: 1_001n }, 200],
    ['another counterparty', { counterparty: '1/1/2' }, 200],
    ['the header that allows it', { allow: true }, 200],
    ['an id on the second alone', { isDistinguishable: true }, 409],
  ])('with %s: %s answers %i', async (_, over, status) => {
    await first();
    expect((await outcome(ask('second', over))).status).toBe(status);
  });

  it.each([
    ['77777777/1/54321', '54321', 409],
    ['54321', '77777777/1/54321', 409],
    ['77777777/1/54321', '88888888/1/54321', 200],
    ['77777777/1/54321', '1', 200],
    ['54321', '77777777/54321/1', 200],
  ])(
    'after one to %s, another to %s answers %i: an account by its number alone is one',
    async (one, other, status) => {
      bank.script = [journal.unknown()];
      await ask('first', { counterparty: one });
      expect((await outcome(ask('second', { counterparty: other }))).status).toBe(status);
    },
  );

  it('is none when an id that the statement shows tells both apart', async () => {
    bank.script = [journal.unknown()];
    await ask('first', { isDistinguishable: true });
    expect((await outcome(ask('second', { isDistinguishable: true }))).status).toBe(200);
    expect((await outcome(ask('third'))).status).toBe(409);
  });

  it('is none for another account or another kind', async () => {
    await first();
    await service.database.pool.query(`UPDATE operation SET account_id = account_id + 500`);
    expect((await outcome(ask('second'))).status).toBe(200);
  });

  it('is none when it is the same request under its key: that is replayed', async () => {
    await first();
    const reply = await ask('first');
    expect([reply.status, reply.headers['Idempotent-Replayed']]).toEqual([202, 'true']);
  });

  it('leaves nothing behind when it is refused', async () => {
    await first();
    await outcome(ask('second'));
    await journal.onlyOperation(service.database, accountId);
    expect(await journal.expectedIds(service.database, accountId)).toHaveLength(1);
    await setState('rejected');
    expect((await outcome(ask('second'))).status).toBe(200);
  });

  it('is told, or refused, after one that has just succeeded where the settings say so', async () => {
    await ask('first');
    const { id } = await journal.onlyOperation(service.database, accountId);
    await setState('succeeded', '9 minutes');
    expect(await outcome(ask('second', {}, 'warn'))).toEqual({
      status: 200,
      warned: `/v1/operations/${id}`,
    });
    expect(await outcome(ask('third', {}, 'refuse'))).toMatchObject({ code: 'possible_duplicate' });
    await setState('succeeded', '11 minutes');
    expect(await outcome(ask('fourth', {}, 'refuse'))).toEqual({ status: 200, warned: null });
  });

  it('is refused, or told, though the first is only just being sent, where the settings say so', async () => {
    const keys = Array.from({ length: 6 }, (_, index) => `click-${index}`);
    const refused = await Promise.all(keys.map((key) => outcome(ask(key, {}, 'refuse'))));
    expect(refused.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(bank.sent).toHaveLength(1);
    const told = await outcome(ask('another', {}, 'warn'));
    expect(told).toMatchObject({
      status: 200,
      warned: expect.stringMatching(/^\/v1\/operations\//),
    });
  });

  it('moves money once when twenty come at once under one key, at two processes', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask('one')));
    expect(bank.sent).toHaveLength(1);
    expect(new Set(replies.map(({ body }) => String(body))).size).toBe(1);
  });
});
