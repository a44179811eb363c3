import { describe, expect, it } from '@jest/globals';
import { ReadingLimits } from './reading-limits.service.js';

/** A reading that goes on until it is told how it ends. */
function reading() {
  let end = (): void => undefined;
  let fail = (): void => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = () => {
      reject(new Error('the database is away'));
    };
  });
  return { ended, end, fail };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the limits of what files read', () => {
  it('let two read at once, and the others in the order in which they came', async () => {
    const limits = new ReadingLimits();
    const readings = [0, 1, 2, 3].map(reading);
    const begun: number[] = [];
    const all = readings.map(({ ended }, index) =>
      limits.inTurn(() => {
        begun.push(index);
        return ended;
      }),
    );
    await settle();
    expect(begun).toEqual([0, 1]);
    readings[1]?.fail();
    await expect(all[1]).rejects.toThrow('the database is away');
    expect(begun).toEqual([0, 1, 2]);
    for (const { end } of readings) end();
    await Promise.all([all[0], all[2], all[3]]);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('keep two places, however often they were taken', async () => {
    const limits = new ReadingLimits();
    await Promise.all(
      [1, 2, 3, 4, 5].map((number) => limits.inTurn(() => Promise.resolve(number))),
    );
    const [first, second, third] = [reading(), reading(), reading()];
    let begun = 0;
    const all = [first, second, third].map(({ ended }) =>
      limits.inTurn(() => {
        begun += 1;
        return ended;
      }),
    );
    await settle();
    expect(begun).toBe(2);
    for (const { end } of [first, second, third]) end();
    await Promise.all(all);
  });

  it('count the files of an account, each once', () => {
    const limits = new ReadingLimits();
    const [end] = [1, 2, 3, 4].map(() => limits.beginFile(1));
    const refused = expect.objectContaining({
      status: 429,
      details: expect.objectContaining({ headers: { 'Retry-After': '10' } }),
    });
    const asked = () => {
      try {
        return limits.beginFile(1);
      } catch (error) {
        return error;
      }
    };
    expect(asked()).toEqual(refused);
    limits.beginFile(2);
    end?.();
    end?.();
    expect(asked()).toBeInstanceOf(Function);
    expect(asked()).toEqual(refused);
  });
});
