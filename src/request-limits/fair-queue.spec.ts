import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairQueue, type Ticket } from './fair-queue.js';

/** A queue, and the names of the requests in the order in which they began. */
function queueWith(total: number, account: number, key: number, waitingPerKey = 0) {
  const queue = new FairQueue({ concurrent: { total, account, key }, waitingPerKey });
  const begun: string[] = [];
  const tickets = new Map<string, Ticket>();
  const enter = (accountId: number, keyId: string, name: string) => {
    const ticket = queue.enter({ accountId, keyId }, () => void begun.push(name));
    if (ticket) tickets.set(name, ticket);
    return ticket !== null;
  };
  const leave = (name: string) => queue.leave(tickets.get(name) as Ticket);
  return { queue, begun, tickets, enter, leave };
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('free slots', () => {
  it('go to an account with one request before the many of another one', () => {
    const { begun, enter, leave } = queueWith(2, 0, 0);
    for (const index of times(100)) enter(1, 'flood', `flood-${index}`);
    enter(2, 'quiet', 'quiet');
    expect(begun).toEqual(['flood-0', 'flood-1']);
    leave('flood-0');
    expect(begun.at(-1)).toBe('quiet');
  });

  it('go to the accounts in turn, and within an account to its keys in turn', () => {
    const { begun, enter, leave } = queueWith(1, 0, 0);
    for (const index of times(4)) enter(1, 'a', `1a${index}`);
    for (const index of times(2)) enter(1, 'b', `1b${index}`);
    for (const index of times(3)) enter(2, 'c', `2c${index}`);
    for (let served = 0; served < 9; served += 1) leave(begun[served] as string);
    expect(begun).toEqual(['1a0', '2c0', '1b0', '2c1', '1a1', '2c2', '1b1', '1a2', '1a3']);
  });

  it('are left free by a key and by an account that have as many as they may', () => {
    const { begun, enter } = queueWith(10, 3, 2);
    for (const index of times(5)) enter(1, 'a', `a${index}`);
    for (const index of times(5)) enter(1, 'b', `b${index}`);
    enter(2, 'c', 'c0');
    expect(begun).toEqual(['a0', 'a1', 'b0', 'c0']);
  });

  it('are given in the order of arrival to the requests of one key', () => {
    const { begun, enter, leave } = queueWith(0, 0, 1);
    for (const index of times(5)) enter(1, 'a', `a${index}`);
    for (const index of times(4)) leave(`a${index}`);
    expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
  });
});

describe('a request', () => {
  it('is refused when too many of its key wait, and others are not', () => {
    const { begun, enter, leave } = queueWith(0, 0, 1, 2);
    expect(times(4).map((index) => enter(1, 'a', `a${index}`))).toEqual([true, true, true, false]);
    expect([enter(1, 'b', 'b0'), enter(2, 'a', 'c0')]).toEqual([true, true]);
    leave('a0');
    expect(enter(1, 'a', 'a4')).toBe(true);
    expect(begun).toEqual(['a0', 'b0', 'c0', 'a1']);
  });

  it('that gives up waiting is not begun', () => {
    const { begun, enter, leave } = queueWith(0, 0, 1);
    for (const index of times(3)) enter(1, 'a', `a${index}`);
    leave('a1');
    leave('a0');
    expect(begun).toEqual(['a0', 'a2']);
  });

  it('that comes back goes before those that have not begun, also when the queue is full', () => {
    const { queue, begun, tickets, enter, leave } = queueWith(0, 0, 1, 1);
    enter(1, 'a', 'a0');
    leave('a0');
    enter(1, 'a', 'a1');
    enter(1, 'a', 'a2');
    queue.comeBack(tickets.get('a0') as Ticket, () => void begun.push('a0 again'));
    expect(begun).toEqual(['a0', 'a1']);
    leave('a1');
    expect(begun).toEqual(['a0', 'a1', 'a0 again']);
  });
});

it('never works on more than it may, and begins every request, whatever the order of events', () => {
  const limit = fc.integer({ min: 0, max: 4 });
  const caller = fc.record({
    accountId: fc.integer({ min: 1, max: 3 }),
    keyId: fc.constantFrom('a', 'b'),
  });
  fc.assert(
    fc.property(
      fc.tuple(limit, limit, limit),
      fc.array(caller, { maxLength: 40 }),
      fc.infiniteStream(fc.nat()),
      ([total, account, key], callers, choices) => {
        const queue = new FairQueue({ concurrent: { total, account, key }, waitingPerKey: 0 });
        const working: Ticket[] = [];
        const entered: Ticket[] = [];
        let begun = 0;
        const assertLimits = () => {
          const inWork = entered.filter(({ isWorking }) => isWorking);
          const most = (nameOf: (ticket: Ticket) => string) =>
            Math.max(
              0,
              ...inWork.map((one) => inWork.filter((t) => nameOf(t) === nameOf(one)).length),
            );
          expect(inWork.length).toBeLessThanOrEqual(total || Infinity);
          expect(most((t) => `${t.accountId}`)).toBeLessThanOrEqual(account || Infinity);
          expect(most((t) => `${t.accountId} ${t.keyId}`)).toBeLessThanOrEqual(key || Infinity);
        };
        for (const one of callers) {
          entered.push(queue.enter(one, () => (begun += 1)) as Ticket);
          assertLimits();
        }
        for (;;) {
          working.splice(0, Infinity, ...entered.filter(({ isWorking }) => isWorking));
          if (working.length === 0) break;
          const [choice = 0] = choices.take(1);
          queue.leave(working[choice % working.length] as Ticket);
          assertLimits();
        }
        expect(begun).toBe(callers.length);
      },
    ),
  );
});
