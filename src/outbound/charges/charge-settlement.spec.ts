import { describe, expect, it } from '@jest/globals';
import { Settlement } from '../../generated/service/client.js';
import { chargeSettlement, type UnpaidCharge } from './charge-settlement.js';

const slip: UnpaidCharge = {
  dueDate: '2026-03-10',
  today: '2026-03-10',
  isCancelled: false,
  isExpired: false,
};

describe('chargeSettlement', () => {
  it.each<[Partial<UnpaidCharge>, string]>([
    [{}, 'open'],
    [{ dueDate: null }, 'open'],
    [{ today: '2026-03-11' }, 'expired'],
    [{ today: '2027-01-01', dueDate: '2026-12-31' }, 'expired'],
    [{ today: '2026-03-09' }, 'open'],
    [{ dueDate: '2026-03-07', today: '2026-03-09' }, 'open'],
    [{ dueDate: '2026-03-07', today: '2026-03-10' }, 'expired'],
    [{ isExpired: true }, 'expired'],
    [{ isCancelled: true }, 'cancelled'],
    [{ isCancelled: true, isExpired: true, today: '2026-03-11' }, 'cancelled'],
  ])('of an unpaid slip due on 10 March with %o is %s', (changes, settlement) => {
    for (const stored of [undefined, 'open', 'withdrawn'] as const)
      expect(chargeSettlement(stored, { ...slip, ...changes })).toBe(settlement);
  });

  it.each([Settlement.partially_settled, Settlement.settled, Settlement.overpaid])(
    'is the stored one once there is a payment: %s',
    (stored) => {
      const ended = { ...slip, today: '2099-12-31', isCancelled: true, isExpired: true };
      expect(chargeSettlement(stored, ended)).toBe(stored);
    },
  );

  it('is refunded when every payment was refunded', () =>
    expect(chargeSettlement('refunded', slip)).toBe('refunded'));
});
