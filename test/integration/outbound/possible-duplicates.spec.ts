import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Tx } from '../../../src/platform/postgres/database.service.js';
import { noPreferences } from '../../../src/outbound/operations/operation.js';
import { advisoryLocks } from '../../../src/platform/postgres/advisory-locks.js';
import {
  findPossibleDuplicate,
  listStorable,
} from '../../../src/outbound/operations/possible-duplicates.queries.js';
import * as journal from '../../support/journal.js';
import { measureRowsRead } from '../../support/rows-read.js';
import { until } from '../../support/until.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { addAccounts, withoutTriggers } from '../../support/parent-rows.js';

const kind: journal.ChargeKind = {
  ...journal.chargeKind,
  name: 'send_money',
  repeat: 'unkeyed',
};

describe('a second request with the same counterparty and amount', () => {
  let service: ServiceDatabase;
  let accountId: number;
  let bank: journal.ScriptedBankClient;

  beforeAll(async () => {
    service = await serviceDatabase();
    accountId = service.accountId;
    await addAccounts(service.database.pool, 200);
  });
  afterAll(() => service.drop());
  beforeEach(() => {
    accountId += 1;
    bank = new journal.ScriptedBankClient();
    bank.profile.isRepeatSafe = false;
  });

  const perform = (
    key: string,
    over: Partial<Parameters<typeof journal.outgoingOperation>[0]> & { allow?: boolean } = {},
    policy: 'off' | 'warn' | 'refuse' = 'off',
  ) => {
    const { operations } = journal.createJournal(service.database, bank, [kind], {
      policy,
      windowMinutes: 10,
    });
    const request = journal.outgoingOperation({ accountId, key, ...over });
    const preferences = { ...noPreferences, allowDuplicate: over.allow ?? false };
    return operations.perform(kind, { ...request, preferences });
  };
  const setState = (state: string, age = '0 seconds') =>
    service.database.pool.query(
      `UPDATE operation SET state = $2, created_at = now() - $3::interval,
         ended_at = CASE WHEN NOT $4 THEN now() - $3::interval END,
         next_action_at = CASE WHEN $4 THEN now() + interval '1 hour' END
       WHERE account_id = $1`,
      [
        ...[accountId, state, age],
        ['received', 'sending', 'unknown', 'awaiting_approval'].includes(state),
      ],
    );
  const performFirst = async () => {
    bank.script = [journal.unknownResponse()];
    await perform('first', { isDistinguishable: false });
    return (await journal.onlyOperation(service.database, accountId)).id;
  };
  const resultOf = (reply: Promise<{ status: number; headers: Record<string, string> }>) =>
    reply.then(
      ({ status, headers }) => ({ status, warning: headers['Possible-Duplicate'] ?? null }),
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
    ['awaiting_approval', '0 seconds', true],
    ['declined', '3 seconds', false],
    ['expired', '3 seconds', false],
  ])('while the first has been %s for %s: refused %s', async (state, age, isRefused) => {
    const id = await performFirst();
    await setState(state, age);
    expect(await resultOf(perform('second'))).toEqual(
      isRefused
        ? { status: 409, code: 'possible_duplicate', location: `/v1/operations/${id}` }
        : { status: 200, warning: null },
    );
    expect(bank.sent).toHaveLength(isRefused ? 1 : 2);
  });

  it.each<[string, object, number]>([
    ['another amount', { amountCents: 1_001n }, 200],
    ['another counterparty', { counterparty: '1/1/2' }, 200],
    ['the header that allows a duplicate', { allow: true }, 200],
    ['a distinguishing id on the second alone', { isDistinguishable: true }, 409],
  ])('with %s (%p) gets %i', async (_, over, status) => {
    await performFirst();
    expect((await resultOf(perform('second', over))).status).toBe(status);
  });

  it.each([
    ['77777777/1/54321', '54321', 409],
    ['54321', '77777777/1/54321', 409],
    ['77777777/1/54321', '88888888/1/54321', 200],
    ['77777777/1/54321', '1', 200],
    ['54321', '77777777/54321/1', 200],
  ])(
    'after a payment to %s, a payment to %s gets %i: a number alone equals its full account',
    async (firstCounterparty, counterparty, status) => {
      bank.script = [journal.unknownResponse()];
      await perform('first', { counterparty: firstCounterparty });
      expect((await resultOf(perform('second', { counterparty }))).status).toBe(status);
    },
  );

  it('is allowed when an id that the statement shows distinguishes both', async () => {
    bank.script = [journal.unknownResponse()];
    await perform('first', { isDistinguishable: true });
    expect((await resultOf(perform('second', { isDistinguishable: true }))).status).toBe(200);
    expect((await resultOf(perform('third'))).status).toBe(409);
  });

  it('is allowed for another account', async () => {
    await performFirst();
    await withoutTriggers(service.database.pool, async (client) => {
      await client.query(`UPDATE operation SET account_id = account_id + 100`);
    });
    expect((await resultOf(perform('second'))).status).toBe(200);
  });

  it('is a replay, not a duplicate, when it has the key of the first', async () => {
    await performFirst();
    const reply = await perform('first');
    expect([reply.status, reply.headers['Idempotent-Replayed']]).toEqual([202, 'true']);
  });

  it('stores nothing when it is refused', async () => {
    await performFirst();
    await resultOf(perform('second'));
    await journal.onlyOperation(service.database, accountId);
    expect(await journal.expectedPaymentIds(service.database, accountId)).toHaveLength(1);
    await setState('rejected');
    expect((await resultOf(perform('second'))).status).toBe(200);
  });

  it('gets a warning or is refused by policy after one that has just succeeded', async () => {
    await perform('first');
    const { id } = await journal.onlyOperation(service.database, accountId);
    await setState('succeeded', '9 minutes');
    expect(await resultOf(perform('second', {}, 'warn'))).toEqual({
      status: 200,
      warning: `/v1/operations/${id}`,
    });
    expect(await resultOf(perform('third', {}, 'refuse'))).toMatchObject({
      code: 'possible_duplicate',
    });
    await setState('succeeded', '11 minutes');
    expect(await resultOf(perform('fourth', {}, 'refuse'))).toEqual({ status: 200, warning: null });
  });

  it('is refused or gets a warning by policy while the first is only just being sent', async () => {
    const keys = Array.from({ length: 6 }, (_, index) => `click-${index}`);
    const results = await Promise.all(keys.map((key) => resultOf(perform(key, {}, 'refuse'))));
    expect(results.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(bank.sent).toHaveLength(1);
    const warned = await resultOf(perform('another', {}, 'warn'));
    expect(warned).toMatchObject({
      status: 200,
      warning: expect.stringMatching(/^\/v1\/operations\//),
    });
  });

  describe('of the same payment with an externalId', () => {
    const same = { externalId: 'invoice 7', isDistinguishable: true };
    const isDuplicateOf = (id: string) => ({
      status: 409,
      code: 'possible_duplicate',
      location: `/v1/operations/${id}`,
    });
    const isSent = { status: 200, warning: null };

    it.each([
      ['received', '0 seconds', true],
      ['sending', '0 seconds', true],
      ['unknown', '3 days', true],
      ['needs_operator', '3 days', true],
      ['succeeded', '0 seconds', true],
      ['succeeded', '23 hours', true],
      ['succeeded', '25 hours', false],
      ['rejected', '0 seconds', false],
      ['not_executed', '0 seconds', false],
    ])('while the first has been %s for %s: refused %s', async (state, age, isRefused) => {
      await perform('first', same);
      const { id } = await journal.onlyOperation(service.database, accountId);
      await setState(state, age);
      const expected = isRefused ? isDuplicateOf(id) : isSent;
      expect(await resultOf(perform('second', same))).toEqual(expected);
      expect(bank.sent).toHaveLength(isRefused ? 1 : 2);
    });

    it('sends one of forty parallel requests and refuses thirty-nine', async () => {
      const keys = Array.from({ length: 40 }, (_, index) => `retry-${index}`);
      const results = await Promise.all(keys.map((key) => resultOf(perform(key, same))));
      const { id } = await journal.onlyOperation(service.database, accountId);
      expect(results.filter(({ status }) => status === 200)).toEqual([isSent]);
      const refused = results.filter(({ status }) => status !== 200);
      expect(refused).toEqual(Array.from({ length: 39 }, () => isDuplicateOf(id)));
      expect(bank.sent).toHaveLength(1);
    });

    it('is sent when the header allows it, and names the oldest afterwards', async () => {
      await perform('first', same);
      const { id } = await journal.onlyOperation(service.database, accountId);
      expect(await resultOf(perform('second', { ...same, allow: true }))).toEqual(isSent);
      expect(await resultOf(perform('third', same))).toEqual(isDuplicateOf(id));
    });

    it('is refused for its twin that the header allowed when the first was rejected', async () => {
      await perform('first', same);
      const first = await journal.onlyOperation(service.database, accountId);
      await setState('rejected');
      await perform('second', { ...same, allow: true });
      const operations = await journal.listStoredOperations(service.database, accountId);
      const { id } = operations.find((one) => one.id !== first.id)!;
      expect(await resultOf(perform('third', same))).toEqual(isDuplicateOf(id));
    });

    it('is refused whatever else the request says, such as a time that each call stamps', async () => {
      await perform('first', same);
      const { id } = await journal.onlyOperation(service.database, accountId);
      const stamped = perform('second', { ...same, correlationId: 'other body' });
      expect(await resultOf(stamped)).toEqual(isDuplicateOf(id));
    });

    it('is refused while the first takes effect later, and for a day after', async () => {
      await perform('first', same);
      const { id } = await journal.onlyOperation(service.database, accountId);
      await setState('succeeded', '3 days');
      const setEffect = (time: string) =>
        service.database.pool.query(
          'UPDATE operation SET effective_from = now() + $2::interval WHERE account_id = $1',
          [accountId, time],
        );
      for (const time of ['5 days', '-23 hours']) {
        await setEffect(time);
        expect(await resultOf(perform(time, same))).toEqual(isDuplicateOf(id));
      }
      await setEffect('-25 hours');
      expect(await resultOf(perform('later', same))).toEqual(isSent);
    });

    it.each([
      ['another amount', { ...same, amountCents: 1_001n }],
      ['another counterparty', { ...same, counterparty: '1/1/2' }],
      ['another externalId', { ...same, externalId: 'invoice 8' }],
      ['the same payment without an externalId', { ...same, externalId: undefined }],
    ])('does not hold for %s', async (_, over) => {
      await perform('first', same);
      expect(await resultOf(perform('second', over))).toEqual(isSent);
    });

    it('is refused by each policy', async () => {
      await perform('first', same);
      const { id } = await journal.onlyOperation(service.database, accountId);
      for (const policy of ['off', 'warn', 'refuse'] as const)
        expect(await resultOf(perform('second', same, policy))).toEqual(isDuplicateOf(id));
    });
  });

  it('is found without reading what was paid to the counterparty long ago', async () => {
    const id = await performFirst();
    await service.database.pool.query(
      `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params,
         counterparty, amount_cents, created_at, ended_at)
       SELECT $1, gen_random_uuid(), 'send_money', 'succeeded', 'h', '{}', '1/1/1', 1000,
              now() - interval '40 days', now() - interval '40 days'
       FROM generate_series(1, 20000)`,
      [accountId],
    );
    await service.database.pool.query('ANALYZE operation');
    const times = { sendingForMs: 2_000, sameRequestForMs: 86_400_000, similarForMs: 3_600_000 };
    const operation = {
      ...(await service.database.prisma.operation.findFirstOrThrow({ where: { id } })),
      externalIdHash: 'other',
    };
    const unstored = [{ operation, identities: [], kinds: [], isCompared: true }];
    const readRows = async (query: (tx: Tx) => Promise<unknown>) => {
      const { result, rowsRead } = await measureRowsRead(service.database, 'operation', query);
      return { found: result, isFew: rowsRead < 1_000 };
    };
    expect(await readRows((tx) => findPossibleDuplicate(tx, operation, times))).toEqual({
      found: { id, isRefused: true },
      isFew: true,
    });
    const limits = { ...times, withinDays: 28 };
    expect(await readRows((tx) => listStorable(tx, accountId, unstored, limits))).toEqual({
      found: [],
      isFew: true,
    });
  });

  it('waits for similar requests before it claims its key, as those stored together do', async () => {
    const holder = await service.database.pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT pg_advisory_xact_lock($1, $2)', [
        advisoryLocks.possibleDuplicates,
        accountId,
      ]);
      const { operations } = journal.createJournal(service.database, bank, [kind], {
        ...{ policy: 'refuse', windowMinutes: 10 },
      });
      // A request that nobody waits for is stored alone.
      const reply = operations.perform(kind, {
        ...journal.outgoingOperation({ accountId, key: 'alone' }),
        preferences: { ...noPreferences, respondAsync: true },
      });
      const written = await until('it waits for the lock', async () => {
        const { rows } = await service.database.pool.query<{ written: string[] }>(
          `SELECT ARRAY(SELECT held.relation::regclass::text FROM pg_locks held
                        WHERE held.pid = waiting.pid AND held.locktype = 'relation'
                          AND held.mode = 'RowExclusiveLock') AS written
           FROM pg_locks waiting
           WHERE waiting.locktype = 'advisory' AND NOT waiting.granted
             AND waiting.database = (SELECT oid FROM pg_database
                                     WHERE datname = current_database())`,
        );
        return rows[0]?.written ?? null;
      });
      expect(written).not.toContain('operation_identity');
      await holder.query('COMMIT');
      expect((await reply).status).toBe(202);
    } finally {
      holder.release();
    }
  });

  it('moves money once when twenty requests with one key come at once', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => perform('one')));
    expect(bank.sent).toHaveLength(1);
    expect(new Set(replies.map(({ body }) => String(body))).size).toBe(1);
  });
});
