import { describe, expect, it } from '@jest/globals';
import { version } from 'uuid';
import { followDatabaseTime, newId } from './ids.js';

const timeOf = (id: string) => parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('new ids', () => {
  it('ascend, also within a millisecond', () => {
    const ids = Array.from({ length: 5_000 }, newId);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    expect(version(ids[0] ?? '')).toBe(7);
  });

  it('follow PostgreSQL’s time, whatever this process’s clock shows', () => {
    const ahead = new Date(Date.now() + 86_400_000);
    followDatabaseTime(ahead);
    expect(Math.abs(timeOf(newId()) - ahead.getTime())).toBeLessThan(5_000);
  });

  it('ascend over readings of PostgreSQL’s time that differ a little', () => {
    const now = Date.now();
    followDatabaseTime(new Date(now));
    const before = newId();
    followDatabaseTime(new Date(now - 20));
    expect([newId(), before].sort()[0]).toBe(before);
  });
});
