import { describe, expect, it } from '@jest/globals';
import { ReadingLimits } from './reading-limits.service.js';

/** A read that runs until the test calls `end` or `fail`. */
function pendingRead() {
  let end = (): void => undefined;
  let fail = (): void => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = () => {
      reject(new Error('the database is unavailable'));
    };
  });
  return { ended, end, fail };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('reading limits', () => {
  it('run two reads at once, and the others in order of arrival', async () => {
    const limits = new ReadingLimits();
    const reads = [0, 1, 2, 3].map(pendingRead);
    const started: number[] = [];
    const all = reads.map(({ ended }, index) =>
      limits.withReadSlot(() => {
        started.push(index);
        return ended;
      }),
    );
    await settle();
    expect(started).toEqual([0, 1]);
    reads[1]?.fail();
    await expect(all[1]).rejects.toThrow('the database is unavailable');
    expect(started).toEqual([0, 1, 2]);
    for (const { end } of reads) end();
    await Promise.all([all[0], all[2], all[3]]);
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it('still allow two reads after many have ended', async () => {
    const limits = new ReadingLimits();
    await Promise.all(
      [1, 2, 3, 4, 5].map((number) => limits.withReadSlot(() => Promise.resolve(number))),
    );
    const [first, second, third] = [pendingRead(), pendingRead(), pendingRead()];
    let started = 0;
    const all = [first, second, third].map(({ ended }) =>
      limits.withReadSlot(() => {
        started += 1;
        return ended;
      }),
    );
    await settle();
    expect(started).toBe(2);
    for (const { end } of [first, second, third]) end();
    await Promise.all(all);
  });
});
