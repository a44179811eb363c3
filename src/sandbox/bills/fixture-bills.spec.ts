import { parseBankSlip } from '../../brazil/bank-slip.js';
import { parseUtilityBill } from '../../brazil/utility-bill.js';
import { fixtureBills } from './fixture-bills.js';

it('seeds bills whose bar code and digitable line agree on amount and due date', () => {
  const bills = fixtureBills('2026-11-21');
  for (const { type, barCode, digitableLine, amountCents, dueDate } of bills) {
    if (type === 'TAXES') {
      expect(parseUtilityBill(digitableLine)).toEqual(parseUtilityBill(barCode));
      expect(parseUtilityBill(barCode)).toMatchObject({ ok: true, bill: { amountCents } });
    } else {
      expect(parseBankSlip(digitableLine, dueDate)).toEqual(parseBankSlip(barCode, dueDate));
      expect(parseBankSlip(barCode, dueDate)).toMatchObject({
        ok: true,
        slip: { amountCents, dueDate },
      });
    }
  }
  expect(new Set(bills.map(({ barCode }) => barCode)).size).toBe(bills.length);
});
