import { expect, it } from '@jest/globals';
import { settlementNetOfRefunds } from './net-settlement.js';

const payment = (nsu: bigint, amountCents: bigint, refundedCents = 0n) => ({
  expectedPaymentId: 'a',
  nsu,
  amountCents,
  refundedCents,
});
const told = { nsu: 2n, expectedPaymentId: 'a', owedCents: 50n };

it.each([
  [
    'paid again after all went back',
    [payment(1n, 50n, 50n), payment(2n, 50n)],
    'overpaid',
    'settled',
  ],
  [
    'paid less after all went back',
    [payment(1n, 30n, 30n), payment(2n, 20n)],
    'settled',
    'partially_settled',
  ],
  [
    'paid too much, of which that much went back',
    [payment(1n, 60n, 10n), payment(2n, 0n)],
    'overpaid',
    'settled',
  ],
  [
    'paid twice, of which a part went back',
    [payment(1n, 50n, 10n), payment(2n, 50n)],
    'overpaid',
    'overpaid',
  ],
  ['paid in two parts', [payment(1n, 30n), payment(2n, 20n)], 'settled', 'settled'],
  ['paid once, and that went back', [payment(2n, 50n, 50n)], 'settled', 'settled'],
] as const)('what was %s is told by what was kept', (_, payments, decided, settlement) => {
  expect(settlementNetOfRefunds({ ...told, settlement: decided }, payments)).toBe(settlement);
});

it('payments of others count for nothing', () => {
  const others = [{ ...payment(1n, 50n, 50n), expectedPaymentId: 'b' }, payment(2n, 50n)];
  expect(settlementNetOfRefunds({ ...told, settlement: 'settled' }, others)).toBe('settled');
});
