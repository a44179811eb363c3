import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { route } from '../../../src/bank-contract/route.js';
import {
  IdempotencyService,
  operatorAccountId,
} from '../../../src/access/idempotency/idempotency.service.js';
import type { RequestSteps } from '../../../src/access/idempotency/request-steps.service.js';
import { deleteOldResponses } from '../../../src/access/idempotency/idempotency.queries.js';
import { Reply } from '../../../src/platform/http/contract-route.js';
import { AppError } from '../../../src/platform/errors.js';
import { secretBoxOf } from '../../support/secret-box.js';
import { until } from '../../support/until.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const makeThing = route({
  name: 'makeThing',
  chapter: 'Operations',
  summary: 'Makes a thing.',
  authentication: 'api-key',
  method: 'POST',
  path: '/v1/things',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z.object({ size: z.bigint() }),
  response: z.object({ secret: z.string() }),
});

describe('a request with an idempotency key that no operation stores', () => {
  let service: ServiceDatabase;
  let idempotency: IdempotencyService;
  let runs: number;

  beforeAll(async () => {
    service = await serviceDatabase();
    idempotency = new IdempotencyService(service.database, secretBoxOf());
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    runs = 0;
    await query('DELETE FROM idempotency_record');
  });

  const work = async () => {
    runs += 1;
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { secret: `whsec_${runs}` };
  };
  const endLease = () =>
    query(`UPDATE idempotency_record SET leased_until = leased_until - interval '61 seconds'`);
  /** Moves the end of each request thirty days into the past. */
  const age = () =>
    query(`UPDATE idempotency_record SET leased_until = leased_until - interval '31 days'`);
  const deleteOld = () => deleteOldResponses(service.database.prisma, 30, 500);
  const submit = (
    overrides: {
      key?: string | null;
      size?: bigint;
      accountId?: number;
      route?: typeof makeThing;
    } = {},
    handler: (steps: RequestSteps) => Promise<{ secret: string } | Reply> = work,
  ) => {
    const {
      key = 'k1',
      size = 1n,
      accountId = operatorAccountId,
      route: called = makeThing,
    } = overrides;
    const request = { idempotencyKey: key, params: {}, query: {}, body: { size } };
    return idempotency.runOnce({ accountId, route: called, request }, handler) as Promise<Reply>;
  };
  const untilClaimed = () =>
    until(
      'the key is claimed',
      async () => (await query('SELECT 1 FROM idempotency_record')).rowCount === 1,
    );
  const query = (sql: string) => service.database.pool.query(sql);

  it('runs once and replays the same response, with its secret', async () => {
    const first = await submit();
    expect(first).toEqual(new Reply(201, '{"secret":"whsec_1"}'));
    expect(await submit()).toEqual(new Reply(201, first.body, { 'Idempotent-Replayed': 'true' }));
    expect(runs).toBe(1);
  });

  it('runs once when repeated concurrently', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => submit()));
    expect(runs).toBe(1);
    expect(new Set(replies.map(({ body }) => body))).toEqual(new Set(['{"secret":"whsec_1"}']));
    expect(replies.filter(({ headers }) => headers['Idempotent-Replayed'])).toHaveLength(19);
  });

  it('is rejected with another content, also while the first is in progress', async () => {
    const first = submit();
    await untilClaimed();
    await expect(submit({ size: 2n })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await first;
    await expect(submit({ size: 2n })).rejects.toMatchObject({ status: 422 });
    expect(runs).toBe(1);
  });

  it('is a different request under another key, for another account or on another route', async () => {
    await submit();
    await submit({ key: 'k2' });
    await submit({ accountId: service.accountId });
    await submit({ route: { ...makeThing, name: 'makeOther' } });
    expect(runs).toBe(4);
  });

  it('runs each time without a key, and nothing is stored', async () => {
    await submit({ key: null });
    expect(await submit({ key: null })).toEqual({ secret: 'whsec_2' });
    expect((await query('SELECT 1 FROM idempotency_record')).rowCount).toBe(0);
  });

  it('can be tried again under its key after a failure', async () => {
    const fails = () => Promise.reject(new AppError('rule_broken'));
    await expect(submit({}, fails)).rejects.toMatchObject({ code: 'rule_broken' });
    expect(await submit()).toMatchObject({ status: 201 });
  });

  it('is taken over by a repeat once the first process has ended, and not before', async () => {
    const never = new Promise<never>(() => undefined);
    void submit({}, () => never);
    await untilClaimed();
    await expect(submit({}, work)).rejects.toMatchObject({ code: 'conflict' });
    expect(runs).toBe(0);
    await query(
      `UPDATE idempotency_record SET leased_until = leased_until - interval '61 seconds'`,
    );
    const replies = await Promise.all([submit(), submit(), submit()]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(runs).toBe(1);
  }, 20_000);

  it('does not overwrite the response of the repeat that took it over', async () => {
    let finish: (result: { secret: string }) => void = () => undefined;
    const slow = submit({}, () => new Promise((resolve) => (finish = resolve)));
    await untilClaimed();
    await query(
      `UPDATE idempotency_record SET leased_until = leased_until - interval '61 seconds'`,
    );
    await submit({}, () => Promise.resolve({ secret: 'the second' }));
    finish({ secret: 'the first' });
    await slow;
    expect((await submit()).body).toBe('{"secret":"the second"}');
  });

  describe('in steps', () => {
    const stepNames = ['a', 'b', 'c'];
    let done: string[];
    beforeEach(() => {
      done = [];
    });
    /** Does the steps one after the other; `before` runs before each of them begins. */
    const inSteps =
      (before: (step: string) => Promise<unknown> = async () => undefined) =>
      async (steps: RequestSteps) => {
        const results = [];
        for (const step of stepNames)
          results.push(
            await steps.once(step, async () => {
              await before(step);
              await service.database.transaction(async (tx) => {
                if (await steps.record(tx, step, `${step}${done.length}`)) done.push(step);
              });
              return 'not the result';
            }),
          );
        return { secret: results.join() };
      };

    it('does each step once when its process is suspended for longer than its lease', async () => {
      let resume: () => void = () => undefined;
      const suspended = new Promise<void>((resolve) => (resume = resolve));
      let isSuspended = false;
      const first = submit(
        {},
        inSteps((step) => {
          isSuspended ||= step === 'b';
          return step === 'b' ? suspended : Promise.resolve();
        }),
      );
      // The end of the first step extends the lease.
      await until('the second step has begun', () => isSuspended);
      await endLease();
      const second = await submit({}, inSteps());
      resume();
      expect((await first).body).toBe('{"secret":"a0,b1,c2"}');
      expect(second.body).toBe('{"secret":"a0,b1,c2"}');
      expect(done).toEqual(stepNames);
      expect((await submit({}, inSteps())).headers).toEqual({ 'Idempotent-Replayed': 'true' });
    });

    it('is not taken over while its steps go on', async () => {
      const first = submit({}, inSteps(endLease));
      const leasedUntil = async () =>
        (await query('SELECT leased_until > clock_timestamp() AS held FROM idempotency_record'))
          .rows[0].held;
      await first;
      expect(await leasedUntil()).toBe(true);
      expect(done).toEqual(stepNames);
    });

    it('continues after a failure, and is another request only before its first step', async () => {
      const failsAt = (failing: string) =>
        inSteps((step) => (step === failing ? Promise.reject(new Error('lost')) : endLease()));
      await expect(submit({}, failsAt('a'))).rejects.toThrow('lost');
      await expect(submit({ size: 2n }, failsAt('c'))).rejects.toThrow('lost');
      await expect(submit({}, inSteps())).rejects.toMatchObject({ code: 'idempotency_key_reused' });
      expect((await submit({ size: 2n }, inSteps())).body).toBe('{"secret":"a0,b1,c2"}');
      expect(done).toEqual(stepNames);
    });

    it('loses the results of its steps with its response, and not before its end', async () => {
      const stopped = inSteps((step) => (step === 'c' ? Promise.reject(new Error('lost')) : age()));
      await expect(submit({}, stopped)).rejects.toThrow('lost');
      await age();
      expect(await deleteOld()).toBe(0);
      expect((await query('SELECT FROM idempotent_step')).rowCount).toBe(2);
      expect((await submit({}, inSteps())).body).toBe('{"secret":"a0,b1,c2"}');
      expect(await deleteOld()).toBe(0);
      await age();
      expect(await deleteOld()).toBe(1);
      expect((await query('SELECT FROM idempotent_step')).rowCount).toBe(0);
      await expect(submit({}, inSteps())).rejects.toMatchObject({ code: 'conflict' });
      expect(done).toEqual(stepNames);
    });
  });

  it('leaves neither response nor request readable in the database', async () => {
    await submit({ size: 123456789n });
    const { rows } = await query('SELECT * FROM idempotency_record');
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/whsec_|123456789/);
  });

  it('is refused, and never done again, once its response was deleted', async () => {
    await submit();
    expect(await deleteOld()).toBe(0);
    expect((await submit()).headers).toEqual({ 'Idempotent-Replayed': 'true' });
    await age();
    expect(await deleteOld()).toBe(1);
    const { rows } = await query('SELECT status, body FROM idempotency_record');
    expect(rows).toEqual([{ status: 201, body: null }]);
    await expect(submit()).rejects.toMatchObject({
      ...{ status: 409, details: { reason: 'response_deleted' } },
    });
    await expect(submit({ size: 2n })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(runs).toBe(1);
    expect(await deleteOld()).toBe(0);
  });
});
