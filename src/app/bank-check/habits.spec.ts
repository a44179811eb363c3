import { describe, expect, it } from '@jest/globals';
import * as habits from './habits.js';
import type { CheckAnswer, Effect, NewLine } from './observations.js';

const answer = (status: number | null, json: unknown = {}, startedAtMs = 0): CheckAnswer => ({
  ...{ status, json, startedAtMs },
});

/** The effect whose line has this amount. */
const effect = (cents: number, other: Partial<Effect> = {}): Effect => ({
  ...{ kind: 'payment', isCredit: true, amountCents: BigInt(cents), correlationId: null },
  ...{ externalId: null, answer: answer(200), ...other },
});

const line = (nsu: number, reading: number, other: Partial<NewLine> = {}): NewLine => ({
  ...{ nsu: BigInt(nsu), isCredit: true, amountCents: BigInt(nsu), correlationId: null },
  ...{ externalId: null, endToEndId: null, originalEndToEndId: null },
  ...{ reading, seenAtMs: reading * 1_000, ...other },
});

const five = [1, 2, 3, 4, 5];

describe('pageOrderHabit', () => {
  it.each<[string, bigint[][]]>([
    ['desc', [[9n, 7n, 3n], [2n]]],
    ['asc', [[], [1n, 2n], [3n, 9n]]],
    ['unknown', [[1n], [], [2n]]],
    ['unknown', [[1n, 3n, 2n]]],
    [
      'unknown',
      [
        [1n, 2n],
        [2n, 1n],
      ],
    ],
  ])('is %s of the pages %p', (order, pages) => expect(habits.pageOrderHabit(pages)).toBe(order));
});

describe('pageCapOf', () => {
  const seen = { requested: 2_000, lines: 37, linesAgain: 37, hasMore: true, largestTaken: null };
  it.each([
    ['a page with more after it', {}, 37],
    ['a page that is all there is', { hasMore: false }, 'unknown'],
    ['a page that was longer the second time', { linesAgain: 38 }, 'unknown'],
    ['a page as long as requested', { lines: 2_000, linesAgain: 2_000 }, 'unknown'],
    ['an empty statement', { lines: 0, linesAgain: 0 }, 'unknown'],
    ['a limit that the bank refuses', { largestTaken: 100, hasMore: false }, 100],
  ])('of %s', (_, other, cap) => expect(habits.pageCapOf({ ...seen, ...other })).toBe(cap));
});

it('has a rate only where requests were refused and others were taken', () => {
  const seen = { refused: 30, accepted: 21, refusedInWindow: 19, windowMs: 4_000 };
  expect(habits.ratePerSecondOf(seen)).toBe(5);
  expect(habits.ratePerSecondOf({ ...seen, refused: 0 })).toBe('unknown');
  expect(habits.ratePerSecondOf({ ...seen, accepted: 0 })).toBe('unknown');
  // The check was slower than the limit.
  expect(habits.ratePerSecondOf({ ...seen, refusedInWindow: 2 })).toBe('unknown');
  expect(habits.ratePerSecondOf(null)).toBe('unknown');
});

describe('nsuOrderOf', () => {
  const effects = five.map((cents) => effect(cents));
  const inOrder = five.map((nsu) => line(nsu, nsu > 3 ? 3 : 2));
  it('is in order where no line of five overtakes another', () => {
    expect(habits.nsuOrderOf(effects, inOrder)).toBe('in-order');
    expect(habits.nsuOrderOf(effects, inOrder.slice(1))).toBe('unknown');
  });

  it('is out of order where a line with a lower nsu came later', () => {
    const overtaken = [line(1, 3), line(2, 2)];
    expect(habits.nsuOrderOf(effects, overtaken)).toBe('out-of-order');
  });

  it('says nothing where the requests took long, or where the lines are of others', () => {
    const slow = [...effects.slice(1), effect(1, { answer: answer(200, {}, 4_000) })];
    expect(habits.nsuOrderOf(slow, inOrder)).toBe('unknown');
    const ofOthers = inOrder.map((one) => ({ ...one, isCredit: false }));
    expect(habits.nsuOrderOf(effects, ofOthers)).toBe('unknown');
  });
});

describe('lineDelayMsOf', () => {
  const effects = five.map((cents) => effect(cents, { answer: answer(200, {}, cents) }));
  const linesAt = (reading: number) => five.map((nsu) => line(nsu, reading));
  it('is that of the latest line that a reading lacked, in whole seconds', () => {
    const late = [...linesAt(2).slice(1), line(1, 4)];
    expect(habits.lineDelayMsOf(effects, late, 1)).toBe(4_000);
  });

  it('is the shortest time that can be distinguished where the first reading shows all', () => {
    expect(habits.lineDelayMsOf(effects, linesAt(2), 1)).toBe(2_000);
  });

  it('is unknown where a line never came, or too few did', () => {
    expect(habits.lineDelayMsOf([...effects, effect(6)], linesAt(2), 1)).toBe('unknown');
    expect(habits.lineDelayMsOf(effects.slice(1), linesAt(2), 1)).toBe('unknown');
  });

  it('ignores what the bank refused', () => {
    const refused = effect(6, { answer: answer(422) });
    expect(habits.lineDelayMsOf([...effects, refused], linesAt(2), 1)).toBe(2_000);
  });
});

it.each<[string, boolean[], boolean[]]>([
  ['present', [true, true], []],
  ['absent', [false], [true]],
  ['unknown', [true, false], []],
  ['present', [], [false, true]],
  ['unknown', [], [false]],
])('an id is %s by own lines %p and earlier lines %p', (presence, own, history) =>
  expect(habits.presenceOf(own, history)).toBe(presence),
);

it('compares the endToEndId of a refund with that of its original', () => {
  const [one, other] = [line(1, 1, { endToEndId: 'E1' }), line(2, 1, { endToEndId: 'D1' })];
  expect(habits.refundEndToEndIdOf(one, other)).toBe('own');
  expect(habits.refundEndToEndIdOf(one, one)).toBe('original');
  expect(habits.refundEndToEndIdOf(one, line(2, 1))).toBe('unknown');
  expect(habits.refundEndToEndIdOf(undefined, other)).toBe('unknown');
});

describe('repeatedTransferOf', () => {
  const ok = (id: string) => answer(200, { id });
  it.each<[string, CheckAnswer, CheckAnswer, number]>([
    ['replay', ok('a'), ok('a'), 1],
    ['refused', ok('a'), answer(409), 1],
    ['executed', ok('a'), ok('b'), 1],
    ['executed', ok('a'), ok('a'), 2],
    ['executed', ok('a'), answer(409), 2],
    ['executed', ok('a'), answer(500), 2],
    ['unknown', ok('a'), ok('a'), 0],
    ['unknown', ok('a'), answer(409), 0],
    ['unknown', ok('a'), answer(500), 1],
    ['unknown', ok('a'), answer(429), 1],
    ['unknown', ok('a'), answer(null), 1],
    ['unknown', answer(500), ok('a'), 1],
    ['unknown', answer(200, 'text'), ok('a'), 1],
  ])('is %s', (habit, first, repeat, lines) =>
    expect(habits.repeatedTransferOf({ first, repeat }, lines)).toBe(habit),
  );
  it('is unknown where none was made', () =>
    expect(habits.repeatedTransferOf(null, 0)).toBe('unknown'));
});

describe('repeatedChargeOf', () => {
  const charge = (qrCode: string, other = {}) => answer(200, { qrCode, ...other });
  it.each<[string, CheckAnswer, CheckAnswer]>([
    ['replay', charge('x', { ourNumber: '1' }), charge('x')],
    ['executed', charge('x'), charge('y')],
    ['refused', charge('x'), answer(409)],
    ['unknown', charge('x'), answer(500)],
    ['unknown', charge('x'), answer(200)],
    ['unknown', answer(403), answer(409)],
  ])('is %s', (habit, first, repeat) =>
    expect(habits.repeatedChargeOf({ first, repeat })).toBe(habit),
  );
});

it.each<[boolean | 'unknown', (number | null)[]]>([
  [true, [404, 200]],
  [false, [404, 405]],
  ['unknown', [404, 500]],
  ['unknown', [null]],
  ['unknown', [403]],
  ['unknown', []],
])('a route is served: %p by the answers %p', (isServed, statuses) =>
  expect(habits.isServed(statuses.map((status) => answer(status)))).toBe(isServed),
);

describe('webhookHabitsOf', () => {
  const expected = ['a', 'b', 'c'];
  const arrival = (correlationId: string, delayMs = 200) => ({ correlationId, delayMs });
  const none = { webhookDelivery: 'unknown', webhookDelayMs: 'unknown', webhookCopies: 'unknown' };
  it('knows nothing where nothing arrived: the bank may not reach the address', () => {
    expect(habits.webhookHabitsOf({ expected, arrivals: [] })).toEqual(none);
    expect(habits.webhookHabitsOf(null)).toEqual(none);
  });

  it('finds copies, losses and the longest delay of those that came first', () => {
    const arrivals = [arrival('a'), arrival('a', 9_000), arrival('b', 3_100)];
    expect(habits.webhookHabitsOf({ expected, arrivals })).toEqual({
      ...{ webhookDelivery: 'some', webhookDelayMs: 4_000, webhookCopies: 'repeated' },
    });
    expect(
      habits.webhookHabitsOf({ expected, arrivals: expected.map((id) => arrival(id)) }),
    ).toEqual({ webhookDelivery: 'all', webhookDelayMs: 1_000, webhookCopies: 'once' });
  });

  it('does not conclude from too few that all arrive once', () => {
    const seen = { expected: ['a'], arrivals: [arrival('a')] };
    expect(habits.webhookHabitsOf(seen)).toEqual({ ...none, webhookDelayMs: 1_000 });
  });
});
