import { adjustmentsOf, readAdjustments, writeAdjustments } from './charge-terms.js';
import type { ChargeRequest } from './charges.js';

it('reads back exactly what it wrote, beyond what a float holds', () => {
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
  expect(readAdjustments(writeAdjustments(adjustments))).toEqual(adjustments);
});

it('reads a charge without adjustments as one that has none', () => {
  expect(readAdjustments(null)).toEqual({ discounts: [], fine: null, interest: null });
});
