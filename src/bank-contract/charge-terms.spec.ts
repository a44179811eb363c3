import { adjustmentsOf, parseAdjustments, serializeAdjustments } from './charge-terms.js';
import { addDays } from '../brazil/calendar.js';
import { amountOwed } from '../brazil/amount-owed.js';
import { parseJson } from '../platform/json/exact-json.js';
import { chargeRequest, type ChargeRequest } from './charges.js';

it('parses exactly what it serialized, also numbers that a float cannot hold', () => {
  const request = {
    discount: {
      type: 'Fixed',
      items: [{ date: '2026-12-01', amount: 90_071_992_547_409_930_000n }],
    },
    lateFine: { type: 'PERCENTAGE', date: '2026-12-02', amount: 200n },
    latePayment: null,
  } as unknown as ChargeRequest;
  const adjustments = adjustmentsOf(request, 'day');
  expect(adjustments).toEqual({
    discounts: [{ isPercentage: false, date: '2026-12-01', amount: 9_007_199_254_740_993n }],
    fine: { isPercentage: true, date: '2026-12-02', amount: 200n },
    interest: null,
  });
  expect(parseAdjustments(serializeAdjustments(adjustments))).toEqual(adjustments);
});

it('leaves out an adjustment whose type only the bank knows', () => {
  const request = {
    discount: { type: 'PerBusinessDay', items: [{ date: '2026-12-01', amount: 1n }] },
    lateFine: { type: 'Tiered', date: '2026-12-02', amount: 200n },
    latePayment: { type: 'fixed', date: '2026-12-02', amount: 30_000n },
  } as unknown as ChargeRequest;
  expect(adjustmentsOf(request, 'day')).toEqual({
    discounts: [],
    fine: null,
    interest: { isPercentage: false, date: '2026-12-02', amount: 3n },
  });
});

it('parses null as no adjustments', () => {
  expect(parseAdjustments(null)).toEqual({ discounts: [], fine: null, interest: null });
});

it.each([
  ['day', 10_165n],
  ['month', 10_006n],
] as const)('reads a percentage of three decimals exactly, per %s', (period, owed) => {
  const request = chargeRequest.decode(
    parseJson(`{"type":"BANKSLIP_PIX","correlationId":"c","dueDate":"2026-11-30","Amount":100,
      "payer":{"name":"Ana","document":"52998224725"},
      "latePayment":{"type":"PERCENTAGE","date":"2026-12-01","amount":0.033}}`) as never,
  );
  const terms = parseAdjustments(serializeAdjustments(adjustmentsOf(request, period)));
  expect(terms.interest?.amount).toBe(33_000n);
  const day = addDays('2026-11-30', 50);
  expect(amountOwed({ amountCents: 100_00n, dueDate: '2026-11-30', ...terms }, day)).toBe(owed);
  expect(JSON.stringify(chargeRequest.encode(request).latePayment)).toContain('0.033');
});

it.each([
  ['"Fixed"', '0.033', 'latePayment'],
  ['"Percentage"', '0.0000001', 'latePayment'],
  ['"Percentage"', '-1', 'latePayment'],
])('rejects an amount of %s %s', (type, amount, field) => {
  const parsed = chargeRequest.safeDecode(
    parseJson(`{"type":"BANKSLIP_PIX","correlationId":"c","dueDate":"2026-11-30","Amount":100,
      "payer":{"name":"Ana","document":"52998224725"},
      "latePayment":{"type":${type},"date":"2026-12-01","amount":${amount}}}`) as never,
  );
  expect(parsed.error?.issues[0]?.path[0]).toBe(field);
});
