import { adjustmentsOf, parseAdjustments, serializeAdjustments } from './charge-terms.js';
import type { ChargeRequest } from './charges.js';

it('parses exactly what it serialized, also numbers that a float cannot hold', () => {
  const request = {
    discount: { type: 'Fixed', items: [{ date: '2026-12-01', amount: 9_007_199_254_740_993n }] },
    lateFine: { type: 'PERCENTAGE', date: '2026-12-02', amount: 200n },
    latePayment: null,
  } as unknown as ChargeRequest;
  const adjustments = adjustmentsOf(request);
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
    latePayment: { type: 'fixed', date: '2026-12-02', amount: 3n },
  } as unknown as ChargeRequest;
  expect(adjustmentsOf(request)).toEqual({
    discounts: [],
    fine: null,
    interest: { isPercentage: false, date: '2026-12-02', amount: 3n },
  });
});

it('parses null as no adjustments', () => {
  expect(parseAdjustments(null)).toEqual({ discounts: [], fine: null, interest: null });
});
