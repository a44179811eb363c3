import { expect, it } from '@jest/globals';
import { compareBalances, type ReportedBalances } from './live-balance.js';

it.each<[string, ReportedBalances, bigint, bigint]>([
  ['a total', { amountAvailable: 70n, amountBlocked: 30n, amountTotal: 100n }, 100n, 0n],
  ['available and blocked amounts', { amountAvailable: 70n, amountBlocked: 30n }, 100n, 0n],
  ['more than the last line', { amountAvailable: 110n, amountBlocked: 0n }, 110n, 10n],
  ['less than the last line', { amountAvailable: 90n, amountBlocked: 0n }, 90n, -10n],
  ['only a lower available amount, as if part is blocked', { amountAvailable: 90n }, 90n, 0n],
  ['only a higher available amount than was booked', { amountAvailable: 101n }, 101n, 1n],
])('compares the last line with a bank that reports %s', (_, reported, liveCents, difference) => {
  expect(compareBalances(reported, 100n)).toEqual({ liveCents, differenceCents: difference });
});
