import { describe, expect, it } from '@jest/globals';
import { SharedBatches } from './shared-batches.js';

interface Batch {
  accountId: number;
  items: string[];
  end: (results?: string[]) => void;
  fail: (error: Error) => void;
}

/** Batches that a test ends. */
function heldBatches(conflictsOf?: (item: string) => string[]) {
  const begun: Batch[] = [];
  const batches = new SharedBatches<string, string>(
    (accountId, items) =>
      new Promise((resolve, reject) => {
        const end = (results = items.map((item) => `${item} done`)) => resolve(results);
        begun.push({ accountId, items, end, fail: reject });
      }),
    conflictsOf,
  );
  const next = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const batch = begun.shift();
    if (!batch) throw new Error('no batch has begun');
    return batch;
  };
  return { batches, begun, next };
}

describe('batches that callers share', () => {
  it('begin at once, and take what has arrived while the one before was worked on', async () => {
    const { batches, next } = heldBatches();
    const results = ['a', 'b', 'c'].map((item) => batches.submit(1, item));
    const first = await next();
    expect(first.items).toEqual(['a']);
    expect([batches.waitingOf(1), batches.waitingOf(2)]).toEqual([2, 0]);
    first.end();
    const second = await next();
    expect(second.items).toEqual(['b', 'c']);
    second.end();
    expect(await Promise.all(results)).toEqual(['a done', 'b done', 'c done']);
  });

  it('of one account do not overlap, and do not wait for those of another account', async () => {
    const { batches, begun, next } = heldBatches();
    void batches.submit(1, 'a');
    void batches.submit(1, 'b');
    void batches.submit(2, 'c');
    const first = await next();
    expect((await next()).accountId).toBe(2);
    expect(begun).toEqual([]);
    first.end();
    expect(await next()).toMatchObject({ accountId: 1, items: ['b'] });
  });

  it('give each account its turn, however much another one has waiting', async () => {
    const { batches, next } = heldBatches();
    for (const accountId of [1, 2, 3, 4]) void batches.submit(accountId, 'first');
    void batches.submit(1, 'second');
    void batches.submit(5, 'late');
    (await next()).end();
    const [, , , turn] = [await next(), await next(), await next(), await next()];
    expect(turn).toMatchObject({ accountId: 5, items: ['late'] });
  });

  it('hold no two items that conflict, and keep their order', async () => {
    const { batches, next } = heldBatches((item) => [item.slice(0, 1)]);
    void batches.submit(1, 'x');
    for (const item of ['a1', 'b1', 'a2', 'a3']) void batches.submit(1, item);
    const taken: string[][] = [];
    for (let count = 0; count < 4; count += 1) {
      const batch = await next();
      taken.push(batch.items);
      batch.end();
    }
    expect(taken).toEqual([['x'], ['a1', 'b1'], ['a2'], ['a3']]);
  });

  it('that fail reject their items, and the next one begins', async () => {
    const { batches, next } = heldBatches();
    const failing = batches.submit(1, 'a');
    const following = batches.submit(1, 'b');
    (await next()).fail(new Error('no connection'));
    await expect(failing).rejects.toThrow('no connection');
    (await next()).end();
    expect(await following).toBe('b done');
  });
});
