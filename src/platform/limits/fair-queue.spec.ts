import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairQueue, type Ticket } from './fair-queue.js';

/** A queue, and the names of the requests in the order in which they began. */
function queueWith(total: number, account: number, key: number, waitingPerKey = 0) {
  const queue = new FairQueue({ concurrent: { total, account, key }, waitingPerKey });
  const begun: string[] = [];
  const tickets = new Map<string, Ticket>();
  const enter = (accountId: number, actor: string, name: string, weight = 1) => {
    const ticket = queue.enter({ accountId, actor, weight }, () => void begun.push(name));
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

/** One slot, and accounts with these weights: 1, 2, 3 … */
function accountsWith(weights: readonly number[]) {
  const { begun, enter, leave } = queueWith(1, 0, 0);
  const turns: number[] = [];
  let entered = 0;
  const request = (accountId: number, count: number, actor = `key of ${accountId}`) => {
    for (let index = 0; index < count; index += 1)
      enter(accountId, actor, `${accountId} ${(entered += 1)}`, weights[accountId - 1]);
  };
  /** Ends the request in work `count` times. The accounts of those that begin then. */
  const serve = (count: number): number[] => {
    const served = times(count).map(() => {
      leave(begun.at(-1) as string);
      return Number(begun.at(-1)?.split(' ')[0]);
    });
    turns.push(...served);
    return served;
  };
  return { turns, request, serve };
}

const countOf = (turns: readonly number[], accountId: number) =>
  turns.filter((one) => one === accountId).length;

describe('accounts with weights', () => {
  it('get turns in proportion to their weights while all of them have requests waiting', () => {
    const { request, serve } = accountsWith([3, 1]);
    request(1, 500);
    request(2, 500);
    const turns = serve(400);
    expect([countOf(turns, 1), countOf(turns, 2)]).toEqual([300, 100]);
    expect(turns.slice(-8).join('')).toMatch(/^(?=.*2.{3}2)[12]{8}$/);
  });

  it('are never further apart than one turn of each, whatever the weights', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(weights, (given) => {
        const { request, serve } = accountsWith(given);
        for (const index of given.keys()) request(index + 1, 300);
        const served = given.map(() => 0);
        const ahead = given.map(() => given.map(() => 0));
        for (const accountId of serve(299)) {
          served[accountId - 1] = (served[accountId - 1] ?? 0) + 1;
          const time = served.map((count, index) => count / (given[index] ?? 1));
          ahead.forEach((row, one) =>
            row.forEach((most, other) => {
              row[other] = Math.max(most, (time[one] ?? 0) - (time[other] ?? 0));
            }),
          );
        }
        ahead.forEach((row, one) =>
          row.forEach((most, other) => {
            const [turn, otherTurn] = [1 / (given[one] ?? 1), 1 / (given[other] ?? 1)];
            expect(most).toBeLessThanOrEqual(turn + otherTurn + 1e-9);
          }),
        );
      }),
    );
  });

  it('save no turns while they have no requests', () => {
    const { request, serve } = accountsWith([1, 3]);
    request(2, 1);
    request(1, 300);
    serve(200);
    request(2, 100);
    const turns = serve(40);
    expect([countOf(turns, 1), countOf(turns, 2)]).toEqual([10, 30]);
  });

  it('get the next turn after they had no requests, also beside a larger weight', () => {
    const { request, serve } = accountsWith([1, 100]);
    request(1, 1);
    request(2, 1_000);
    for (const _ of times(5)) {
      serve(101);
      request(1, 1);
      expect(serve(1)).toEqual([1]);
    }
  });

  it('get no more turns when their requests come one after the other', () => {
    const { turns, request, serve } = accountsWith([1, 1, 1]);
    request(1, 50);
    request(2, 50);
    for (const _ of times(60)) if (serve(1)[0] !== 3) request(3, 1);
    expect([1, 2, 3].map((accountId) => countOf(turns, accountId))).toEqual([20, 20, 20]);
  });

  it('take turns in the same order with any weight that is equal', () => {
    const turnsWith = (weight: number) => {
      const { turns, request, serve } = accountsWith([weight, weight, weight]);
      for (const accountId of [1, 2, 3, 2, 1]) {
        request(accountId, 20);
        serve(7);
      }
      return turns;
    };
    expect(turnsWith(7)).toEqual(turnsWith(1));
    expect(turnsWith(1).slice(14, 20).sort()).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it('share their turns equally among their keys', () => {
    const { begun, enter, leave } = queueWith(1, 0, 0);
    for (const index of times(30)) enter(1, 'a', `a${index}`, 3);
    for (const index of times(30)) enter(1, 'b', `b${index}`, 3);
    for (const index of times(30)) enter(2, 'c', `c${index}`);
    for (const index of times(39)) leave(begun[index] as string);
    const countOfKey = (key: string) => begun.filter((name) => name.startsWith(key)).length;
    expect(['a', 'b', 'c'].map(countOfKey)).toEqual([15, 15, 10]);
  });

  it('get their shares among a thousand accounts, and each of those its turn', () => {
    const { request, serve } = accountsWith([100, ...times(1_000).map(() => 1)]);
    request(1, 400);
    for (const index of times(1_000)) request(index + 2, 3);
    const turns = serve(2_200);
    const turnsOf = times(1_001).map((index) => countOf(turns, index + 1));
    expect(Math.abs((turnsOf.shift() ?? 0) - 200)).toBeLessThanOrEqual(1);
    expect(new Set(turnsOf.map((count) => Math.abs(count - 2) <= 1))).toEqual(new Set([true]));
  });

  it('have the new weight for the requests that enter after a change', () => {
    const { begun, enter, leave } = queueWith(1, 0, 0);
    const enterBoth = (weight: number, count: number) => {
      for (const index of times(count)) {
        enter(1, 'a', `a${weight} ${index}`, weight);
        enter(2, 'b', `b${weight} ${index}`);
      }
    };
    enterBoth(1, 10);
    enterBoth(4, 40);
    for (const index of times(70)) leave(begun[index] as string);
    const ofFirst = (names: string[]) => names.filter((name) => name.startsWith('a')).length;
    expect(ofFirst(begun.slice(0, 20))).toBe(10);
    expect(ofFirst(begun.slice(20, 70))).toBe(40);
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
    actor: fc.constantFrom('a', 'b'),
    weight: fc.integer({ min: 1, max: 100 }),
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
          expect(most((t) => `${t.accountId} ${t.actor}`)).toBeLessThanOrEqual(key || Infinity);
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
