import { describe, expect, it } from '@jest/globals';
import { BatchedLookUps } from './batched-look-ups.js';

/** Look-ups of lengths. Each call ends when the test says so. */
function lengthsOf() {
  const calls: (readonly string[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const lookUps = new BatchedLookUps<string, number>(async (keys) => {
    calls.push(keys);
    await new Promise<void>((resolve, reject) => {
      ends.push((error) => (error ? reject(error) : resolve()));
    });
    return new Map(keys.filter(Boolean).map((key) => [key, key.length]));
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const endNext = async (error?: Error) => {
    ends.shift()?.(error);
    await settle();
  };
  return { calls, endNext, find: (key: string) => lookUps.find(key) };
}

describe('look-ups', () => {
  it('during another one share the next one, each key one time', async () => {
    const { calls, endNext, find } = lengthsOf();
    const found = Promise.all(['a', 'bb', 'a', '', 'bb'].map(find));
    expect(calls).toEqual([['a']]);
    await endNext();
    expect(calls).toEqual([['a'], ['bb', 'a', '']]);
    await endNext();
    expect(await found).toEqual([1, 2, 1, null, 2]);
  });

  it('are at most 500 in one', async () => {
    const { calls, endNext, find } = lengthsOf();
    const found = Promise.all(Array.from({ length: 1_002 }, (_, index) => find(`key ${index}`)));
    for (let call = 0; call < 4; call += 1) await endNext();
    expect(await found).toHaveLength(1_002);
    expect(calls.map(({ length }) => length)).toEqual([1, 500, 500, 1]);
  });

  it('fail with the one that they share, and with no other one', async () => {
    const { endNext, find } = lengthsOf();
    const results = Promise.allSettled(['a', 'bb', 'ccc'].map(find));
    await endNext();
    await endNext(new Error('away'));
    expect((await results).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    const next = find('dddd');
    await endNext();
    expect(await next).toBe(4);
  });
});
