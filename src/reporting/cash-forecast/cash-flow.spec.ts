import { describe, expect, it } from '@jest/globals';
import { serializeAdjustments } from '../../bank-contract/charge-terms.js';
import { cashFlowOf, type OpenGroup, type SettledGroup, type StatementDay } from './cash-flow.js';

// A Monday; 2026-04-21, a Tuesday, is a holiday.
const today = '2026-04-13';
const group = (change: Partial<OpenGroup>): OpenGroup => ({
  ...{
    day: today,
    isCredit: true,
    chargeType: null,
    terms: null,
    dueDate: null,
    amountCents: null,
  },
  ...{ count: 1, withAmount: 1, totalCents: 1_000n },
  ...change,
});
const line = (change: Partial<StatementDay>): StatementDay => ({
  ...{ day: today, isCredit: true, totalCents: 0n, matchedCents: 0n, undatedCents: 0n },
  ...change,
});
const came = (day: string, cameOn: string, totalCents: bigint): SettledGroup => ({
  ...{ day, cameOn, totalCents, isCredit: true, chargeType: null, count: 1 },
});
const flow = (
  period: { from: string; to: string },
  facts: { open?: OpenGroup[]; settled?: SettledGroup[]; statement?: StatementDay[] },
) =>
  cashFlowOf(period, {
    today,
    creditDays: { slip: 2, pix: 0, other: 1 },
    openingCents: 5_000n,
    open: [],
    settled: [],
    statement: [],
    ...facts,
  });

describe('a cash flow', () => {
  it('projects each closing balance from the one before, what came today and what is expected', () => {
    const { days } = flow(
      { from: '2026-04-12', to: '2026-04-14' },
      {
        open: [group({ totalCents: 300n }), group({ day: '2026-04-14', isCredit: false })],
        statement: [
          line({ day: '2026-04-12', totalCents: 700n, matchedCents: 200n }),
          line({ isCredit: false, totalCents: 50n, matchedCents: 50n, undatedCents: 50n }),
        ],
      },
    );
    expect(days.map((day) => [day.openingBalance, day.closingBalance, day.isProjected])).toEqual([
      [5_000n, 5_700n, false],
      [5_700n, 5_950n, true],
      [5_950n, 4_950n, true],
    ]);
    expect(days[0]).toMatchObject({ unexpectedIn: 500n, unexpectedOut: 0n });
    expect(days[1]?.settledOut).toEqual({ onTime: 50n, late: 0n, early: 0n });
    expect(days[2]?.statement).toBeNull();
  });

  it('begins with what is expected from today on, where its first day is later', () => {
    const { days } = flow({ from: '2026-04-15', to: '2026-04-15' }, { open: [group({})] });
    expect(days).toHaveLength(1);
    expect(days[0]).toMatchObject({ openingBalance: 6_000n, closingBalance: 6_000n });
  });

  it('counts a credit on the next business day as on time, and a later one as late', () => {
    const monday = '2026-04-20';
    const { days } = flow(
      { from: monday, to: monday },
      {
        settled: [
          came(monday, '2026-04-19', 1n),
          came(monday, monday, 10n),
          // Tuesday is a holiday.
          came(monday, '2026-04-22', 100n),
          came(monday, '2026-04-23', 1_000n),
        ],
      },
    );
    expect(days[0]?.settledIn).toEqual({ early: 1n, onTime: 110n, late: 1_000n });
  });

  it('counts what is owed on the day, and on today what is overdue', () => {
    const dueDate = '2026-04-10';
    const terms = serializeAdjustments({
      discounts: [],
      fine: { isPercentage: false, date: '2026-04-11', amount: 200n },
      interest: null,
    });
    const late = group({ day: dueDate, dueDate, terms, amountCents: 1_000n, count: 2 });
    const { overdue, undated, days } = flow(
      { from: dueDate, to: '2026-04-14' },
      {
        open: [
          { ...late, withAmount: 2 },
          group({ day: '2026-04-14', dueDate: '2026-04-14', terms, amountCents: 1_000n }),
          group({ day: null, count: 3, withAmount: 1 }),
        ],
      },
    );
    expect(overdue).toEqual({ in: 2_400n, out: 0n, count: 2, withoutAmount: 0 });
    expect(undated).toEqual({ in: 1_000n, out: 0n, count: 3, withoutAmount: 2 });
    expect(days[0]).toMatchObject({ expectedIn: 2_400n, closingBalance: 5_000n });
  });

  it('expects a charge on its credit day, and counts it as overdue only after that', () => {
    const charge = { chargeType: 'BANKSLIP', totalCents: 100n };
    const { days, overdue } = flow(
      { from: '2026-04-09', to: '2026-04-17' },
      {
        open: [
          group({ ...charge, day: '2026-04-15' }),
          group({ ...charge, day: '2026-04-10' }),
          group({ ...charge, day: '2026-04-07' }),
          group({ ...charge, day: '2026-04-16', chargeType: 'BANKSLIP_PIX' }),
        ],
        settled: [{ ...came('2026-04-08', '2026-04-10', 40n), chargeType: 'BANKSLIP' }],
      },
    );
    const expected = days.filter(({ expectedIn }) => expectedIn > 0n);
    // Two business days later; the last one was over on the 9th.
    expect(expected.map(({ date }) => date)).toEqual([
      '2026-04-09',
      '2026-04-14',
      '2026-04-16',
      '2026-04-17',
    ]);
    expect(overdue).toMatchObject({ in: 100n, count: 1 });
    expect(days.find(({ date }) => date === '2026-04-10')?.settledIn.onTime).toBe(40n);
  });
});
