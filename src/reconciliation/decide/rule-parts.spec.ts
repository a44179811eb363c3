import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDays, addMonths } from '../../brazil/calendar.js';
import { decideByRules, type RuleDecision } from './by-rule.js';
import { instalmentsOf } from './instalments.js';
import { settledSales } from './net-settlement.js';
import type {
  AppliedRule,
  InstalmentPlan,
  MatchAction,
  NetSettlement,
  RuleExpectedPayment,
  RuleLine,
} from './rule.js';

const line = (
  nsu: number,
  day: string,
  cents: number,
  changes: Partial<RuleLine> = {},
): RuleLine => ({
  nsu: BigInt(nsu),
  isCredit: true,
  amountCents: BigInt(cents),
  typeName: 'CREDIT_PIX',
  counterparty: null,
  counterpartyDocument: 'anna',
  notes: null,
  originalEndToEndId: null,
  firstRefundedAt: null,
  ...{ endToEndId: null, paidOn: null, creditDays: { slip: 1, pix: 0, other: 1 } },
  unlinkedFrom: [],
  occurredAt: new Date(`${day}T15:00:00Z`),
  ...changes,
});

const expectedPayment = (
  id: string,
  cents: number,
  changes: Partial<RuleExpectedPayment> = {},
): RuleExpectedPayment => ({
  expectedPaymentId: id,
  isCredit: true,
  amountCents: BigInt(cents),
  dueDate: '2026-01-31',
  dueDates: [],
  terms: null,
  isMultiUse: false,
  counterpartyDocument: 'anna',
  createdAt: new Date('2026-01-01T12:00:00Z'),
  cancelledAt: null,
  paidCents: 0n,
  payments: [],
  owedCents: null,
  referenceValues: [],
  accepted: null,
  declared: null,
  ...changes,
});

const rule = (changes: Partial<MatchAction>): AppliedRule => ({
  ruleId: 'r',
  version: 1,
  priority: 10,
  when: {},
  then: {
    do: 'match',
    by: ['document', 'amount'],
    toleranceCents: 0n,
    toleranceBasisPoints: 0n,
    window: null,
    combines: false,
    instalments: false,
    ...changes,
  },
});

const summaryOf = (decision: RuleDecision | undefined) =>
  decision?.outcome === 'matched'
    ? decision.payments.map((one) => `${one.expected.expectedPaymentId} ${one.amountCents}`)
    : decision?.outcome;
const outcomes = (
  changes: Partial<MatchAction>,
  lines: RuleLine[],
  expected: RuleExpectedPayment[],
) => {
  const decisions = decideByRules([rule(changes)], lines, expected);
  return Object.fromEntries(
    lines.map(({ nsu }) => [nsu.toString(), summaryOf(decisions.get(nsu))]),
  );
};
const shuffle = <Value>(values: readonly Value[], seed: number): Value[] =>
  values
    .map((value, index) => ({ value, at: Math.sin(seed + index * 7.3) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);

describe('instalments by a plan', () => {
  const monthly: InstalmentPlan = { count: 3, intervalDays: null, toleranceDays: 3 };

  it('are equal parts on days a month apart, and the last takes the rest', () => {
    expect(instalmentsOf(monthly, expectedPayment('a', 100_00))).toEqual([
      { number: 1, day: '2026-01-31', cents: 33_33n },
      { number: 2, day: '2026-02-28', cents: 33_33n },
      { number: 3, day: '2026-03-31', cents: 33_34n },
    ]);
    expect(instalmentsOf({ ...monthly, intervalDays: 10 }, expectedPayment('a', 3)).at(-1)).toEqual(
      { number: 3, day: '2026-02-20', cents: 1n },
    );
    expect(addMonths('2027-12-31', 2)).toBe('2028-02-29');
  });

  it('are paid by one line each on their days, in any order of arrival', () => {
    const lines = [
      line(1, '2026-01-31', 33_33),
      line(2, '2026-03-02', 33_33),
      line(3, '2026-04-01', 33_34),
    ];
    for (const seed of [1, 2, 3])
      expect(
        outcomes({ plan: monthly }, shuffle(lines, seed), [expectedPayment('a', 100_00)]),
      ).toEqual({ 1: ['a 3333'], 2: ['a 3333'], 3: ['a 3334'] });
  });

  it('are not paid on other days or by other amounts', () => {
    const lines = [line(1, '2026-02-04', 33_33), line(2, '2026-02-28', 33_35)];
    expect(outcomes({ plan: monthly }, lines, [expectedPayment('a', 100_00)])).toEqual({
      1: 'nothing',
      2: 'nothing',
    });
  });

  it('compete line by line, and leave the other instalments as they are', () => {
    const lines = [
      line(1, '2026-01-31', 33_33),
      line(2, '2026-02-27', 33_33),
      line(3, '2026-02-28', 33_33),
    ];
    expect(outcomes({ plan: monthly }, lines, [expectedPayment('a', 100_00)])).toEqual({
      1: ['a 3333'],
      2: 'ambiguous',
      3: 'ambiguous',
    });
  });

  it('take no line that may pay another expected payment, in part or whole', () => {
    const expected = [expectedPayment('a', 300_00), expectedPayment('b', 100_00)];
    expect(outcomes({ plan: monthly }, [line(1, '2026-01-31', 100_00)], expected)).toEqual({
      1: 'ambiguous',
    });
  });

  it('give way to the whole amount at once, and compete with it', () => {
    const whole = line(1, '2026-01-20', 300_00);
    const expected = [expectedPayment('a', 300_00)];
    expect(outcomes({ plan: monthly }, [whole], expected)).toEqual({ 1: ['a 30000'] });
    expect(outcomes({ plan: monthly }, [whole, line(2, '2026-02-28', 100_00)], expected)).toEqual({
      1: 'ambiguous',
      2: 'ambiguous',
    });
  });

  it('count those that are paid already, and none where these do not follow the plan', () => {
    const paidOn = (day: string) =>
      expectedPayment('a', 300_00, {
        paidCents: 100_00n,
        payments: [{ nsu: 9n, occurredAt: new Date(`${day}T15:00:00Z`), amountCents: 100_00n }],
      });
    const second = line(1, '2026-02-28', 100_00);
    expect(outcomes({ plan: monthly }, [second], [paidOn('2026-01-31')])).toEqual({
      1: ['a 10000'],
    });
    expect(outcomes({ plan: monthly }, [second], [paidOn('2026-02-28')])).toEqual({ 1: 'nothing' });
    expect(outcomes({ plan: monthly }, [second], [paidOn('2026-02-10')])).toEqual({ 1: 'nothing' });
  });

  it('of a declared payment come after its window, and the whole amount only as it accepts', () => {
    const exact = { fromCents: 300_00n, toCents: 300_00n };
    const terms = { externalId: 'x', matching: exact, dateFrom: '2026-01-31', text: null };
    const payment = expectedPayment('p', 300_00, {
      accepted: exact,
      declared: {
        ...{ ...terms, dateTo: '2026-01-31', category: null, costCentre: null },
        ...{ project: null, parts: [], cancelledAt: null },
      },
    });
    const plan = { plan: monthly, toleranceCents: 100n, by: ['document', 'amount'] as const };
    const of = (...lines: RuleLine[]) => outcomes({ ...plan, by: [...plan.by] }, lines, [payment]);
    expect(of(line(1, '2026-01-31', 100_00), line(2, '2026-03-31', 100_00))).toEqual({
      ...{ 1: ['p 10000'], 2: ['p 10000'] },
    });
    expect(of(line(1, '2026-01-31', 300_00))).toEqual({ 1: ['p 30000'] });
    expect(of(line(1, '2026-01-31', 300_50))).toEqual({ 1: 'nothing' });
    expect(of(line(1, '2026-02-10', 300_00))).toEqual({ 1: 'nothing' });
    const parts = { instalments: true, toleranceCents: 100n };
    expect(outcomes(parts, [line(1, '2026-01-31', 300_50)], [payment])).toEqual({ 1: 'nothing' });
  });

  it('within the tolerance count as paid in full', () => {
    const lines = [line(1, '2026-01-31', 33_30), line(2, '2026-02-28', 33_33)];
    const decisions = decideByRules([rule({ plan: monthly, toleranceCents: 5n })], lines, [
      expectedPayment('a', 100_00),
    ]);
    const owedOf = (nsu: bigint) => {
      const decision = decisions.get(nsu);
      return decision?.outcome === 'matched' ? decision.payments[0]?.owedCents : null;
    };
    expect([owedOf(1n), owedOf(2n)]).toEqual([99_97n, 99_97n]);
  });

  it('are decided the same in any order, each at most once', () => {
    const days = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-30', '2026-04-20'];
    const paying = fc.array(
      fc.record({
        day: fc.constantFrom(...days),
        cents: fc.constantFrom(100_00, 100_01, 200_00, 300_00),
      }),
      { maxLength: 7 },
    );
    const owing = fc.array(fc.constantFrom(300_00, 100_00, 600_00), { maxLength: 3 });
    fc.assert(
      fc.property(paying, owing, fc.nat(), (given, amounts, seed) => {
        const lines = given.map(({ day, cents }, at) => line(at + 1, day, cents));
        const expected = amounts.map((cents, at) => expectedPayment(`e${at}`, cents));
        const terms = { plan: monthly, toleranceCents: 1n };
        const decided = outcomes(terms, lines, expected);
        expect(outcomes(terms, shuffle(lines, seed), shuffle(expected, seed))).toEqual(decided);
        for (const { expectedPaymentId: id, amountCents } of expected) {
          const parts = Object.values(decided).filter(
            (one) => Array.isArray(one) && one[0]?.startsWith(`${id} `),
          );
          expect(parts.length).toBeLessThanOrEqual(monthly.count);
          const paid = parts.flat().reduce((sum, one) => sum + Number(one?.split(' ')[1]), 0);
          expect(paid).toBeLessThanOrEqual(Number(amountCents) + monthly.count);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a net settlement', () => {
  const net = (changes: Partial<NetSettlement> = {}): Partial<MatchAction> => ({
    by: ['document', 'amount', 'window'],
    window: { daysBefore: 3, daysAfter: 3 },
    netSettlement: {
      groupBy: 'day',
      minFeeBasisPoints: 200n,
      maxFeeBasisPoints: 300n,
      minFeeCentsPerSale: 0n,
      maxFeeCentsPerSale: 0n,
      ...changes,
    },
  });
  const sale = (id: string, cents: number, dueDate = '2026-01-31', changes = {}) =>
    expectedPayment(id, cents, { dueDate, ...changes });

  it('matches one line with all sales of a day, each less its share of the fee', () => {
    const sales = [
      sale('a', 100_00),
      sale('b', 50_00),
      sale('c', 33_33),
      sale('d', 70_00, '2026-02-01'),
    ];
    const decisions = decideByRules([rule(net())], [line(1, '2026-01-31', 178_75)], sales);
    expect(decisions.get(1n)).toMatchObject({
      outcome: 'matched',
      payments: [
        { amountCents: 97_50n, owedCents: 97_50n, evidence: { fee: { cents: '250' } } },
        { amountCents: 48_75n, evidence: { fee: { cents: '125', lineCents: '458', sales: 3 } } },
        { amountCents: 32_50n, differenceCents: -83n },
      ],
    });
  });

  it('matches no part of a group, and no fee outside the bounds', () => {
    const sales = [sale('a', 100_00), sale('b', 50_00)];
    for (const cents of [97_50, 150_00, 147_01, 145_49])
      expect(outcomes(net(), [line(1, '2026-01-31', cents)], sales)).toEqual({ 1: 'nothing' });
    for (const cents of [147_00, 145_50])
      expect(outcomes(net(), [line(1, '2026-01-31', cents)], sales)).not.toEqual({ 1: 'nothing' });
  });

  it('settles no group with a payment whose amount is a range', () => {
    const range = { amountCents: null, accepted: { fromCents: 100_00n, toCents: 200_00n } };
    const sales = [sale('a', 100_00), sale('b', 100_00, '2026-01-31', range)];
    expect(outcomes(net(), [line(1, '2026-01-31', 195_00)], sales)).toEqual({ 1: 'nothing' });
  });

  it('is ambiguous between two days, and between two lines for one day', () => {
    const sales = [sale('a', 100_00), sale('b', 100_00, '2026-02-01')];
    expect(outcomes(net(), [line(1, '2026-01-31', 97_50)], sales)).toEqual({ 1: 'ambiguous' });
    const one = [sale('a', 100_00)];
    expect(
      outcomes(net(), [line(1, '2026-01-31', 97_50), line(2, '2026-02-01', 97_60)], one),
    ).toEqual({ 1: 'ambiguous', 2: 'ambiguous' });
  });

  it('settles all sales in the window as one group', () => {
    const sales = [sale('a', 100_00), sale('b', 100_00, '2026-02-01')];
    expect(outcomes(net({ groupBy: 'window' }), [line(1, '2026-01-31', 195_00)], sales)).toEqual({
      1: ['a 9750', 'b 9750'],
    });
  });

  it('settles the sales whose ids the notes contain', () => {
    const sales = [
      sale('a', 100_00, '2026-01-31', { referenceValues: ['VENDA-1'], counterpartyDocument: null }),
      sale('b', 50_00, '2026-05-31', { referenceValues: ['VENDA-2'], counterpartyDocument: null }),
      sale('c', 50_00, '2026-01-31', { referenceValues: ['VENDA-3'], counterpartyDocument: null }),
    ];
    const terms = { ...net({ groupBy: 'notes' }), by: ['notes', 'amount'] as const, window: null };
    const settled = line(1, '2026-01-31', 146_25, { notes: 'repasse VENDA-1, VENDA-2' });
    expect(outcomes(terms as never, [settled], sales)).toEqual({ 1: ['a 9750', 'b 4875'] });
  });

  it('leaves a line ambiguous that would settle more than a thousand sales', () => {
    const sales = Array.from({ length: 1_001 }, (_, at) => sale(`s${at}`, 1_00));
    expect(outcomes(net(), [line(1, '2026-01-31', 976_00)], sales)).toEqual({ 1: 'ambiguous' });
    expect(outcomes(net(), [line(1, '2026-01-31', 975_00)], sales.slice(1))).not.toEqual({
      1: 'ambiguous',
    });
  });

  it('does not take cancelled sales for a whole group', () => {
    const cancelledAt = new Date('2026-02-10T00:00:00Z');
    const sales = [sale('a', 100_00, '2026-01-31', { cancelledAt }), sale('b', 50_00)];
    expect(outcomes(net(), [line(1, '2026-01-31', 97_50)], sales)).toEqual({ 1: 'nothing' });
  });

  it('spreads each line to the cent, at least one cent and at most its amount on each sale', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(amounts, fc.nat({ max: 1_000 }), (cents, share) => {
        const total = cents.reduce((sum, one) => sum + one, 0);
        const paid = cents.length + Math.floor(((total - cents.length) * share) / 1_000);
        const parts = settledSales(
          line(1, '2026-01-31', paid),
          cents.map((one, at) => sale(`s${at}`, one)),
        );
        expect(parts.reduce((sum, { amountCents }) => sum + amountCents, 0n)).toBe(BigInt(paid));
        for (const { amountCents, feeCents, expected } of parts) {
          expect(amountCents > 0n && feeCents >= 0n).toBe(true);
          expect(amountCents + feeCents).toBe(expected.amountCents);
        }
      }),
    );
  });

  it('decides the same in any order, and matches no line and no sale twice', () => {
    const due = ['2026-01-30', '2026-01-31', '2026-02-01'].map((day) => addDays(day, 0));
    const sales = fc.array(
      fc.record({ cents: fc.constantFrom(50_00, 100_00), day: fc.constantFrom(...due) }),
      { maxLength: 6 },
    );
    const credits = fc.array(fc.constantFrom(48_75, 97_50, 146_25, 195_00), { maxLength: 4 });
    fc.assert(
      fc.property(sales, credits, fc.nat(), (owing, paying, seed) => {
        const expected = owing.map(({ cents, day }, at) => sale(`s${at}`, cents, day));
        const lines = paying.map((cents, at) => line(at + 1, '2026-01-31', cents));
        const decided = outcomes(net(), lines, expected);
        expect(outcomes(net(), shuffle(lines, seed), shuffle(expected, seed))).toEqual(decided);
        const ids = Object.values(decided).flatMap((one) =>
          Array.isArray(one) ? one.map((part) => part.split(' ')[0]) : [],
        );
        expect(new Set(ids).size).toBe(ids.length);
        for (const { nsu, amountCents } of lines) {
          const parts = decided[nsu.toString()];
          if (!Array.isArray(parts)) continue;
          const sum = parts.reduce((cents, part) => cents + Number(part.split(' ')[1]), 0);
          expect(BigInt(sum)).toBe(amountCents);
        }
      }),
      { numRuns: 300 },
    );
  });
});
