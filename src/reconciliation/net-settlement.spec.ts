import { expect, it } from '@jest/globals';
import { settlementNetOfRefunds } from './net-settlement.js';

const payment = (nsu: bigint, amountCents: bigint, refundedCents = 0n) => ({
  expectedPaymentId: 'a',
  nsu,
  amountCents,
  refundedCents,
});
const decided = { nsu: 2n, expectedPaymentId: 'a', owedCents: 50n };

it.each([
  [
    'paid again after a full refund',
    [payment(1n, 50n, 50n), payment(2n, 50n)],
    'overpaid',
    'settled',
  ],
  [
    'paid less after a full refund',
    [payment(1n, 30n, 30n), payment(2n, 20n)],
    'settled',
    'partially_settled',
  ],
  [
    'overpaid with the excess refunded',
    [payment(1n, 60n, 10n), payment(2n, 0n)],
    'overpaid',
    'settled',
  ],
  [
    'paid twice with a partial refund',
    [payment(1n, 50n, 10n), payment(2n, 50n)],
    'overpaid',
    'overpaid',
  ],
  ['paid in two parts', [payment(1n, 30n), payment(2n, 20n)], 'settled', 'settled'],
  ['paid once and refunded', [payment(2n, 50n, 50n)], 'settled', 'settled'],
] as const)('reports the settlement of a charge %s', (_, payments, gross, settlement) => {
  expect(settlementNetOfRefunds({ ...decided, settlement: gross }, payments)).toBe(settlement);
});

it('ignores payments of other expected payments', () => {
  const others = [{ ...payment(1n, 50n, 50n), expectedPaymentId: 'b' }, payment(2n, 50n)];
  expect(settlementNetOfRefunds({ ...decided, settlement: 'settled' }, others)).toBe('settled');
});
