import { expect, it } from '@jest/globals';
import { differenceOf, type ReportedBalances } from './live-balance.js';

it.each<[string, ReportedBalances, bigint, bigint]>([
  ['all of it', { amountAvailable: 70n, amountBlocked: 30n, amountTotal: 100n }, 100n, 0n],
  ['what is held beside the rest', { amountAvailable: 70n, amountBlocked: 30n }, 100n, 0n],
  ['more than the last line', { amountAvailable: 110n, amountBlocked: 0n }, 110n, 10n],
  ['less than the last line', { amountAvailable: 90n, amountBlocked: 0n }, 90n, -10n],
  ['less that can be used, perhaps because some is held', { amountAvailable: 90n }, 90n, 0n],
  ['more that can be used than was booked', { amountAvailable: 101n }, 101n, 1n],
])('the bank tells %s', (_, told, liveCents, differenceCents) => {
  expect(differenceOf(told, 100n)).toEqual({ liveCents, differenceCents });
});
