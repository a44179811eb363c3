// One line of an acquirer or marketplace for many sales, less its fee. The sales are those of a
// group that a day, the window or the notes determine. No subset of a group is tried, because many
// subsets of many sales come to one amount.
import { saoPauloDay } from '../../brazil/statement-day.js';
import { dueDateAt } from '../../statement/expected-payments/due-dates.js';
import { groupBy } from '../../platform/grouping.js';
import { stillOwed, type NetSettlement, type RuleExpectedPayment, type RuleLine } from './rule.js';

/** What the match of a sale stores: its fee and that of all sales of the line, in cents. */
export interface FeeEvidence {
  cents: string;
  lineCents: string;
  sales: number;
}

/** The fee of a matched sale; null unless a net settlement matched it. */
export function feeCentsOf(evidence: object): bigint | null {
  const { fee } = evidence as { fee?: FeeEvidence };
  return fee === undefined ? null : BigInt(fee.cents);
}

/** A line that settles more sales than this is left ambiguous. */
export const maxSalesOfLine = 1_000;

interface Sale {
  expected: RuleExpectedPayment;
  cents: bigint;
}

/** The groups of sales that the line may settle in full, less a fee within the bounds. */
export function findSettledGroups(
  net: NetSettlement,
  line: RuleLine,
  candidates: readonly RuleExpectedPayment[],
): RuleExpectedPayment[][] {
  const sales = salesOf(line, candidates);
  const groups = groupBy(sales, ({ expected }) =>
    net.groupBy === 'day'
      ? (dueDateAt(expected, line.occurredAt) ?? saoPauloDay(expected.createdAt))
      : '',
  );
  return [...groups.values()]
    .filter((group) => isWithinBounds(net, line, group))
    .map((group) => group.map(({ expected }) => expected));
}

function salesOf(line: RuleLine, candidates: readonly RuleExpectedPayment[]): Sale[] {
  return candidates.flatMap((expected) => {
    const cents = expected.isMultiUse ? null : stillOwed(expected, { ...line, amountCents: 0n });
    return cents === null || cents <= 0n ? [] : [{ expected, cents }];
  });
}

function isWithinBounds(net: NetSettlement, line: RuleLine, sales: readonly Sale[]): boolean {
  // A declared range has no amount of which a fee could be a part.
  if (sales.some(({ expected }) => expected.amountCents === null)) return false;
  const fee = totalOf(sales) - line.amountCents;
  let [least, most] = [0n, 0n];
  for (const { cents } of sales) {
    // An acquirer rounds the fee of each sale.
    least += net.minFeeCentsPerSale + (cents * net.minFeeBasisPoints) / 10_000n;
    most += net.maxFeeCentsPerSale + (cents * net.maxFeeBasisPoints + 9_999n) / 10_000n;
  }
  // Each sale is paid by at least a cent of the line.
  return fee >= least && fee <= most && line.amountCents >= BigInt(sales.length);
}

export interface SettledSale {
  expected: RuleExpectedPayment;
  /** The part of the line. With the fee it is the amount owed for the sale. */
  amountCents: bigint;
  feeCents: bigint;
}

/** Spreads the line and its fee over the sales of a group, in proportion to what each owes. */
export function settledSales(line: RuleLine, group: readonly RuleExpectedPayment[]): SettledSale[] {
  const sales = salesOf(line, group);
  const shares = spread(
    line.amountCents,
    sales.map(({ cents }) => cents),
  );
  return sales.map(({ expected, cents }, index) => {
    const amountCents = shares[index] ?? 0n;
    return { expected, amountCents, feeCents: cents - amountCents };
  });
}

/**
 * `cents` by the largest remainders, in proportion to the weights, at least one cent each. `cents`
 * is at least the number of the weights, and at most their sum.
 */
function spread(cents: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  const shares = weights.map((weight, index) => {
    const exact = weight * cents;
    const share = exact / total;
    return { index, share: share > 0n ? share : 1n, remainder: share > 0n ? exact % total : 0n };
  });
  let left = cents - shares.reduce((sum, { share }) => sum + share, 0n);
  const byRemainder = [...shares].sort(
    (a, b) =>
      Number(b.remainder > a.remainder) - Number(b.remainder < a.remainder) || a.index - b.index,
  );
  for (let at = 0; left > 0n; at += 1, left -= 1n) {
    const next = byRemainder[at % byRemainder.length];
    if (next) next.share += 1n;
  }
  // The single cents of the smallest shares may have taken more than there is.
  const byShare = [...shares].sort((a, b) => Number(b.share - a.share) || a.index - b.index);
  while (left < 0n)
    for (const larger of byShare.filter(({ share }) => share > 1n)) {
      if (left === 0n) break;
      larger.share -= 1n;
      left += 1n;
    }
  return shares.map(({ share }) => share);
}

function totalOf(sales: readonly Sale[]): bigint {
  return sales.reduce((sum, { cents }) => sum + cents, 0n);
}
