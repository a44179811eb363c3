// Facts about an expected payment after it was recorded. A later fact may contradict an earlier
// one; both stay.

/** Why no payment is expected any more. */
export const withdrawalKinds = [
  /** The bank rejected the operation. */
  'rejected',
  /** The bank reported that the payment, or this item of a batch, failed. */
  'failed',
  /** The statement proves that the operation, or this item of a batch, was not executed. */
  'absence_proven',
  /** A person accepted that a refund which the bank took will not be debited. */
  'given_up',
  /** The system that declared the payment does not expect it any more. */
  'cancelled',
] as const;
export type WithdrawalKind = (typeof withdrawalKinds)[number];

/** Why a withdrawn payment is expected again. */
export const reinstatementKinds = [
  /** The statement shows the payment, or another payment of its operation, after all. */
  'absence_revoked',
  /** A person took the withdrawal back. */
  'expected_again',
] as const;
export type ReinstatementKind = (typeof reinstatementKinds)[number];
