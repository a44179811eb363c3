// The words of outcomes: settlements of reversals, categories, and the subjects of breaks.

export interface ReferenceEvidence {
  referenceKind: string;
  referenceValue: string;
}

/** Settlement of a credit that was refunded, and of a debit that was reversed. */
export const reversalSettlements = [
  'refunded',
  'partially_refunded',
  'reversed',
  'partially_reversed',
] as const;
export type ReversalSettlement = (typeof reversalSettlements)[number];

/** `isFull`: nothing is left of what was paid. */
export function reversalSettlement(payment: {
  isCredit: boolean;
  isFull: boolean;
}): ReversalSettlement {
  const { isCredit, isFull } = payment;
  if (isCredit) return isFull ? 'refunded' : 'partially_refunded';
  return isFull ? 'reversed' : 'partially_reversed';
}

/** Why a line needs no match. */
export const categories = [
  'before_go_live',
  'fee',
  'tariff',
  'own_account_transfer',
  'ignored',
  'accepted',
  'refunded',
] as const;
export type Category = (typeof categories)[number];

/** A version of a rule of the account's own. */
export interface DeclaredRule {
  ruleId: string;
  version: number;
}

// The subject of a break: a break is unique by (account, kind, subject).
export function subjectOfLine(nsu: bigint): string {
  return `nsu:${nsu}`;
}

export function subjectOfExpected(expectedPaymentId: string): string {
  return `expected_payment:${expectedPaymentId}`;
}

export function subjectOfOperation(operationId: string): string {
  return `operation:${operationId}`;
}

export function subjectOfBill(operationId: string): string {
  return `bill_payment:${operationId}`;
}

/** A line that arrived late: its day already had a certificate. */
export function subjectOfLate(date: string, nsu: bigint): string {
  return `day:${date}/${nsu}`;
}
