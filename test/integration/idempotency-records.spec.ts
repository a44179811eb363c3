import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { route } from '../../src/contract/route.js';
import { IdempotencyRecords, operatorId } from '../../src/idempotency/idempotency-records.service.js';
import { forget } from '../../src/idempotency/idempotency-records.queries.js';
import { Reply } from '../../src/platform/contract-route.js';
import { AppError } from '../../src/platform/errors.js';
import { SecretBox } from '../../src/platform/secret-box.js';
import { until } from '../support/until.js';
import { serviceDatabase, type ServiceDatabase } from '../support/service-database.js';

const makeThing = route({
  name: 'makeThing',
  chapter: 'Things',
  summary: 'Makes a thing.',
  authentication: 'api-key',
  method: 'POST',
  path: '/v1/things',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z.object({ size: z.bigint() }),
  response: z.object({ secret: z.string() }),
});

describe('a request under a key that asks nothing of the bank', () => {
  let service: ServiceDatabase;
  let kept: IdempotencyRecords;
  let done: number;

  beforeAll(async () => {
    service = await serviceDatabase();
    kept = new IdempotencyRecords(
      service.database,
      new SecretBox({ credentialsKey: 'k'.repeat(32) } as never),
    );
  });
  afterAll(() => service.drop());
  beforeEach(async () => {
    done = 0;
    await run('DELETE FROM idempotency_record');
  });

  const work = async () => {
    done += 1;
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { secret: `whsec_${done}` };
  };
  const ask = (
    over: { key?: string | null; size?: bigint; accountId?: number; route?: typeof makeThing } = {},
    how: () => Promise<{ secret: string } | Reply> = work,
  ) => {
    const { key = 'k1', size = 1n, accountId = operatorId, route: asked = makeThing } = over;
    const request = { idempotencyKey: key, params: {}, query: {}, body: { size } };
    return kept.once({ accountId, route: asked, request }, how) as Promise<Reply>;
  };
  const claimed = () =>
    until('it is claimed', async () => (await run('SELECT 1 FROM idempotency_record')).rowCount === 1);
  const run = (sql: string) => service.database.pool.query(sql);

  it('is done once and answered again as it was, secret and all', async () => {
    const first = await ask();
    expect(first).toEqual(new Reply(201, '{"secret":"whsec_1"}'));
    expect(await ask()).toEqual(new Reply(201, first.body, { 'Idempotent-Replayed': 'true' }));
    expect(done).toBe(1);
  });

  it('is done once however many ask at once', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(done).toBe(1);
    expect(new Set(replies.map(({ body }) => body))).toEqual(new Set(['{"secret":"whsec_1"}']));
    expect(replies.filter(({ headers }) => headers['Idempotent-Replayed'])).toHaveLength(19);
  });

  it('is refused with another content, also while the first is being answered', async () => {
    const first = ask();
    await claimed();
    await expect(ask({ size: 2n })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await first;
    await expect(ask({ size: 2n })).rejects.toMatchObject({ status: 422 });
    expect(done).toBe(1);
  });

  it('is another one under another key, for another account or on another route', async () => {
    await ask();
    await ask({ key: 'k2' });
    await ask({ accountId: service.accountId });
    await ask({ route: { ...makeThing, name: 'makeOther' } });
    expect(done).toBe(4);
  });

  it('is done each time without a key, and nothing is kept', async () => {
    await ask({ key: null });
    expect(await ask({ key: null })).toEqual({ secret: 'whsec_2' });
    expect((await run('SELECT 1 FROM idempotency_record')).rowCount).toBe(0);
  });

  it('may be tried again under its key when it failed', async () => {
    const fails = () => Promise.reject(new AppError('rule_broken'));
    await expect(ask({}, fails)).rejects.toMatchObject({ code: 'rule_broken' });
    expect(await ask()).toMatchObject({ status: 201 });
  });

  it('is taken up by another when who began it is gone, and only then', async () => {
    const never = new Promise<never>(() => undefined);
    void ask({}, () => never);
    await claimed();
    await expect(ask({}, work)).rejects.toMatchObject({ code: 'conflict' });
    expect(done).toBe(0);
    await run(`UPDATE idempotency_record SET created_at = created_at - interval '61 seconds'`);
    const replies = await Promise.all([ask(), ask(), ask()]);
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(done).toBe(1);
  }, 20_000);

  it('does not overwrite what was answered by who took it up', async () => {
    let finish: (answer: { secret: string }) => void = () => undefined;
    const slow = ask({}, () => new Promise((resolve) => (finish = resolve)));
    await claimed();
    await run(`UPDATE idempotency_record SET created_at = created_at - interval '61 seconds'`);
    await ask({}, () => Promise.resolve({ secret: 'the second' }));
    finish({ secret: 'the first' });
    await slow;
    expect((await ask()).body).toBe('{"secret":"the second"}');
  });

  it('leaves neither answer nor request readable in the database', async () => {
    await ask({ size: 123456789n });
    const { rows } = await run('SELECT * FROM idempotency_record');
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/whsec_|123456789/);
  });

  it('is forgotten after a week', async () => {
    await ask();
    await forget(service.database.prisma, 7);
    await ask();
    expect(done).toBe(1);
    await run(`UPDATE idempotency_record SET created_at = created_at - interval '8 days'`);
    await forget(service.database.prisma, 7);
    await ask();
    expect(done).toBe(2);
  });
});
